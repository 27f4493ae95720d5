"""The time limit of a trial outside pytest, where no pytest-timeout keeps it, and what ends a trial that ignores it."""

from __future__ import annotations

import faulthandler
import math
import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator


class TrialTimeout(BaseException):
    """The time limit of a trial has passed. Not an Exception: ``except Exception`` in a system must not catch it."""


def ends_after(limit: float) -> float:
    """Return the seconds after which a :class:`Backstop` ends the process of a trial, or a little earlier."""
    return limit + min(max(limit, 5.0), 60.0)


QUICK: Final = 0.1
LONG: Final = 300.0
"""Seconds. The next trial gets the timer of one that took less than QUICK, if that timer has more than LONG left."""


class Backstop:
    """
    Ends this process, with a traceback, if a trial runs on after its limit: it blocked the alarm, or hangs in C code.

    It may run on for as long as its limit, taken as at least 5 and at most 60 seconds, and for half of that at least.
    Where there is no alarm, and under a debugger, which may stop for longer, nothing ends.

    A timer is a thread of its own: to start and end one takes longer than a trivial trial. So the timer of a quick
    trial serves the next ones too; call :meth:`release` before anything else that may take minutes.

    :param stderr: descriptor that the traceback is written to.
    :param keep: whether trials follow each other at once.
    """

    def __init__(self, stderr: int = 2, *, keep: bool = True) -> None:
        self._stderr = stderr
        self._keep = keep
        self._end = 0.0  # of time.monotonic(); 0 without a timer

    @contextmanager
    def over(self, limit: float) -> Iterator[None]:
        """Guard a trial."""
        if not in_main_thread() or _is_debugged():
            self.release()
            yield
            return
        started = time.monotonic()
        most = ends_after(limit)
        # A timer that was kept serves this trial if it ends neither too early for it nor too late.
        is_kept = (limit + most) / 2 <= self._end - started <= most
        if not is_kept:
            self._end = started + most
            faulthandler.dump_traceback_later(most, file=self._stderr, exit=True)
        kept = False
        try:
            yield
            now = time.monotonic()
            kept = self._keep and now - started < QUICK and self._end - now > LONG
        finally:
            if not kept:
                self.release()

    def until(self, deadline: float, limit: float) -> None:
        """
        Guard trials in threads instead: end this process if this is not called again soon after a deadline.

        :param deadline: when the first of them is over its limit, by time.monotonic(); infinite if none runs.
        """
        extra = ends_after(limit) - limit
        if math.isinf(deadline) or _is_debugged():
            self.release()
        # Set again only where it would end too early or too late: each timer is a thread.
        elif not extra / 2 <= self._end - deadline <= extra:
            self._end = deadline + extra
            seconds = max(self._end - time.monotonic(), extra / 2)
            faulthandler.dump_traceback_later(seconds, file=self._stderr, exit=True)

    def release(self) -> None:
        """End the timer."""
        if self._end:
            self._end = 0.0
            faulthandler.cancel_dump_traceback_later()


def in_main_thread() -> bool:
    """Whether this is the thread that signals reach."""
    return threading.current_thread() is threading.main_thread()


def _is_debugged() -> bool:
    monitoring = getattr(sys, "monitoring", None)  # what debuggers use since Python 3.12
    trace = sys.gettrace()
    by = getattr(trace, "__module__", None) or type(trace).__module__
    is_traced = trace is not None and not by.startswith("coverage")  # which never stops
    return is_traced or bool(monitoring and monitoring.get_tool(monitoring.DEBUGGER_ID))


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise :class:`TrialTimeout` in the block after some seconds; main thread only."""
    if not in_main_thread():
        yield
        return

    def ring(signum: int, frame: object) -> NoReturn:  # noqa: ARG001 - the signature is signal's
        msg = f"timed out after {seconds:g} s"
        raise TrialTimeout(msg)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def time_left(limit: float) -> float:
    """Return how long a trial may run from now: an alarm that was set a little earlier also rings a little earlier."""
    left = signal.getitimer(signal.ITIMER_REAL)[0] if in_main_thread() else 0.0
    return min(limit, left) if left else limit


def sleep_unlimited(seconds: float, limit: float) -> None:
    """Sleep without using up the time limit that an alarm keeps; afterwards all of it is left again."""
    if not in_main_thread():
        time.sleep(seconds)
        return
    is_set = signal.setitimer(signal.ITIMER_REAL, 0)[0] > 0
    try:
        time.sleep(seconds)
    finally:
        if is_set:
            signal.setitimer(signal.ITIMER_REAL, limit)
