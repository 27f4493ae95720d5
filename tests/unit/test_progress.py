"""How far a run is: what the line says, and when it is shown."""

from __future__ import annotations

import os
import re
import threading

import pytest

from benchgate.models import BenchScore, TrialResult
from benchgate.runner import progress
from benchgate.runner.progress import Progress, told_each_minute


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def ended(case_id, outcome="scored", score=1.0, seconds=1.0):
    return TrialResult(
        case_id=case_id,
        trial=0,
        seed=0,
        held_out=False,
        outcome=outcome,
        score=BenchScore(passed=True, score=score) if outcome == "scored" else None,
        duration_seconds=seconds,
    )


@pytest.fixture
def counted():
    clock = Clock()
    made = Progress(clock)
    made.clock = clock
    return made


def line(counted, total):
    counted.plan(total)
    return counted.line()


def test_nothing_has_ended(counted):
    counted.clock.now += 90
    assert line(counted, 40) == "benchgate: 0 of 40 trials"


def test_trials_outcomes_and_time(counted):
    counted.clock.now += 120
    counted.add(ended("a", score=1.0))
    counted.add(ended("b", score=0.5))
    counted.add(ended("c", "timeout"))
    counted.add(ended("d", "unavailable"))
    counted.add(ended("e", "timeout"))
    counted.add(ended("f", "harness_error"))
    assert line(counted, 60) == (
        "benchgate: 6 of 60 trials, passed 2, failed 3, without result 1, about 18 min left"
    )


@pytest.mark.parametrize(
    ("left", "text"), [(9, "90 s"), (50, "8 min"), (900, "2 h 30 min"), (0, None)]
)
def test_the_time_left_follows_the_pace(counted, left, text):
    counted.clock.now += 100
    for number in range(10):
        counted.add(ended(str(number)))
    told = line(counted, 10 + left)
    assert told.endswith(f"about {text} left") if text else "left" not in told


def test_what_an_earlier_run_has_finished_does_not_count_for_the_pace(counted):
    for number in range(90):
        counted.add(ended(f"before{number}", seconds=30))
    counted.clock.now += 100
    for number in range(10):
        counted.add(ended(f"now{number}", seconds=30))
    assert line(counted, 120) == "benchgate: 100 of 120 trials, passed 100, about 3 min left"


def test_a_short_line_counts(counted):
    counted.plan(8)
    assert counted.counts(2) == "running 2"
    counted.clock.now += 30
    counted.add(ended("a"))
    counted.add(ended("b", "timeout"))
    counted.add(ended("c", "unavailable"))
    assert counted.counts(4) == "passed 1, failed 1, without result 1, running 4, about 50 s left"
    for case_id in "defg":
        counted.add(ended(case_id))
    assert counted.counts(4).startswith("passed 5, failed 1, without result 1, running 1, about")


def shown(times, line="the line", **settings):
    """Show a line until it was asked for so often; return what was written."""
    reader, writer = os.pipe()
    asked = threading.Semaphore(0)

    def said():
        asked.release()
        return line

    with told_each_minute(said, writer, before="\n", **settings):
        for _ in range(times):
            assert asked.acquire(timeout=20)
    os.write(writer, b"end")
    text = ""
    while not text.endswith("end"):
        text += os.read(reader, 1000).decode()
    os.close(reader)
    os.close(writer)
    return text


def test_a_line_a_minute(monkeypatch):
    monkeypatch.setattr(progress, "QUIET", 0.01)
    assert re.fullmatch(r"(\nthe line\n){2,}end", shown(3))


def test_a_line_that_moves_takes_its_own_place_and_leaves_nothing(monkeypatch):
    monkeypatch.setattr(progress, "MOVING", 0.01)
    assert re.fullmatch(r"(\rthe line\x1b\[K\r){2,}\x1b\[Kend", shown(3, moves=True))
    assert shown(2, line="", moves=True) == "\x1b[Kend"


def test_nothing_is_shown_in_the_first_minute():
    assert progress.QUIET == 60
    assert shown(0) == "end"


def test_a_terminal_that_is_gone_ends_nothing(monkeypatch):
    monkeypatch.setattr(progress, "QUIET", 0.01)
    reader, writer = os.pipe()
    os.close(reader)
    asked = threading.Semaphore(0)
    with told_each_minute(lambda: asked.release() or "the line", writer):
        for _ in range(3):
            assert asked.acquire(timeout=20)
    os.close(writer)
