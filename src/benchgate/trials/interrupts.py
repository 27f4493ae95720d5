"""Makes SIGTERM and SIGHUP end a run as Ctrl-C does, and lets none of them tear what is being written."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Self

from benchgate.trials.time_limit import in_main_thread

if TYPE_CHECKING:
    from collections.abc import Iterator


SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)

SAME: Final = 1.0
"""Seconds within which a further signal is the same request: a terminal that closes and ``timeout`` send several."""


class Interrupts:
    """
    Handles signals that ask to stop: the first raises KeyboardInterrupt, a second one ends the process at once.

    Works in the main thread only, and only in place of the default action: what somebody handles or ignores stays so.
    """

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._first: float | None = None
        self._held = False

    def __enter__(self) -> Self:
        """Handle the signals."""
        if in_main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self)
        return self

    def __exit__(self, *_: object) -> None:
        """Give those that are still ours their default action back."""
        for number in SIGNALS:
            if signal.getsignal(number) is self:
                signal.signal(number, signal.SIG_DFL)

    def __call__(self, number: int, _: object) -> None:
        """Act on a signal."""
        now = time.monotonic()
        if os.getpid() != self._owner:  # a child that a system forked
            _default(number)
        elif self._first is None:
            self._first = now
            if not self._held:
                raise KeyboardInterrupt
        elif now - self._first > SAME:
            _default(number)

    @property
    def came(self) -> bool:
        """Whether a signal came."""
        return self._first is not None

    def check(self) -> None:
        """Raise KeyboardInterrupt again if a system has swallowed it."""
        if self.came:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let the block finish: what comes meanwhile, Ctrl-C too, is raised at its end."""
        before = self._first
        self._held = True
        is_python = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if is_python:
            signal.signal(signal.SIGINT, self)
        try:
            yield
        finally:
            self._held = False
            if is_python:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._first != before:
            raise KeyboardInterrupt


@contextmanager
def finishing() -> Iterator[None]:
    """Let the block finish before a signal is heard; a second signal still ends the process at once."""
    if not in_main_thread():
        yield
        return
    interrupts = Interrupts()  # holds back Ctrl-C alone, where nobody handles the other signals
    for number in SIGNALS:
        handler = signal.getsignal(number)
        if isinstance(handler, Interrupts):
            interrupts = handler
            break
    with interrupts.held():
        yield


def _default(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
