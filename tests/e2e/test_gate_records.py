"""``benchgate gate`` on records of real runs: what changed, what the gate says, and its exit status."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime

import pytest

from benchgate.cli import main
from benchgate.runner.run import RunSettings, run_class

TODAY = datetime.now(UTC).date()  # a case that was validated long ago warns
CASE = """\
[case]
case_id = "{case_id}"
task_class = "toy"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2026-01-01T00:00:00Z
last_validated_at = {today}T00:00:00Z
"""
RUBRIC = """\
from benchgate import BenchScore


class Graded:
    def score(self, case, output, /):
        score = output["score"]
        return BenchScore(passed=score >= 0.5, score=score, safety_penalty=0.0)
"""
REGISTRATION = """\
import random

from benchgate import register_task_class

from .rubric import Graded


def weak(case):
    return {"score": 0.6 if case.case_id == "c07" else 0.2 + int(case.case_id[1:]) / 100}


def strong(case):
    return {"score": 0.1 if case.case_id == "c07" else 0.9 - int(case.case_id[1:]) / 100}


def noisy(case):
    return {"score": random.Random(case.seed).random()}


@register_task_class(
    "toy", systems={"weak": weak, "strong": strong, "noisy": noisy}, default_system="weak"
)
class Toy(Graded):
    pass
