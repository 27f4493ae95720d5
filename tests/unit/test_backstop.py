"""The timer that ends a process in which a trial hangs: one for many quick trials, and never one that others meet."""

from __future__ import annotations

import faulthandler
import math
import sys
import time

import pytest

from benchgate.trials.time_limit import Backstop


@pytest.fixture
def timer(monkeypatch):
    """What was done with Python's one timer, and a clock that a test can set."""
    done, clock = [], [1000.0]
    monkeypatch.setattr(
        faulthandler, "dump_traceback_later", lambda seconds, **_: done.append(seconds)
    )
    monkeypatch.setattr(faulthandler, "cancel_dump_traceback_later", lambda: done.append("ended"))
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "gettrace", lambda: None)
    return done, clock


def trial(backstop, clock, limit, seconds):
    with backstop.over(limit):
        clock[0] += seconds


def test_quick_trials_share_a_timer_that_is_never_early_and_never_late(timer):
    done, clock = timer
    backstop = Backstop()
    for _ in range(1000):
        trial(backstop, clock, 600, 0.05)
    assert done == [660, 660]  # 50 seconds: the first timer had less than 630 left after 30 of them
    backstop.release()
    backstop.release()
    assert done == [660, 660, "ended"]


def test_a_timer_that_would_end_what_comes_next_is_ended_with_its_trial(timer):
    done, clock = timer
    for backstop, limit, seconds in (
        (Backstop(), 600, 0.2),
        (Backstop(), 100, 0.0),
        (Backstop(keep=False), 600, 0.0),
    ):
        done.clear()
        trial(backstop, clock, limit, seconds)
        assert done == [limit + min(limit, 60), "ended"]


def test_a_trial_that_is_interrupted_leaves_no_timer(timer):
    done, _ = timer
    with pytest.raises(KeyboardInterrupt), Backstop().over(600):
        raise KeyboardInterrupt
    assert done == [660, "ended"]


def test_another_limit_gets_another_timer(timer):
    done, clock = timer
    backstop = Backstop()
    trial(backstop, clock, 600, 0.0)
    trial(backstop, clock, 1, 0.0)
    assert done == [660, 6, "ended"]


def test_a_debugger_gets_no_timer(timer, monkeypatch):
    done, clock = timer
    backstop = Backstop()
    trial(backstop, clock, 600, 0.0)
    monkeypatch.setattr(sys, "gettrace", lambda: print)
    trial(backstop, clock, 600, 0.0)
    assert done == [660, "ended"]


def test_trials_side_by_side_share_a_timer_that_follows_the_first_deadline(timer):
    done, clock = timer
    backstop = Backstop()
    backstop.until(1010, 10)
    assert done == [20]  # as much time again as the limit
    backstop.until(1014, 10)
    assert done == [20]  # still between half of that and all of it after the deadline
    clock[0] = 1008
    backstop.until(1016, 10)
    assert done == [20, 18]
    backstop.until(1009, 1)  # of another limit, and sooner
    assert done == [20, 18, 6]
    backstop.until(math.inf, 0)
    backstop.until(math.inf, 0)
    assert done == [20, 18, 6, "ended"]
