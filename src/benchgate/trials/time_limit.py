"""The time limit of a trial outside pytest, where no pytest-timeout keeps it."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator


class TrialTimeout(BaseException):
    """The time limit of a trial has passed. Not an Exception: ``except Exception`` in a system must not catch it."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise :class:`TrialTimeout` in the block after some seconds; main thread only."""
    if threading.current_thread() is not threading.main_thread():
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
