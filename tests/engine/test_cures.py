"""What `next` says of an incomplete run, or of harm that nobody measured: for each cause its own cure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.gates.cures import cure
from benchgate.gates.judge import judge
from benchgate.interop import read
from benchgate.interop.reports import LogTerms, report_of
from benchgate.sentences.says import says

HIGHER_CAP = says("cure.higher_cap")


def test_a_cap_is_cured_by_a_higher_cap(echo):
    run = echo.run(max_cost_usd=0.3, baseline=None)
    assert run.judgement.decision.step == (HIGHER_CAP,)
    assert "--resume --max-cost-usd=USD" in HIGHER_CAP.text
    # With the same cap it would stay where it is; with a higher one the rest runs.
    stays = echo.run(max_cost_usd=0.3, baseline=None, resume="auto")
    assert stays.judgement.decision.step == (HIGHER_CAP,)
    assert echo.run(max_cost_usd=3.0, baseline=None, resume="auto").judgement.report.complete


def test_a_trial_that_was_run_again_is_cured_by_no_reruns(echo):
    done = echo.run(baseline=None).judgement
    first, *others = done.report.per_case
    again = (first.model_copy(update={"reruns": 1}), *others)
    report = done.report.model_copy(update={"complete": False, "per_case": again})
    run = replace(done.run, facts=replace(done.run.facts, report=report))
    decision = judge(run).decision
    assert decision.reason_codes[0].endswith("incomplete_run")
    assert decision.step == (says("cure.no_reruns"),)


def test_another_cause_is_mended_and_the_rest_is_run(echo):
    echo.instead["02"] = SystemExit("gone")
    (echo.path / "cases" / "03" / "case.toml").write_text("[case]\n")
    decision = echo.run(baseline=None).judgement.decision
    assert decision.step == (says("cure.resume"),)


def test_a_baseline_beside_it_that_is_incomplete_is_cured_likewise(echo):
    echo.write(
        "registration.py",
        """
        from benchgate import register_task_class
        from .rubric import EchoRubric
        from .system import system

        def dear(case):
            case.usage.add(cost_usd=5.0)
            return system(case)

        register_task_class("echo", systems={"shout": system, "dear": dear})(EchoRubric)
        """,
    )
    run = echo.engine(system="shout", baseline="run:dear", max_cost_usd=7.0, trials=1)
    assert run.judgement.decision.step == (HIGHER_CAP,)


HARMLESS = "return BenchScore(passed=True, score=1.0)"


def test_a_class_that_can_do_no_harm_is_told_how_to_say_so(echo):
    echo.rubric(HARMLESS)
    for number in range(4, 13):
        echo.case(f"{number:02}")
    before = echo.run(baseline=None).published.folder / "record.json"
    decision = echo.run(baseline=before).judgement.decision
    assert decision.reason_codes[0].endswith("safety_missing")
    assert decision.next_step.startswith(
        "if nothing here can do harm, say so: --policy=safety=optional; else measure harm"
    )
    (echo.path / "gate.toml").write_text('safety = "optional"\n')
    codes = echo.run(baseline=before).judgement.decision.reason_codes
    assert not any(code.endswith("safety_missing") for code in codes)


def rows(*changes):
    made = [{"id": f"c{n:02}", "score": 1, **dict(changes)} for n in range(20)]
    return "".join(json.dumps(row) + "\n" for row in made)


def junit(inside=""):
    cases = [f'<testcase classname="t" name="x{n}"/>' for n in range(12)]
    cases[3] = f'<testcase classname="t" name="x3">{inside}</testcase>'
    return f'<testsuite name="pytest">{"".join(cases)}</testsuite>'


def test_the_cure_of_a_log_that_says_it_did_not_end(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(rows())
    log = read(path)
    log = replace(log, header=replace(log.header, ended_early=True))
    report = report_of(log, LogTerms.of("log", {}), "new")
    assert not report.complete
    assert cure(report).text == "let the eval run to its end in its harness, then give the new log"


TWICE = json.dumps({"id": "c00", "score": 0}) + "\n"
LOGS = {
    "a JUnit rerun": (
        ".xml",
        junit(),
        junit('<flakyFailure message="late">x</flakyFailure>'),
        "run the tests without reruns, each name once, and give that file",
    ),
    "a name that stands twice": (
        ".jsonl",
        rows(),
        rows() + TWICE,
        "give one sample per case and repetition: --map trial=FIELD numbers repetitions",
    ),
}


@pytest.mark.parametrize("side", ["old", "new"])
@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_the_cure_of_a_log(tmp_path, monkeypatch, capsys, side, log):
    suffix, whole, broken, step = log
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("old", "new"):
        Path(name + suffix).write_text(broken if name == side else whole)
    main(["gate", f"old{suffix}", f"new{suffix}"])
    said = capsys.readouterr().out
    assert "HOLD" in said
    assert f"next      {step}\n" in said
