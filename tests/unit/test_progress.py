"""How far a run is: what the line says, and when it is shown."""

from __future__ import annotations

import os
import pty
import re
import threading

import pytest

from benchgate.models import BenchScore, TrialResult
from benchgate.runner import progress
from benchgate.runner.progress import BELOW, Progress, ProgressDisplay


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


def test_trials_mean_errors_and_time(counted):
    counted.clock.now += 120
    counted.add(ended("a", score=1.0))
    counted.add(ended("b", score=0.5))
    counted.add(ended("c", "timeout"))
    counted.add(ended("d", "unavailable"))
    counted.add(ended("e", "timeout"))
    counted.add(ended("f", "harness_error"))
    assert line(counted, 60) == (
        "benchgate: 6 of 60 trials, mean score 0.300, 1 harness_error, 2 timeout, 1 unavailable, about 18 min left"
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
    assert line(counted, 120) == "benchgate: 100 of 120 trials, mean score 1.000, about 3 min left"


@pytest.fixture
def shown(monkeypatch):
    """Show a line for some time; return what was written."""

    def show(within, *, is_live, quiet=0.05):
        monkeypatch.setattr(progress, "QUIET", quiet)
        reader, writer = pty.openpty() if is_live else os.pipe()
        with ProgressDisplay(lambda: "the line", writer, is_live=is_live, before="\n") as display:
            within(display)
        os.write(writer, b"end")
        text = ""
        while not text.endswith("end"):
            text += os.read(reader, 1000).decode()
        return text.replace("\r\r\n", "\r\n")  # a terminal adds one

    return show


def wait(_):
    threading.Event().wait(0.2)


def begin(display):
    with display.hidden():
        pass
    wait(display)


def test_lines_stay_where_there_is_no_terminal(shown):
    assert re.fullmatch(r"(\nthe line\n){2,}end", shown(wait, is_live=False))


def test_nothing_is_shown_in_the_first_minute(shown):
    assert progress.QUIET == 60
    assert shown(wait, is_live=False, quiet=60) == "end"


def test_one_line_below_the_cursor_of_a_terminal_is_taken_away_at_the_end(shown):
    there, gone = BELOW.format("the line"), BELOW.format("")
    assert shown(begin, is_live=True) == f"{there}{gone}end"


def test_the_live_line_is_away_while_others_write(shown):
    def write(display):
        begin(display)
        with display.hidden():
            os.write(display._descriptor, b"others")

    there, gone = BELOW.format("the line"), BELOW.format("")
    assert shown(write, is_live=True) == f"{there}{gone}othersend"


def test_there_is_no_live_line_before_the_first_item(shown):
    assert shown(wait, is_live=True) == "end"
