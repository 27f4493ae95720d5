"""Trials side by side: how many run, when they are given up, and what ends with the session."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from benchgate.live import executor as executor_module
from benchgate.live.executor import LiveExecutor


@dataclass(frozen=True)
class Request:
    name: str
    limit: float = 30.0
    trial: int = 0

    @property
    def case(self):
        return self

    @property
    def case_id(self):
        return self.name

    def timed_out(self):
        return f"timeout of {self.name}"


class Answers:
    """Stands for the trials: each waits until it may go on, and returns its name."""

    def __init__(self):
        self.started: list[str] = []
        self.most = 0
        self.go = threading.Event()
        self._lock = threading.Lock()
        self._now = 0

    def __call__(self, request, _):
        with self._lock:
            self.started.append(request.name)
            self._now += 1
            self.most = max(self.most, self._now)
        self.go.wait(20)
        with self._lock:
            self._now -= 1
        return request.name


@pytest.fixture
def answers():
    made = Answers()
    yield made
    made.go.set()


@pytest.fixture
def running(answers):
    made = []

    def start(jobs, run=answers):
        made.append(LiveExecutor(run, jobs))
        return made[-1]

    yield start
    for executor in made:
        executor.close()


def until(condition):
    ends = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.005)


def test_no_more_than_jobs_run_at_once_and_all_are_run(running, answers):
    executor = running(3)
    futures = [executor.submit(Request(str(n))) for n in range(10)]
    until(lambda: len(answers.started) == 3)
    assert sorted(answers.started) == ["0", "1", "2"]
    answers.go.set()
    assert [future.result(20) for future in futures] == [str(n) for n in range(10)]
    assert answers.most == 3


def test_few_trials_need_few_threads(running, answers):
    answers.go.set()
    before = threading.active_count()
    executor = running(50)
    executor.submit(Request("a")).result(20)
    assert threading.active_count() <= before + 2


def test_a_trial_over_its_limit_is_given_up_and_its_place_taken(running, answers):
    executor = running(1)
    late = executor.submit(
        Request("late", limit=0.05)
    )  # over any limit: it waits for the end of the test
    executor.submit(Request("next"))
    assert late.result(20) == "timeout of late"
    until(lambda: answers.started == ["late", "next"])
    answers.go.set()
    assert late.result() == "timeout of late"


@pytest.fixture
def clock(monkeypatch):
    """The clock of the limits, which a test sets ahead; afterwards who watches them has had time to look at it."""
    now = [1000.0]
    monkeypatch.setattr(executor_module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def ahead(seconds, future):
        now[0] += seconds
        for _ in range(20):
            if future and future[0].done():
                return
            time.sleep(0.005)

    return ahead


def test_a_limit_counts_from_the_start_of_the_trial(running, clock):
    futures = []

    def run(request, _):
        clock(25, futures[int(request.name) :])
        return request.name

    executor = running(1, run)
    futures += [executor.submit(Request(str(n), limit=30)) for n in range(4)]
    assert [future.result(20) for future in futures] == [str(n) for n in range(4)]


def test_each_attempt_has_the_whole_limit_and_waiting_takes_none_of_it(running, clock):
    futures = []

    def run(request, pause):
        for _ in range(3):
            clock(25, futures)
            pause(0.001)
        return request.name

    futures.append(running(1, run).submit(Request("a", limit=30)))
    assert futures[0].result(20) == "a"


def test_waiting_between_two_attempts_is_not_the_trials_time(running):
    def run(request, pause):
        pause(1.5)
        return request.name

    assert running(1, run).submit(Request("a", limit=1)).result(20) == "a"


def test_what_must_end_the_session_ends_it_where_it_is_waited_for(running):
    def interrupted(request, pause):
        raise KeyboardInterrupt

    executor = running(2, interrupted)
    with pytest.raises(KeyboardInterrupt):
        executor.submit(Request("a")).result(20)


def test_closing_drops_what_waits_and_does_not_wait_for_what_runs(running, answers):
    executor = running(1)
    first, second = (executor.submit(Request(name)) for name in "ab")
    until(lambda: answers.started == ["a"])
    executor.close()
    assert second.cancelled()
    assert not first.done()
    answers.go.set()
    until(lambda: not any(t.name == "benchgate-trial" for t in threading.enumerate()))
    assert answers.started == ["a"]


def test_the_working_directory_is_restored_and_the_process_kept(running, answers, tmp_path):
    before, real = os.getcwd(), os._exit
    executor = running(2, lambda *_: os.chdir(tmp_path))
    executor.submit(Request("a")).result(20)
    assert os._exit is not real
    executor.close()
    assert os.getcwd() == before
    assert os._exit is real


def test_the_end_of_the_process_is_refused_once_for_all_that_run_beside_each_other(running):
    real = os._exit
    opened = []
    for name in "abc":
        opened.append(running(1, lambda *_: None))
        opened[-1].submit(Request(name)).result(20)
    refusal = os._exit
    assert refusal.real is real
    for executor in opened:
        assert os._exit is refusal
        executor.close()
    assert os._exit is real


def test_what_waits_to_be_tried_again_is_not_tried_when_all_ends(running):
    calls, waits = [], threading.Event()

    def again(request, pause):
        calls.append(request.name)
        waits.set()
        pause(60)
        calls.append("again")

    executor = running(1, again)
    executor.submit(Request("a"))
    assert waits.wait(5)
    executor.close()
    until(lambda: not any(t.name == "benchgate-trial" for t in threading.enumerate()))
    assert calls == ["a"]


def test_a_trial_that_was_given_up_does_not_go_on():
    begun, ended = threading.Event(), threading.Event()

    def run(request, pause):
        begun.set()
        time.sleep(0.3)
        try:
            pause(0.0, request)
        finally:
            ended.set()
        begun.clear()  # the next observation, which would be paid for

    executor = LiveExecutor(run, 1, grace=0.0)
    assert executor.submit(Request("late", limit=0.05)).result(10) == "timeout of late"
    assert ended.wait(10)
    executor.close()
    assert begun.is_set()
