"""A provider that fails: tried again with the whole limit each time, at the pace that is allowed."""

from __future__ import annotations

import signal
import time
from types import SimpleNamespace

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError, SystemUnavailable
from benchgate.trials import pacing


class RateLimitError(Exception):
    """An error of a client's library."""

    response = SimpleNamespace(headers={"retry-after": "0.01"})


@pytest.fixture
def flaky(echo, monkeypatch):
    """Have the system fail a few times in case 02; waits are short."""
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)

    def fails(count, error=SystemUnavailable):
        def attempt(_):
            if echo.calls.count("02") <= count:
                raise error

        echo.instead["02"] = attempt
        return echo

    return fails


@pytest.fixture
def declared(flaky, monkeypatch):
    """Return a function that runs a class whose system fails once and declares something."""

    def run(**attributes):
        echo = flaky(1, RateLimitError)
        for name, value in attributes.items():
            monkeypatch.setattr(type(echo).agent, name, value, raising=False)
        return echo.run().judgement.report

    return run


@pytest.mark.parametrize("jobs", [1, 3])
def test_it_is_tried_again_and_the_result_says_how_often(flaky, jobs):
    echo = flaky(2)
    report = echo.run(jobs=jobs).judgement.report
    assert echo.calls.count("02") == 3
    assert [trial.retries for trial in report.per_case] == [0, 2, 0]
    assert report.complete


def test_the_run_id_does_not_depend_on_the_luck_of_a_provider(flaky):
    unlucky, lucky = (flaky(fails).run().judgement.report for fails in (1, 0))
    assert unlucky.per_case[1].retries == 1
    assert unlucky.run_id == lucky.run_id


@pytest.mark.parametrize(
    "unavailable",
    [RateLimitError, (ConnectionError, RateLimitError), lambda error: hasattr(error, "response")],
    ids=["type", "types", "predicate"],
)
def test_a_system_declares_which_exceptions_are_not_its_own(declared, unavailable):
    trial = declared(unavailable=unavailable).per_case[1]
    assert (trial.outcome, trial.retries) == ("scored", 1)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"unavailable": "429"}, "unavailable = '429'; expected exception types"),
        ({"unavailable": (OSError, 429)}, "expected exception types, or a function"),
        ({"concurrency": "None"}, "concurrency = 'None'; the one word"),
    ],
    ids=["text", "tuple", "concurrency"],
)
def test_a_declaration_that_nothing_could_act_upon_is_refused(declared, echo, attributes, message):
    with pytest.raises(EvalError, match=message):
        declared(**attributes)
    assert echo.calls == []


@pytest.mark.parametrize("attributes", [{}, {"unavailable": lambda _: 1 / 0}])
def test_what_is_not_declared_is_the_systems_own_error_and_not_tried_again(
    declared, echo, attributes
):
    assert declared(**attributes).per_case[1].outcome == "harness_error"
    assert echo.calls.count("02") == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_waiting_does_not_use_up_the_time_limit(flaky, monkeypatch, jobs):
    monkeypatch.setattr(pacing, "delay", lambda *_: 0.7)  # twice: more than the limit
    trial = flaky(2).run(timeout=1.0, jobs=jobs).judgement.report.per_case[1]
    assert (trial.outcome, trial.retries) == ("scored", 2)
    assert trial.duration_seconds < 1


def test_each_attempt_has_the_whole_limit(echo, flaky):
    left = []

    def attempt(_):
        # Who sets the timer ahead has used up most of the limit, without a test that waits for it.
        left.append(signal.setitimer(signal.ITIMER_REAL, 60)[0])
        if len(left) < 3:
            raise SystemUnavailable

    echo.instead["02"] = attempt
    trial = echo.run(timeout=600).judgement.report.per_case[1]
    assert (trial.outcome, trial.retries) == ("scored", 2)
    assert left == pytest.approx([600, 600, 600], abs=120)


@pytest.mark.parametrize("jobs", [1, 3])
def test_no_more_attempts_a_minute_than_allowed(flaky, jobs):
    echo = flaky(1)
    started = time.monotonic()
    assert echo.run(max_rpm=180, jobs=jobs).judgement.report.complete
    assert time.monotonic() - started >= 1  # four attempts, the first at once
    assert len(echo.calls) == 4


def test_an_async_system_is_tried_again_too(echo, flaky):
    calls = []

    async def away(case):
        calls.append(case.case_id)
        if case.case_id == "02" and calls.count("02") < 3:
            raise SystemUnavailable
        return {"answer": f"Q{case.case_id}"}

    report = echo.engine(system=away, jobs=3).judgement.report
    assert calls.count("02") == 3
    assert [trial.retries for trial in report.per_case] == [0, 2, 0]


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_that_stays_away_makes_the_run_incomplete_and_is_no_score_of_0(flaky, jobs):
    echo = flaky(99, SystemUnavailable("down"))
    run = echo.run(retries=1, jobs=jobs)
    assert run.exit_status == 1
    assert echo.calls.count("02") == 2
    trial = echo.result("02")
    assert (trial["outcome"], trial["score"], trial["retries"]) == ("unavailable", None, 1)
    assert trial["detail"] == "SystemUnavailable: down"
    assert trial["failure_modes"] == []
    assert not echo.record()["report"]["complete"]
    codes = echo.record()["decision"]["reason_codes"]
    assert codes[0] == "checkpoint_promotion_blocked_incomplete_run"
    assert main(["verify", str(echo.out)]) == 0
