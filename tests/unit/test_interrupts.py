"""Signals that ask to stop, as one process sees them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext

import pytest

from benchgate.trials import interrupts
from benchgate.trials.interrupts import Interrupts, finishing


@pytest.fixture(autouse=True)
def default_actions():
    """Whatever runs the tests may have handlers of its own."""
    before = {n: signal.signal(n, signal.SIG_DFL) for n in interrupts.SIGNALS}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_only_the_default_action_is_replaced_and_it_is_given_back():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Interrupts() as stopping:
        assert signal.getsignal(signal.SIGTERM) is stopping
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_that_a_system_sets_meanwhile_stays():
    with Interrupts():
        signal.signal(signal.SIGTERM, print)
    assert signal.getsignal(signal.SIGTERM) is print


def test_a_thread_has_no_signals():
    def use():
        with Interrupts(), finishing():
            seen.append(signal.getsignal(signal.SIGTERM))

    seen = []
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


def finish(number, done):
    with finishing():
        os.kill(os.getpid(), number)
        time.sleep(0.01)
        done.append("written")


@pytest.mark.parametrize(
    ("stopping", "number"),
    [
        (Interrupts, signal.SIGTERM),
        (Interrupts, signal.SIGINT),
        (nullcontext, signal.SIGINT),  # as a library, which leaves SIGTERM alone
    ],
)
def test_a_block_that_finishes_something_is_not_torn(number, stopping):
    done = []
    with stopping():
        with pytest.raises(KeyboardInterrupt):
            finish(number, done)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert done == ["written"]


def test_an_interrupt_that_was_swallowed_is_raised_again():
    with Interrupts() as stopping:
        stopping.check()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            stopping.check()


FORKS = """
import os, signal, sys, time
from benchgate.trials.interrupts import Interrupts

with Interrupts():
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(tell, b"!")  # before it, Python would drop the signal
        time.sleep(60)
        os._exit(1)
    os.read(ready, 1)
    os.kill(child, signal.SIGTERM)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGTERM)
"""


def test_a_forked_child_is_ended_as_without_us():
    subprocess.run([sys.executable, "-c", FORKS], check=True, timeout=60)
