"""Many trials at once: the same run as one at a time, whatever a trial does that runs beside others."""

from __future__ import annotations

import threading

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError

ASYNC = """
import asyncio

async def system(case):
    {first}
    await asyncio.sleep(WAIT.get(case.case_id, 0.01))
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}
"""
SYNC = ASYNC.replace("async def", "def").replace("await asyncio", "__import__('time')")


@pytest.fixture
def waiting(echo):
    """Make a bench of twelve cases; return a function that writes its system and runs it."""
    for number in range(4, 13):
        echo.case(f"{number:02}")

    def run(source=ASYNC, waits=None, first="pass", **settings):
        echo.write("system.py", f"WAIT = {waits or {}!r}\n{source.format(first=first)}")
        return echo.run(system=None, **settings)

    return run


@pytest.mark.parametrize("source", [ASYNC, SYNC], ids=["async", "sync"])
def test_many_at_once_give_the_run_of_one_after_another(waiting, echo, source):
    one, four = (waiting(source, jobs=jobs, trials=2).judgement.report for jobs in (1, 4))
    assert one.run_id == four.run_id
    assert [(t.case_id, t.trial) for t in four.per_case] == [
        (f"{case:02}", trial) for case in range(1, 13) for trial in (0, 1)
    ]
    assert main(["verify", str(echo.out)]) == 0


def test_an_async_system_over_its_limit_is_cancelled(waiting, echo):
    for case_id in ("02", "05"):
        echo.case(case_id, timeout_seconds="1")
    report = waiting(waits={"02": 60, "05": 60}, jobs=3).judgement.report
    outcomes = echo.outcomes()
    assert {case for case, outcome in outcomes.items() if outcome == "timeout"} == {"02", "05"}
    assert report.complete
    assert echo.result("02")["failure_modes"][0]["detail"] == "timed out after 1 s"


def test_what_a_thread_returns_after_its_limit_is_dropped(echo):
    for case_id in ("01", "03"):
        echo.case(case_id, timeout_seconds="1")
    third = threading.Event()
    over = threading.Event()
    returned = []

    def first(_):
        third.wait(20)  # which begins in its place, once it was given up
        returned.append("01")
        return {"answer": "late"}

    def last(_):
        third.set()
        over.wait(20)
        return {"answer": "later"}

    echo.instead |= {"01": first, "02": lambda _: third.wait(20) and None, "03": last}
    echo.run(jobs=2)
    over.set()
    assert returned == ["01"]
    assert echo.outcomes() == {"01": "timeout", "02": "scored", "03": "timeout"}
    assert [echo.trial(case_id)["output"] for case_id in ("01", "03")] == [None, None]


@pytest.mark.parametrize("error", ["SystemExit(0)", "KeyError('x')", "asyncio.CancelledError()"])
def test_an_async_system_that_raises_fails_its_own_case_alone(waiting, echo, error):
    waiting(first=f"if case.case_id == '03': raise {error}", jobs=3)
    outcomes = echo.outcomes()
    assert outcomes.pop("03") == "harness_error"
    assert set(outcomes.values()) == {"scored"}


@pytest.mark.parametrize("source", [ASYNC, SYNC], ids=["async", "sync"])
def test_a_system_may_refuse_to_run_beside_itself(waiting, echo, source):
    alone = source + "\nsystem.concurrency = 'none'\n"
    with pytest.raises(EvalError, match="system shout says concurrency = 'none'"):
        waiting(alone, jobs=2)
    assert waiting(alone).judgement.report.complete


def test_all_trials_share_one_event_loop(waiting):
    one = "loops = globals().setdefault('loops', set())"
    first = f"{one}; loops.add(id(asyncio.get_running_loop())); assert len(loops) == 1"
    assert waiting(first=first, jobs=4).judgement.report.passed_count == 12
