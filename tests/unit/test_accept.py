"""The gate as a function: it decides as the commands and as a run do, and counts its looks in a ledger."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchgate import (
    ArtifactError,
    EvalError,
    LookLedger,
    PolicyError,
    accept,
    run_eval,
)
from benchgate.cli import main
from benchgate.gates.policy import make_policy
from benchgate.looks.accept import KnownBy, looked_at_arms, samples_of
from benchgate.runner.run import RunSettings, run_class
from benchgate.wire import clock

PREFIX = "checkpoint_promotion_blocked_"


def side(seed, gain=0.0, n=20):
    draw = random.Random(seed)  # noqa: S311
    return {f"c{number:02}": 0.3 + gain + 0.1 * draw.random() for number in range(n)}


BEFORE = side(0)
CASE = """\
[case]
case_id = "{case_id}"
task_class = "level"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = {today}T00:00:00Z
last_validated_at = {today}T00:00:00Z
"""
RUBRIC = """\
from benchgate import BenchScore
class Level:
    def score(self, case, output, /):
        value = output["value"]
        harm = ["harm"] if output.get("harm") else []
        return BenchScore(passed=value > 0.5, score=value, safety_penalty=0.0, failure_modes=harm)
"""
REGISTRATION = """\
from benchgate import register_task_class
from .rubric import Level
def weak(case): return {"value": 0.1 + int(case.case_id) / 100}
def good(case): return {"value": 0.9 + int(case.case_id) / 1000}
def harmful(case): return {**good(case), "harm": case.case_id == "03"}
def crashing(case): return {"value": 0.9 / (0 if case.case_id == "03" else 1)}
systems = {"weak": weak, "good": good, "harmful": harmful, "crashing": crashing}
register_task_class("level", systems=systems, default_system="good")(Level)
"""
MODES = '[failure_modes.harm]\nseverity = "block"\ndescription = "Harm was done."\n'


@pytest.fixture
def leveled(tmp_path):
    """Run a system of a class of twelve cases; return the report of its pinned baseline, and the run."""
    folder = tmp_path / "bench" / "level"
    for number in range(1, 13):
        path = folder / "cases" / f"{number:02}"
        (path / "input").mkdir(parents=True)
        (path / "case.toml").write_text(
            CASE.format(case_id=path.name, today=f"{clock.now():%Y-%m-%d}")
        )
    files = {
        "rubric.py": RUBRIC,
        "registration.py": REGISTRATION,
        "failure_modes.toml": MODES,
        "gate.toml": 'test = "auto"',
    }
    for name, text in files.items():
        (folder / name).write_text(text)

    def run(system, baseline="auto", out="out"):
        return run_class(
            RunSettings(
                task_class="level",
                system=system,
                baseline=baseline,
                out=tmp_path / out,
                bench_root=folder.parent,
            )
        )

    pinned = run("weak", "none", "pinned")
    shutil.copy(pinned.published.folder / "record.json", folder / "baseline.json")
    return lambda system: (pinned.judgement.report, run(system))


@pytest.fixture
def ledger(tmp_path):
    return LookLedger(tmp_path / "looks.jsonl")


def look(before, after, ledger, incumbent="v1"):
    """Return the number of a look at samples."""
    return accept(before, after, ledger=ledger, incumbent=incumbent).look.number


def write(path, content):
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("gain", "options", "named"),
    [
        *((gain, {}, True) for gain in (0.0, 0.02, 0.4, -0.3)),
        *((gain, {"test": "auto"}, gain < 0) for gain in (0.02, 0.4, -0.3)),
        *((gain, {"claim": "no_regression", "tolerance": 0.3}, gain > 0) for gain in (0.4, -0.3)),
        (0.0, {}, False),
    ],
)
def test_samples_are_decided_as_by_the_command(tmp_path, gain, options, named):
    sides = [BEFORE, side(1, gain)]
    if not named:
        sides = [list(values.values()) for values in sides]
    paths = [write(tmp_path / f"{number}.json", values) for number, values in enumerate(sides)]
    given = [
        f"--{name}-samples={path}"
        for name, path in zip(("baseline", "trained"), paths, strict=True)
    ]
    given += [f"--policy={key}={value}" for key, value in options.items()]
    main(["proof", *given, "--run-id=r", f"--out={tmp_path}/proof"])
    proof = json.loads((tmp_path / "proof" / "proof.json").read_bytes())
    decision = accept(*sides, policy=options)
    reasons = [
        code
        for code in (proof["failure_analysis"] or {"reasons": []})["reasons"]
        if code.startswith(PREFIX)
    ]
    assert list(decision.reason_codes) == reasons


@pytest.mark.parametrize("system", ["good", "harmful", "crashing", "weak"])
def test_reports_are_decided_as_by_the_run(leveled, system, tmp_path):
    before, run = leveled(system)
    decision = run.judgement.decision.model_copy(update={"look": None})
    policy = {"test": "auto"}
    found = accept(before, run.judgement.report, policy=policy)
    assert dict(decision).items() <= dict(found).items()
    assert (found.cost, found.delta) == (12, run.judgement.figures.significance.mean_delta)
    report = run_eval("level", system_under_test="weak", bench_root=tmp_path / "bench")
    assert accept(report, run.judgement.report, policy=policy).reason_codes == decision.reason_codes


def test_a_decision_has_its_figures_and_short_codes():
    decision = accept(BEFORE, side(1, 0.02), policy={"test": "auto"})
    assert decision.outcome == "hold"
    assert decision.interval[0] < decision.delta < decision.interval[1]
    assert 0.05 < decision.p < 1
    assert decision.reasons == tuple(code.removeprefix(PREFIX) for code in decision.reason_codes)
    assert (decision.cost, decision.look) == (20, None)
    rows = {case: [score, score] for case, score in BEFORE.items()}
    assert accept(BEFORE, rows).cost == 40


def test_a_run_and_samples_are_no_two_sides(leveled):
    before, _ = leveled("good")
    with pytest.raises(EvalError, match="two of a kind"):
        accept(before, BEFORE)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "0.5", None, [], 10**400])
@pytest.mark.parametrize("form", [dict, list])
def test_what_is_no_score_is_named(value, form):
    wrong = {**BEFORE, "c05": value}
    wrong = wrong if form is dict else list(wrong.values())
    with pytest.raises(EvalError, match=r"candidate: \[(c05|5)\] is .*; expected a finite number"):
        accept(list(BEFORE.values()) if form is list else BEFORE, wrong)


@pytest.mark.parametrize(
    "given",
    [
        None,
        3,
        np.array([0.5, 0.6]),
        Path("record.json"),
        set(BEFORE.values()),
        (score for score in (0.1, 0.2)),
        b"12",
        {1: 0.1, 2: 0.2},
        {1: 0.1, "b": 0.2},
        {"\ud800": 0.1, "b": 0.2},
        {"a": 1e308, "b": -1e308},
    ],
)
def test_what_is_no_side_is_named(given, ledger):
    other = {case: -score for case, score in given.items()} if isinstance(given, dict) else BEFORE
    with pytest.raises(EvalError):
        accept(given, other, policy={"test": "auto"}, ledger=ledger, incumbent="v1")


def test_scalars_of_numpy_are_scores():
    after = side(1, 0.4)
    scalars = {case: np.float64(score) for case, score in after.items()}
    assert accept(BEFORE, scalars) == accept(BEFORE, after)


def test_a_path_is_no_ledger(tmp_path):
    with pytest.raises(EvalError, match="LookLedger"):
        accept(BEFORE, side(1), ledger=tmp_path / "looks.jsonl", incumbent="v1")


def test_a_threshold_that_is_none_is_named():
    with pytest.raises(PolicyError, match="alpha"):
        accept(BEFORE, side(1), policy={"alpha": 2})
    with pytest.raises(EvalError, match="at least 2"):
        accept({"c00": 1.0}, BEFORE)


def test_other_cases_hold():
    decision = accept(BEFORE, side(1, 0.4, n=19))
    assert decision.reason_codes == (f"{PREFIX}case_mismatch",)


def test_trials_of_a_case_are_one_observation():
    rows = {case: [score, score + 0.1] for case, score in BEFORE.items()}
    decision = accept(BEFORE, rows, policy={"test": "auto"})
    assert "note_epochs_collapsed" in decision.notes


def test_spending_needs_a_ledger(tmp_path, capsys):
    with pytest.raises(EvalError, match="needs a ledger"):
        accept(BEFORE, side(1), policy={"looks": "spend"})
    path = write(tmp_path / "a.json", BEFORE)
    other = write(tmp_path / "b.json", side(1))
    assert main(["gate", str(path), str(other), "--policy=looks=spend"]) == 2
    assert "needs a ledger" in capsys.readouterr().err
    samples = [f"--baseline-samples={path}", f"--trained-samples={other}", "--run-id=r"]
    assert main(["proof", *samples, "--policy=looks=spend", f"--out={tmp_path}/p"]) == 2
    assert "compare with benchgate gate A B --ledger FILE" in capsys.readouterr().err
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("looks", ["count", "spend", "spend:3"])
def test_a_ledger_needs_the_name_of_the_incumbent(ledger, looks):
    with pytest.raises(EvalError, match="give incumbent=NAME"):
        accept(side(0), side(1), policy={"looks": looks}, ledger=ledger)


def test_what_is_measured_anew_is_no_first_look(ledger):
    assert accept(side(180), side(80)).promotion_allowed  # by chance: it would be no first look
    for n in range(70, 90):
        sides = (side(100 + n), side(n))
        found = accept(*sides, policy={"looks": "spend"}, ledger=ledger, incumbent="v1")
        assert not found.promotion_allowed


def test_looks_are_counted_by_incumbent_and_results(ledger):
    found = [look(BEFORE, side(seed), ledger) for seed in (1, 2, 1, 3)]
    assert found == [1, 2, 1, 3]
    assert look(side(1), side(2), ledger, "v2") == 1
    assert look(BEFORE, side(4), ledger) == 4


def test_an_incumbent_that_is_measured_anew_is_one(ledger):
    found = [look(side(seed), side(seed + 100), ledger) for seed in range(5)]
    assert found == [1, 2, 3, 4, 5]


def test_runs_are_counted_as_in_the_chain(leveled, ledger):
    before, run = leveled("good")
    report = run.judgement.report
    again = leveled("good")[1].judgement.report
    assert [look(before, one, ledger) for one in (report, report, again)] == [1, 1, 1]


def test_processes_share_a_file_and_begin_where_it_ends(tmp_path):
    path = tmp_path / "looks.jsonl"
    one, other = LookLedger(path), LookLedger(path)
    for seed in range(6):
        ledger = (one, other)[seed % 2]
        assert look(BEFORE, side(seed + 1), ledger) == seed + 1
    assert look(BEFORE, side(3), LookLedger(path)) == 3
    assert len(path.read_text().splitlines()) == 6


def test_half_a_line_of_a_process_that_was_killed_is_no_look(tmp_path):
    path = tmp_path / "looks.jsonl"
    look(BEFORE, side(1), LookLedger(path))
    with path.open("a") as file:
        file.write('{"at":"0')
    assert look(BEFORE, side(2), LookLedger(path)) == 2
    assert len(path.read_text().splitlines()) == 2


def test_a_file_that_shrinks_under_a_ledger_is_found_and_not_filled_up(tmp_path):
    path = tmp_path / "looks.jsonl"
    ledger = LookLedger(path)
    for seed in range(1, 4):
        look(BEFORE, side(seed), ledger)
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(first)
    with pytest.raises(ArtifactError, match="line 3 was there, and was cut off"):
        look(BEFORE, side(4), ledger)
    assert path.read_bytes() == first


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_file_that_is_no_ledger_is_not_overwritten(tmp_path, end):
    path = tmp_path / "scores.json"
    path.write_text(f"[0.1, 0.2]{end}")
    with pytest.raises(ArtifactError, match="line 1: no look"):
        LookLedger(path)
    assert path.read_text() == f"[0.1, 0.2]{end}"


def test_scores_without_ids_are_the_same_results_in_any_order(ledger):
    scores = list(BEFORE.values())
    after = list(side(1).values())
    numbers = [look(before, after, ledger) for before in (scores, scores[::-1])]
    assert numbers == [1, 1]


def test_a_report_whose_results_were_edited_is_not_accepted(leveled):
    before, run = leveled("good")
    report = run.judgement.report
    edited = report.model_copy(update={"per_case": before.per_case})
    with pytest.raises(EvalError, match="edited"):
        accept(before, edited)


def test_a_ledger_that_cannot_be_written_decides_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(ArtifactError, match="cannot be used"):
        LookLedger(tmp_path / "folder")
    with pytest.raises(ArtifactError, match="cannot be used"):
        look(BEFORE, side(1), LookLedger(tmp_path / "none" / "looks.jsonl"))


def test_gate_counts_looks_at_samples(tmp_path, capsys):
    paths = [
        write(tmp_path / f"{seed}.json", side(seed, 0.5 if seed else 0.0)) for seed in range(4)
    ]
    options = [f"--ledger={tmp_path / 'l'}", "--policy=looks=spend", "--policy=test=auto"]
    for path in paths[1:]:
        assert main(["gate", str(paths[0]), str(path), *options]) == 0
    assert "look no. 3 at this baseline" in capsys.readouterr().out


def test_a_number_that_was_changed_in_one_file_contradicts_the_tests(leveled, tmp_path):
    (tmp_path / "bench" / "level" / "gate.toml").write_text('test = "auto"\nlooks = "spend"')
    leveled("good")
    leveled("harmful")
    file = tmp_path / "out" / "evidence" / "level" / "significance.json"
    raw = json.loads(file.read_bytes())
    assert raw["look"]["number"] == 2
    assert main(["verify", str(file)]) == 0
    raw["look"]["number"] = 1
    file.write_text(json.dumps(raw))
    assert main(["verify", str(file)]) == 1


@pytest.mark.parametrize("n", [21, 50])
def test_signs_that_are_drawn_can_be_significant_at_any_level(n, ledger):
    """Patterns that are drawn have no p below .00001, which look 40 is above."""
    policy = {"looks": "spend", "test": "auto"}
    before = side(0, n=n)

    def judged(seed):
        better = side(seed, 0.5, n=n)
        return accept(before, better, policy=policy, ledger=ledger, incumbent="v1")

    assert judged(1).promotion_allowed
    # The looks between are counted as accept does, and not judged: that takes most of the time.
    for seed in range(2, 60):
        arms = (samples_of(before, "baseline"), samples_of(side(seed, 0.5, n=n), "candidate"))
        ledger.add(looked_at_arms(*arms, make_policy(policy), KnownBy(name="v1")))
    last = judged(60)
    assert last.look.number == 60
    assert last.promotion_allowed == (n == 50)
