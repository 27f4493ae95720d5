"""Which classes of a session share a pace and a cap, what runs their trials, and who has the one timer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchgate.errors import EvalError
from benchgate.live.executor import LiveExecutor
from benchgate.live.in_turn import InTurn
from benchgate.results.rules import REOBSERVE, REPLAY
from benchgate.runner.lane import Lanes, LaneTerms
from benchgate.runner.service import TrialService


class FakeBackstop:
    def until(self, deadline, limit):
        pass

    def release(self):
        pass


def request(jobs=1, *, retries=3, max_rpm=None, max_cost_usd=None, call=None, recording=None):
    settings = SimpleNamespace(
        jobs=jobs,
        retries=retries,
        max_rpm=max_rpm,
        max_cost_usd=max_cost_usd,
        isolation="none",
        executor=None,
    )
    return SimpleNamespace(
        settings=settings,
        recording=recording,
        systems={
            "candidate": SimpleNamespace(
                name="echo", call=call, concurrency=getattr(call, "concurrency", "any")
            )
        },
        observed_by=lambda: None,
        processes=None,
        notes=tuple,
    )


def recording(*, observed):
    return SimpleNamespace(rule=REOBSERVE if observed else REPLAY)


@pytest.fixture
def opened(monkeypatch):
    """Open a service on some classes; ``processes`` have their trials run in processes of their own."""
    services_made = []

    def open_service(*requests, processes=(), own=None):
        for run in processes:
            run.processes = object()
        runs = {f"class-{number}": run for number, run in enumerate(requests)}
        service = TrialService(runs, backstop=FakeBackstop(), workers=2)
        services_made.append(service)
        service.open(own)
        return service

    yield open_service
    for service in services_made:
        service.close()


def lanes(service):
    return [served.lane for served in service._classes.values()]


def timers(service):
    return [lane.executor._backstop for lane in lanes(service)]


def test_classes_of_the_same_terms_share_a_lane(opened):
    first, second, other = lanes(opened(request(), request(), request(retries=1)))
    assert first is second
    assert other is not first
    assert other.spending is first.spending


def test_rate_and_cap_are_shared_by_whoever_has_them_in_common():
    made = Lanes(2, lambda *_: None)
    one = made.of(LaneTerms(1, 3, 60, 5.0, is_isolated=False))
    more = made.of(LaneTerms(4, 3, 60, 5.0, is_isolated=False))
    slower = made.of(LaneTerms(1, 3, 30, 6.0, is_isolated=False))
    assert one is not more
    assert one.pacing._turns is more.pacing._turns
    assert one.spending is more.spending
    assert slower.pacing._turns is not one.pacing._turns
    assert slower.spending is not one.spending
    assert one.pacing._turns._interval == 2.0  # each of the two processes has half the rate


@pytest.mark.parametrize(("observed", "pays"), [(False, False), (True, True)])
def test_a_replay_that_observes_nothing_has_neither_rate_nor_cap(observed, pays):
    run = request(max_rpm=60, max_cost_usd=5.0, recording=recording(observed=observed))
    terms = LaneTerms.of(run, is_isolated=False)
    assert (terms.max_rpm, terms.max_cost_usd) == ((60, 5.0) if pays else (None, None))


def test_one_job_runs_in_the_calling_thread_and_several_in_threads(opened):
    in_turn, threads = lanes(opened(request(), request(jobs=3)))
    assert isinstance(in_turn.executor, InTurn)
    assert isinstance(threads.executor, LiveExecutor)


def test_the_first_lane_of_threads_has_the_timer(opened):
    service = opened(request(jobs=2), request(jobs=3))
    assert timers(service) == [service._backstop, None]
    assert service._guarded is lanes(service)[0].executor


def test_no_thread_has_the_timer_if_a_class_runs_in_turn(opened):
    service = opened(request(), request(jobs=2))
    threads = lanes(service)[1].executor
    assert threads._backstop is None
    assert service._guarded is threads


def test_processes_leave_the_timer_to_threads(opened):
    first = request(jobs=2)
    service = opened(first, request(jobs=2), processes=[first])
    assert timers(service) == [None, service._backstop]
    assert lanes(service)[0].executor._grace == float("inf")
    assert service._guarded is lanes(service)[1].executor


def test_one_job_in_a_process_of_its_own_is_waited_for_in_a_thread(opened):
    run = request()
    service = opened(run, processes=[run])
    assert isinstance(lanes(service)[0].executor, LiveExecutor)
    assert service._guarded is None


def test_an_executor_of_ones_own_runs_all_and_is_closed_once(opened):
    closed = []
    own = SimpleNamespace(close=lambda: closed.append(1))
    service = opened(request(), request(jobs=2), own=own)
    assert [lane.executor for lane in lanes(service)] == [own, own]
    service.close()
    assert closed == [1]


def test_what_must_run_alone_is_refused_only_where_jobs_run_side_by_side(opened):
    def system(case):
        return {}

    system.concurrency = "none"
    opened(request(call=system))
    opened(request(jobs=2, call=system), own=SimpleNamespace(close=lambda: None))
    with pytest.raises(EvalError, match="jobs=2: system echo says concurrency = 'none'"):
        opened(request(jobs=2, call=system))
