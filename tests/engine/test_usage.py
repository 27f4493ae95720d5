"""What systems report of calls of models: kept whatever becomes of the trial, and shown wherever results are."""

from __future__ import annotations

import json

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.models import Usage
from benchgate.trials import pacing
from benchgate.verify.recheck_record import recheck_record

SPENDS = "case.usage.add(cost_usd=0.5, tokens_in=100, tokens_out=10, model='m-1')\n"
ONCE = {"cost_usd": 0.5, "tokens_in": 100, "tokens_out": 10, "calls": 1, "model": "m-1"}
TWICE = {"cost_usd": 1.0, "tokens_in": 200, "tokens_out": 20, "calls": 2, "model": "m-1"}
FALLS = {
    "harness_error": "raise ValueError('no')",
    "timeout": "import time; time.sleep(9)",
    "unavailable": "from benchgate import SystemUnavailable; raise SystemUnavailable(retry_after=0)",
}
ASYNC = """
import asyncio
async def system(case):
    case.usage.add(cost_usd=0.5, tokens_in=100, tokens_out=10, model='m-1')
    await asyncio.sleep(9)
"""


@pytest.mark.parametrize(("outcome", "jobs"), [*((name, 3) for name in FALLS), ("timeout", 1)])
def test_a_trial_that_fails_keeps_what_it_had_spent(echo, monkeypatch, outcome, jobs):
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    echo.system(SPENDS + f"if case.case_id == '02': {FALLS[outcome]}")
    echo.engine(timeout=1, retries=1, jobs=jobs)
    report = echo.record()["report"]
    assert echo.result("02")["outcome"] == outcome
    # The earlier attempt of one that is tried again has cost as much.
    assert echo.result("02")["usage"] == (TWICE if outcome == "unavailable" else ONCE)
    assert echo.trial("02")["result"]["usage"] == echo.result("02")["usage"]
    assert report["usage"]["cost_usd"] == (2.0 if outcome == "unavailable" else 1.5)
    assert main(["verify", str(echo.out)]) == 0


def test_an_async_trial_that_is_given_up_keeps_what_it_had_spent(echo):
    echo.write("system.py", ASYNC)
    echo.engine(timeout=1, jobs=3)
    assert [trial["usage"] for trial in echo.record()["report"]["per_case"]] == [ONCE] * 3


def test_usage_of_an_output_is_added_and_nobody_else_sees_it(echo):
    echo.system(
        SPENDS + "return {'answer': 'Q' + case.case_id, 'usage': {'cost_usd': 0.25, 'calls': 2}}"
    )
    echo.rubric("assert 'usage' not in output")
    assert echo.engine().judgement.report.passed_count == 3
    used = {"cost_usd": 0.75, "tokens_in": 100, "tokens_out": 10, "calls": 3, "model": "m-1"}
    assert echo.result("01")["usage"] == used
    assert echo.trial("01")["output"] == {"answer": "Q01"}
    report = echo.record()["report"]
    # The rubric of this bench says that judging cost 0.25.
    assert (report["usage"]["cost_usd"], report["total_cost_usd"]) == (2.25, 3.0)


@pytest.mark.parametrize(
    "usage", ["{'cost_usd': -1.0}", "{'prompt_tokens': 3}", "{'calls': '1'}", "None", "7"]
)
def test_usage_that_is_none_is_no_score(echo, usage):
    echo.system(f"return {{'answer': 'Q' + case.case_id, 'usage': {usage}}}")
    echo.engine()
    told = echo.result("01")["failure_modes"][0]["detail"]
    assert told.startswith("ValueError: usage: ")
    assert "; expected a mapping" in told
    assert set(echo.outcomes().values()) == {"harness_error"}


def test_what_cannot_be_added_fails_the_trial(echo):
    echo.system("case.usage.add(cost_usd=float('nan'))")
    echo.engine()
    told = echo.result("01")["failure_modes"][0]["detail"]
    assert told.startswith("ValueError: usage: cost_usd: ")
    assert "finite" in told


def test_the_command_keeps_it_too(echo, capsys, monkeypatch):
    monkeypatch.chdir(echo.root)
    echo.system(SPENDS + "if case.case_id == '02': raise ValueError('no')")
    main(["run", "--task-class=echo", "--bench-root=bench"])
    *trials, run = map(json.loads, capsys.readouterr().out.splitlines())
    assert [trial["usage"] for trial in trials] == [ONCE] * 3
    assert run["usage"]["cost_usd"] == 1.5


@pytest.mark.parametrize(
    "edit",
    [{"usage": None}, {"usage": Usage(**{**ONCE, "cost_usd": 0.1})}, {"total_cost_usd": 0.1}],
)
def test_totals_are_recomputed(echo, edit):
    echo.system(SPENDS)
    echo.engine()
    record = RunRecord.read_file(echo.folder() / "record.json", "record")
    assert not list(recheck_record(echo.folder(), record))
    report = record.report.model_copy(update=edit)
    (fault, *_) = recheck_record(echo.folder(), record.model_copy(update={"report": report}))
    assert fault.startswith(f"report.{next(iter(edit))}")


def test_two_runs_are_compared_by_cost(echo, capsys):
    for more in (0, 0, 1):
        echo.system(f"case.usage.add(cost_usd=0.5 + {more} * (int(case.case_id) + 1) / 10)")
        echo.engine()
    folders = sorted(map(str, echo.out.glob("runs/echo/0*")))
    capsys.readouterr()
    main(["gate", folders[0], folders[2]])
    assert (
        "cost      $3.1500; a case from $0.7500 to $1.0500, +40.0% [+6.9%, +73.1%]\n"
        in capsys.readouterr().out
    )
    main(["gate", folders[0], folders[1]])
    assert "cost      $2.2500; a case from $0.7500 to $0.7500, +0.0%\n" in capsys.readouterr().out