"""


class Toy:
    """Twelve cases; the weak system passes c07 alone, the strong one fails it alone."""

    def __init__(self, root):
        self.root = root
        self.path = root / "bench" / "toy"
        for number in range(1, 13):
            self.case(f"c{number:02}")
        (self.path / "rubric.py").write_text(RUBRIC)
        (self.path / "registration.py").write_text(REGISTRATION)

    def case(self, case_id, text="t"):
        folder = self.path / "cases" / case_id
        (folder / "input").mkdir(parents=True, exist_ok=True)
        (folder / "input" / "task.txt").write_text(text)
        (folder / "case.toml").write_text(CASE.format(case_id=case_id, today=TODAY))

    def run(self, system, **settings):
        """Run all cases and return the folder of the record."""
        given = {"task_class": "toy", "system": system, "bench_root": self.root / "bench"}
        made = RunSettings(**given, out=self.root / "out", **settings)
        return run_class(made).published.folder


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Toy(tmp_path)


def gate(*arguments):
    return main(["gate", *map(str, arguments)])


def test_the_verdict_stands_first_then_what_became_worse(toy, capsys):
    assert gate(toy.run("weak"), toy.run("strong"), "-v") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[2] for line in lines[:2]] == ["record of toy"] * 2
    assert lines[2].startswith("PROMOTE   `strong` may replace `weak`: it is better")
    assert lines[5] == "cases     11 of 12 pass, before 1: 11 newly passing, 1 newly failing"
    assert lines[6].startswith("  fails   c07  0.600 -> 0.100")
    assert [line.split()[0] for line in lines[7:18]] == ["passes"] * 11


def test_a_worse_run_is_rejected(toy, capsys):
    assert gate(toy.run("strong"), toy.run("weak"), "-v") == 1
    out = capsys.readouterr().out
    assert "\n  fails   c01  0.890 -> 0.210" in out
    assert "\n  passes  c07  0.100 -> 0.600" in out
    assert "\nREJECT    `weak` must not replace `strong`: its score fell by " in out
    assert " [significant_regression]\n" in out


def test_scores_that_change_without_passing_or_failing_come_after_those_that_do(toy, capsys):
    gate(toy.run("noisy", seed=1), toy.run("noisy", seed=2), "-v")
    lines = capsys.readouterr().out.splitlines()
    titles = [line.split()[0] for line in lines if re.match("  .* -> ", line)]
    assert len(titles) == 12
    assert list(dict.fromkeys(titles)) == ["fails", "lower", "passes", "higher"]


def test_new_missing_and_changed_cases_are_named_and_hold(toy, capsys):
    before = toy.run("weak")
    shutil.rmtree(toy.path / "cases" / "c01")
    toy.case("c13")
    toy.case("c02", text="another task")
    assert gate(before, toy.run("strong"), "-v") == 10
    out = capsys.readouterr().out
    assert "new       1 case: c13\nmissing   1 case: c01\nedited    1 case: c02\n" in out
    assert "\nHOLD      `strong` may not replace `weak` yet: the baseline is no complete run" in out
    assert "[baseline_mismatch]\n" in out


def test_a_folder_a_record_and_a_pinned_baseline_are_runs(toy, capsys):
    before, after = toy.run("weak"), toy.run("strong")
    pinned = toy.path / "baseline.json"
    shutil.copy(before / "record.json", pinned)
    printed = set()
    for run in (before, before / "record.json", pinned):
        assert gate(run, after) == 0
        printed.add(capsys.readouterr().out.partition("\n")[2])
    assert gate("1", "2", f"--out={toy.root / 'out'}") == 0
    printed.add(capsys.readouterr().out.partition("\n")[2])
    assert len(printed) == 1


def test_the_policy_is_that_of_the_second_run_with_options_over_it(toy, capsys):
    before = toy.run("weak")
    strict = toy.run("strong", policy={"min_delta": 0.9})
    assert gate(before, strict) == 10
    assert "not above 0.9" in capsys.readouterr().out
    assert gate(before, strict, "--policy=min_delta=0.01") == 0
    assert gate(before, toy.run("strong"), "--policy=min_cases=13") == 10
    assert "12 cases are too few" in " ".join(capsys.readouterr().out.split())


def test_an_edited_run_is_never_promoted_and_it_is_said_why(toy, capsys):
    before, after = toy.run("weak"), toy.run("strong")
    record = json.loads((after / "record.json").read_bytes())
    record["report"]["per_case"][0]["score"]["score"] = 1.0
    (after / "record.json").write_text(json.dumps(record))
    assert gate(after, before, "-v") == 1
    assert "baseline_mismatch" in capsys.readouterr().out
    assert gate(before, after) == 1
    printed = capsys.readouterr()
    assert "it was edited" in printed.out + printed.err


def test_a_part_of_the_cases_is_not_evaluated(toy, capsys):
    before = toy.run("weak")
    toy.run("strong", case_filter="c0*")
    assert gate(before, toy.root / "out" / "last-selected" / "toy" / "report.json") == 2
    assert "no valid record of a run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one", "none"], "none: cannot be read"),
        (["none/record.json", "one"], "none/record.json: cannot be read"),
        (["one", "empty"], "empty: a folder without record.json, and without a log"),
        (["one", "text.json"], "one is a record, text.json a log; expected two of a kind"),
        (
            ["one", "one/evidence/promotion.json"],
            "one/evidence/promotion.json a log; expected two of a kind",
        ),
        (["one", "two", "--policy=alpha=2"], "alpha: Input should be less than 1"),
        (["one", "two", "--policy=alfa=0.1"], "did you mean 'alpha'?"),
        (["one", "two", "--policy=alpha"], "expected KEY=VALUE, or a gate.toml"),
        (["one", "one", "--out=out"], "--out is not for records by path"),
        (["one", "one", "--task-class=toy"], "--task-class is not for records by path"),
    ],
    ids=" ".join,
)
def test_wrong_input_exits_with_2(toy, capsys, arguments, message):
    (toy.root / "one").symlink_to(toy.run("weak"))
    (toy.root / "two").symlink_to(toy.run("weak"))
    (toy.root / "empty").mkdir()
    (toy.root / "text.json").write_text("[1, 2")
    assert gate(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err


def test_two_kinds_are_wrong_use_and_a_number_may_be_a_file(toy, capsys):
    toy.run("weak")
    (toy.root / "1").write_text('{"id": "a", "score": 1}\n{"id": "b", "score": 0}\n')
    out = f"--out={toy.root / 'out'}"
    assert gate("1", "./1", out) == 2
    assert "1 is a record, ./1 a log; expected two of a kind" in capsys.readouterr().err
    shutil.copy("1", "2")
    assert gate("./1", "./2") == 10
    assert "baseline  1: log of json, 2 samples" in capsys.readouterr().out
    assert gate("1", "9", out) == 2
    assert "there is no run '9'" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--ledger=l", "--map=case=id", "--baseline-id=x"])
def test_options_of_other_kinds_are_refused(toy, capsys, option):
    run = toy.run("weak")
    assert gate(run, run, option) == 2
    name = option.partition("=")[0]
    assert f"{name} is not for records" in capsys.readouterr().err
