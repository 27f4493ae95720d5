"""The threads behind ``asyncio.to_thread``."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchgate.live.helpers import MOST, HelperThreads
from benchgate.live.loop import SessionLoop
from benchgate.trials.time_limit import TrialTimeout


@pytest.fixture
def pool():
    made = HelperThreads()
    yield made
    made.shutdown()


def test_results_and_errors_come_back(pool):
    assert list(pool.map(str, range(100), timeout=20)) == [str(n) for n in range(100)]
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 / 0).result(20)


def test_a_free_thread_is_used_again_and_there_are_never_too_many(pool):
    names = set()

    def work():
        names.add(threading.current_thread())
        time.sleep(0.001)

    for _ in range(20):
        pool.submit(work).result(20)
        assert pool._free.acquire(timeout=20)  # until its thread is free
        pool._free.release()
    assert len(names) == 1
    for future in [pool.submit(work) for _ in range(10 * MOST)]:
        future.result(20)
    assert len(names) <= MOST


def test_no_thread_outlives_the_loop():
    async def work():
        await asyncio.to_thread(time.sleep, 0.01)

    loop = SessionLoop()
    loop.wait(work(), 20)
    loop.close()
    ends = time.monotonic() + 20
    while any(t.name == "benchgate-helper" for t in threading.enumerate()):
        assert time.monotonic() < ends, "still there"
        time.sleep(0.005)


HANGS = """
import time
from benchgate.live.helpers import HelperThreads

HelperThreads().submit(time.sleep, 600)
"""


def test_a_hung_thread_does_not_hold_up_the_end_of_the_process():
    subprocess.run([sys.executable, "-c", HANGS], check=True, timeout=60)


def test_calls_that_hang_after_their_trial_was_given_up_leave_room_for_others():
    threads, hangs = HelperThreads(), threading.Event()
    hung = [threads.submit(hangs.wait, 20) for _ in range(MOST)]
    while not all(call.running() for call in hung):
        time.sleep(0.01)
    assert not any(call.cancel() for call in hung)
    assert threads.submit(lambda: "answer").result(5) == "answer"
    hangs.set()
    threads.shutdown()


def test_a_loop_that_is_closed_is_not_opened_again():
    loop = SessionLoop()
    loop.close()

    async def late():
        return 1

    coroutine = late()
    with pytest.raises(TrialTimeout):
        loop.wait(coroutine, 1)
    coroutine.close()


def stops():
    asyncio.get_running_loop().stop()


def exits():
    asyncio.get_running_loop().call_soon(sys.exit, 3)


@pytest.mark.parametrize("harm", [stops, exits])
def test_a_system_that_ends_the_loop_ends_no_other_trial(harm):
    loop = SessionLoop()
    begun = asyncio.Event()
    harmed = asyncio.Event()

    async def innocent():
        begun.set()
        await harmed.wait()
        return "innocent"

    async def guilty():
        await begun.wait()
        harm()
        harmed.set()
        await asyncio.sleep(0)
        return "guilty"

    with ThreadPoolExecutor() as threads:
        beside = threads.submit(loop.wait, innocent(), 20)
        assert loop.wait(guilty(), 20) == "guilty"
        assert beside.result(20) == "innocent"
    assert loop.wait(innocent(), 20) == "innocent"
    loop.close()


def test_a_loop_that_a_system_closed_is_replaced():
    loop = SessionLoop()

    async def innocent():
        return asyncio.get_running_loop()

    first = loop.wait(innocent(), 20)
    first.run_forever = first.close  # between two runs: no other moment lets anybody close it
    first.call_soon_threadsafe(first.stop)
    while not first.is_closed():
        time.sleep(0.001)
    second = loop.wait(innocent(), 20)
    assert second is not first
    loop.close()
