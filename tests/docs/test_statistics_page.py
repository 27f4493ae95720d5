"""The figures on statistics and error rates are those that the harness counted, and those that the code gives."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

from benchgate.statistics import (
    Goal,
    paired_detectable,
    unseen_failure_ucb,
    welch_detectable,
)

ROOT = Path(__file__).parents[2]
EXPLANATION = ROOT / "docs" / "explanation"
PROMISES = (EXPLANATION / "statistics.md").read_text("utf-8")
ASSUMPTIONS = (EXPLANATION / "assumptions.md").read_text("utf-8")
RATES = (EXPLANATION / "error-rates.md").read_text("utf-8")
BENCHMARKS = ROOT / "benchmarks" / "calibration"
LONG_TABLES = (BENCHMARKS / "tables.md").read_text("utf-8")
RESULTS = json.loads((BENCHMARKS / "calibration.json").read_text("utf-8"))
ROWS = RESULTS["rows"]
OURS = {"welch", "auto", "exact"}
FURTHER_KINDS = [
    "clusters",
    "noise",
    "identical",
    "margin",
    "enumerated",
    "planned pairs",
    "planned samples",
    "planned scores",
    "planned clusters",
    "planned cases",
    "safety",
]
SERIES_KINDS = ["looks", "looks power", "forecast", "named cases", "climb"]
"""Rows whose repetitions are series of comparisons, or loops."""


@pytest.fixture
def harness(monkeypatch):
    """Import a module of the harness by its name, as its script does."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def share(count, what="error", digits=1):
    return f"{100 * count / RESULTS['repetitions'][what]:.{digits}f}"


def promoted(column, what="error", scenario="", n=None):
    """Return how often a column promoted in each row that is meant."""
    return [
        row["promoted"][column]
        for row in ROWS
        if row["what"] == what
        and row["scenario"].startswith(scenario)
        and n in {None, row["n"]}
        and column in row["promoted"]
    ]


def only(what, n):
    return next(row for row in ROWS if row["what"] == what and row["n"] == n)


def test_the_tables_are_those_of_the_results(harness):
    pages = [RATES, LONG_TABLES]
    assert harness("calibration_tables").put_into(pages, RESULTS) == pages


@pytest.mark.slow
def test_the_harness_counts_what_it_counted(harness):
    calibration = harness("calibration")
    assert RESULTS["repetitions"] == calibration.REPETITIONS
    assert RESULTS["seed"] == calibration.SEED
    made = [
        calibration.compared(scenario, 5, "power")
        for scenario in calibration.SCENARIOS
        if 5 in scenario.sizes
    ]
    assert made == [row for row in ROWS if row["what"] == "power" and row["n"] == 5]


def test_every_row_that_is_asked_for_is_there(harness):
    scenarios = harness("scenarios")
    wanted = [
        (scenario.name, what, n)
        for scenario in scenarios.SCENARIOS
        for what in ("error", "power")
        for n in scenario.sizes
    ]
    rows = [row for row in ROWS if row["what"] in {"error", "power"}]
    assert [(row["scenario"], row["what"], row["n"]) for row in rows] == wanted
    laws = [(law.name, n) for law in scenarios.LAWS for n in (10, 30, 100, 500)]
    assert [(row["law"], row["n"]) for row in ROWS if "law" in row] == laws


@pytest.mark.parametrize("kind", FURTHER_KINDS)
def test_every_further_row_is_there_and_the_harness_can_measure_it(harness, monkeypatch, kind):
    further_rows, further_tables = harness("further_rows"), harness("further_tables")
    wanted = len(further_rows.FURTHER[kind][1])
    kept = [row for row in ROWS if row["what"] == kind]
    assert len(kept) == wanted
    monkeypatch.setattr(further_rows, "REPETITIONS", 10)
    monkeypatch.setattr(further_rows, "PILOTS", 10)
    made = further_rows.further(kind, 0)
    assert made.keys() == kept[0].keys()
    if "repetitions" in made:
        assert kept[0]["repetitions"] >= (300 if kind == "planned cases" else 2000)
        assert all(count <= 10 for count in made.get("promoted", {}).values())
    else:
        exact = next(name for name in ("found", "passed", "size") if name in made)
        assert made[exact] == pytest.approx(kept[0][exact])
    results = {"repetitions": {"error": 10}, "rows": [made]}
    assert [table.count("\n") > 1 for table in further_tables.further_tables(results)]
    assert any("measured" not in line for line in further_tables.bars(results)) or kind == "safety"


