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


@pytest.mark.parametrize(("outcome", "jobs"), [*((name, 2) for name in FALLS), ("timeout", 1)])
def test_a_trial_that_fails_keeps_what_it_had_spent(bench, monkeypatch, outcome, jobs):
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    bench.system(SPENDS + f"if case.case_id == '02': {FALLS[outcome]}")
    bench.engine(timeout=0.2, retries=1, jobs=jobs)
    report = bench.record()["report"]
    assert bench.result("02")["outcome"] == outcome
    # The earlier attempt of one that is tried again has cost as much.
    assert bench.result("02")["usage"] == (TWICE if outcome == "unavailable" else ONCE)
    assert bench.trial("02")["result"]["usage"] == bench.result("02")["usage"]
    assert report["usage"]["cost_usd"] == (2.0 if outcome == "unavailable" else 1.5)
    assert main(["verify", str(bench.out)]) == 0


def test_an_async_trial_that_is_given_up_keeps_what_it_had_spent(bench):
    bench.write("system.py", ASYNC)
    bench.engine(timeout=0.2, jobs=2)
    assert [trial["usage"] for trial in bench.record()["report"]["per_case"]] == [ONCE] * 3


def test_usage_of_an_output_is_added_and_nobody_else_sees_it(bench):
    bench.system(
        SPENDS + "return {'answer': 'Q' + case.case_id, 'usage': {'cost_usd': 0.25, 'calls': 2}}"
    )
    bench.rubric("assert 'usage' not in output")
    assert bench.engine().judgement.report.passed_count == 3
    used = {"cost_usd": 0.75, "tokens_in": 100, "tokens_out": 10, "calls": 3, "model": "m-1"}
    assert bench.result("01")["usage"] == used
    assert bench.trial("01")["output"] == {"answer": "Q01"}
    report = bench.record()["report"]
    # The rubric of this bench says that judging cost 0.25.
    assert (report["usage"]["cost_usd"], report["total_cost_usd"]) == (2.25, 3.0)


@pytest.mark.parametrize(
    "usage", ["{'cost_usd': -1.0}", "{'prompt_tokens': 3}", "{'calls': '1'}", "None", "7"]
)
def test_usage_that_is_none_is_no_score(bench, usage):
    bench.system(f"return {{'answer': 'Q' + case.case_id, 'usage': {usage}}}")
    bench.engine()
    told = bench.result("01")["failure_modes"][0]["detail"]
    assert told.startswith("ValueError: usage: ")
    assert "; expected a mapping" in told
    assert set(bench.outcomes().values()) == {"harness_error"}


def test_what_cannot_be_added_fails_the_trial(bench):
    bench.system("case.usage.add(cost_usd=float('nan'))")
    bench.run().stdout.fnmatch_lines(["*ValueError: usage: cost_usd: *finite*"])


def test_an_attempt_that_a_plugin_repeats_is_paid_for_too(bench):
    bench.system(SPENDS + "seen.append(1)\nif len(seen) < 3: raise ValueError('no')")
    bench.write("system.py", (bench.path / "system.py").read_text() + "seen = []\n")
    bench.run("-p", "rerunfailures", "--reruns=2", "bench/echo/cases/01")
    assert bench.selected()["per_case"][0]["usage"]["cost_usd"] == 1.5


def test_an_excused_trial_is_paid_for(bench):
    bench.system(SPENDS)
    (bench.root / "conftest.py").write_text(
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    items[0].add_marker(pytest.mark.xfail(strict=True, reason='known'))\n"
    )
    bench.run()
    assert (bench.result("01")["outcome"], bench.result("01")["usage"]) == ("skipped", ONCE)


def test_it_is_shown_for_cases_and_run(bench):
    bench.system("if case.case_id != '03': " + SPENDS)
    result = bench.run("-v", "--junitxml=x.xml", "--json-report", "-p", "pytest_jsonreport")
    result.stdout.fnmatch_lines(
        [
            "cost      1.7500 USD",
            "case  score  penalty  cost USD  tokens in     out  result",
            "01    1.000    0.000    0.7500        100      10  passed",
            "03    1.000    0.000    0.2500          -       -  passed",
            "usage     1.0000 USD, 200 tokens in, 20 out, 2 calls (m-1); judging 0.7500 USD",
        ]
    )
    xml = (bench.root / "x.xml").read_text()
    for name, value in (("cost_usd", 0.75), ("tokens_in", 100), ("calls", 1), ("model", "m-1")):
        assert f'name="bench.{name}" value="{value}"' in xml
    assert 'name="bench.echo.cost_usd" value="1.75"' in xml
    (section,) = json.loads((bench.root / ".report.json").read_text())["benchgate"]
    assert section["usage"] == TWICE


def test_a_run_without_any_shows_none(bench):
    result = bench.run("-v")
    result.stdout.no_fnmatch_line("usage *")
    result.stdout.fnmatch_lines(["case  score  penalty  result"])


def test_the_command_keeps_it_too(bench, capsys, monkeypatch):
    monkeypatch.chdir(bench.root)
    bench.system(SPENDS + "if case.case_id == '02': raise ValueError('no')")
    main(["run", "--task-class=echo", "--bench-root=bench"])
    *trials, run = map(json.loads, capsys.readouterr().out.splitlines())
    assert [trial["usage"] for trial in trials] == [ONCE] * 3
    assert run["usage"]["cost_usd"] == 1.5


@pytest.mark.parametrize(
    "edit",
    [{"usage": None}, {"usage": Usage(**{**ONCE, "cost_usd": 0.1})}, {"total_cost_usd": 0.1}],
)
def test_totals_are_recomputed(bench, edit):
    bench.system(SPENDS)
    bench.engine()
    record = RunRecord.read_file(bench.folder() / "record.json", "record")
    assert not list(recheck_record(bench.folder(), record))
    report = record.report.model_copy(update=edit)
    (fault, *_) = recheck_record(bench.folder(), record.model_copy(update={"report": report}))
    assert fault.startswith(f"report.{next(iter(edit))}")


def test_two_runs_are_compared_by_cost(bench, capsys):
    for more in (0, 1):
        bench.system(f"case.usage.add(cost_usd=0.5 + {more} * (int(case.case_id) + 1) / 10)")
        bench.engine()
    folders = sorted(map(str, bench.out.glob("runs/echo/0*")))
    capsys.readouterr()
    main(["gate", *folders])
    assert (
        "cost      3.1500 USD; a case from 0.7500 to 1.0500 USD, +40.0% [+6.9%, +73.1%]\n"
        in capsys.readouterr().out
    )
    main(["gate", folders[0], folders[0]])
    assert (
        "cost      2.2500 USD; a case from 0.7500 to 0.7500 USD, +0.0%\n" in capsys.readouterr().out
    )