def test_the_harness_knows_no_other_kinds(harness):
    found = [kind for kind in harness("further_rows").FURTHER if kind not in SERIES_KINDS]
    assert found == FURTHER_KINDS


@pytest.mark.parametrize("kind", SERIES_KINDS)
def test_every_series_is_there_and_the_harness_can_measure_one(harness, monkeypatch, kind):
    further_rows, looks_rows = harness("further_rows"), harness("looks_rows")
    kept = [row for row in ROWS if row["what"] == kind]
    assert len(kept) == len(further_rows.FURTHER[kind][1])
    for name, few in (("SERIES", 2), ("RUNS", 2), ("STEPS", 3), ("PLANNED", 2)):
        monkeypatch.setattr(looks_rows, name, few)
    made = further_rows.further(kind, 0)
    assert made.keys() == kept[0].keys()
    assert made["repetitions"] == 2
    assert all(row["repetitions"] >= (40 if kind == "climb" else 400) for row in kept)
    tables = list(harness("looks_tables").looks_tables({"rows": kept}))
    assert [table for table in tables if table in RATES + LONG_TABLES] == tables


def test_a_bar_is_broken_only_where_the_whole_interval_is_above_it(harness):
    bars = harness("further_tables").bars

    def verdict(count):
        row = {
            "what": "margin",
            "scenario": "s",
            "n": 5,
            "passed": {"at the margin": count},
            "repetitions": 2000,
        }
        (line,) = (x for x in bars({"repetitions": {"error": 1}, "rows": [row]}) if "margin" in x)
        return line

    assert verdict(60).endswith("within the bar")
    assert verdict(70).endswith("over the bar")
    assert "3.5 (2.7-4.4) %" in verdict(70)


def sentences():
    """Yield what the pages say, with the figures of the results."""
    flat = [share(max(promoted(rule, scenario="epochs"))) for rule in ("z", "raw Welch", "BCa")]
    ours = share(max(count for rule in OURS for count in promoted(rule, scenario="epochs")))
    yield f"promote up to {flat[0]} %, {flat[1]} % and {flat[2]} % of useless candidates"
    yield f"which takes the mean of each case, at most {ours} %."
    rare = [share(*promoted("welch", scenario="pair rare", n=n)) for n in (10, 30, 100)]
    yield f"{rare[0]} % of the runs with 10 cases, {rare[1]} % with 30 and {rare[2]} % with 100"
    found = {
        (rule, name): share(*promoted(rule, "power", name, 100), "power", 0)
        for rule in ("auto", "welch")
        for name in ("pair bern p=0.8 ", "pair bern p=0.95 ", "pair beta")
    }
    yield (
        f"at 100 cases `auto` finds {found['auto', 'pair bern p=0.8 ']} % where `welch` finds "
        f"{found['welch', 'pair bern p=0.8 ']} % (`pair bern p=0.8`), and {found['auto', 'pair beta']} % "
        f"where it finds {found['welch', 'pair beta']} % (`pair beta skew`)."
    )
    high = found["auto", "pair bern p=0.95 "], found["welch", "pair bern p=0.95 "]
    yield f"at `p=0.95` it is {high[0]} % against {high[1]} %."
    yield f"passes Welch's test in {share(only('attempts', 100)['passed'])} % of simulations"
    picked = {
        row["runs"]: share(row["passed"] / row["number"]) for row in ROWS if row["what"] == "picked"
    }
    yield f"of the same system, {picked[5]} % of such candidates pass, not {picked[1]} %."
    common = [
        count
        for row in ROWS
        if row["what"] == "error" and row["scenario"] != "pair rare break"
        for rule, count in row["promoted"].items()
        if rule in OURS
    ]
    yield f"Every row of `welch`, `auto` and `exact` is at most {share(max(common))} %, except"
    rejected = sorted(
        100 * count / row.get("repetitions", RESULTS["repetitions"]["error"])
        for row in ROWS
        if row["what"] in {"error", "identical", "noise"}
        for count in row["rejected"].values()
    )
    yield f"at most {rejected[-2]:.1f} % are rejected, but for one row"
    yield f"four times as large, it is {rejected[-1]:.1f} %"


@pytest.mark.parametrize("sentence", list(sentences()))
def test_a_sentence_has_the_figures_of_the_results(sentence):
    assert sentence in PROMISES + ASSUMPTIONS + RATES


def test_claims_without_a_figure_follow_from_the_results():
    for what in ("error", "power"):
        for n in (5, 10, 30, 100):  # up to 300 the exact test of pass and fail decides
            exact, auto = (promoted(rule, what, "pair bern", n) for rule in ("exact", "auto"))
            assert exact == auto
    covered = [row["covered"] for row in ROWS if row["what"] == "coverage"]
    assert all(
        bounds["Gaffke"] == bounds["Clopper-Pearson"]
        for bounds in covered
        if "Clopper-Pearson" in bounds
    )
    # Two standard errors of a simulation of 4000 at 95 %.
    assert all(bounds["Gaffke"] >= 0.943 * 4000 for bounds in covered)
    assert all(count <= 0.05 * RESULTS["repetitions"]["error"] for count in promoted("exact"))


def size_row(n):
    """The row of the page for a number of cases."""
    goal = Goal(target=0.1)
    half = [1.0] * (n // 2) + [0.0] * (n // 2)
    changed = [1.0] * (n // 10) + [-1.0] * (n // 10) + [0.0] * (n - n // 5)
    unpaired = welch_detectable(half, half, goal, score_range=(0.0, 1.0)).effect
    paired = paired_detectable(changed, goal, width=1.0, exact=True).effect
    return f"| {n} | {unpaired:.2f} | {paired:.2f} | {100 * unseen_failure_ucb(n):.1f} % |"


def test_the_table_of_sizes_has_the_figures_of_the_code():
    rows = re.findall(r"^\| \d+ \| 0\.\d\d \| 0\.\d\d \| .*$", PROMISES, re.MULTILINE)
    assert rows == [size_row(n) for n in (10, 20, 30, 50, 100, 200, 500)]


def test_the_numbers_of_cases_for_a_gain_are_those_of_the_code():
    half, changed = [1.0, 0.0] * 25, [1.0, -1.0] * 5 + [0.0] * 40
    sizes = [
        (
            welch_detectable(half, half, Goal(target=gain), score_range=(0.0, 1.0)).cases,
            paired_detectable(changed, Goal(target=gain), width=1.0, exact=True).cases,
        )
        for gain in (0.10, 0.05)
    ]
    (welch, paired), (welch_half, paired_half) = sizes
    text = f"you need {welch} cases on each side, or {paired} pairs"
    assert f"To find a gain of 0.10 {text}" in PROMISES
    assert f"for 0.05 you need {welch_half}, or {paired_half}." in PROMISES


def test_every_table_of_the_calibration_names_its_command(harness):
    _, _, measured = RATES.partition("## What calibration.py measures")
    sections = measured.partition("\n## ")[0].split("\n### ")[1:]
    sections += LONG_TABLES.partition("\n## Where symmetry")[0].split("\n## ")[1:]
    assert len(sections) > 8
    known = harness("calibration").KINDS
    for section in sections:
        named = re.findall(r"--only \"?([a-z ]+[a-z])", section)
        assert named, section.splitlines()[0]
        assert set(named) <= set(known)


@pytest.mark.parametrize(
    ("name", "gain"),
    [
        ("exponential left tail", True),
        ("partial credit", True),
        ("90 % unchanged", False),
        ("+.25, 0, -.75", True),
        ("10 clusters of 5", True),
        ("samples, beta .1: wide", True),
    ],
)
def test_the_rule_of_the_table_on_skew_is_that_of_the_gate(harness, name, gain):
    skew, further = harness("skew"), harness("further_scenarios")
    scenario = next(s for s in (*further.SKEWED, *further.CLUSTERS) if s.name.startswith(name))
    labels = further.cluster_labels(50) if scenario in further.CLUSTERS else None
    sides = skew.sides_of(scenario, scenario.sizes[0], gain * scenario.gain, 60)
    _, now = skew.both(scenario, sides, labels, harness("numpy").random.default_rng(1))
    made = skew.asked(scenario, sides, labels, slice(None))
    assert [one.figures.significance.passed for one in made] == now.tolist()
    assert 0 < now.sum() < 60
