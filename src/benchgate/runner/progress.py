"""Tells on a long run how far it is: in a line a minute, or in one that moves."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from benchgate.errors import counted
from benchgate.wording import moving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.models import TrialResult


QUIET: Final = 60.0
"""Seconds before the first line, and between two lines."""
MOVING: Final = 0.2
"""The same of a line that moves."""

NO_SCORE: Final = frozenset({"skipped", "not_run", "unavailable"})
"""Outcomes that say nothing about the system."""


class Progress:
    """Counts the trials of a run as they end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._outcomes: Counter[str] = Counter()
        self._passed = 0
        self._ran = 0
        self._total = 0

    def plan(self, total: int) -> None:
        """Note how many trials are planned."""
        self._total = total

    def add(self, result: TrialResult) -> None:
        """Count a trial."""
        self._outcomes[result.outcome] += 1
        self._passed += result.passed
        # What an earlier run has finished says nothing about the pace of this one.
        self._ran += result.duration_seconds <= self._clock() - self._started

    def line(self) -> str:
        """Return how far the run is; numbers only, and nothing before it is known how many trials there are."""
        if not self._total:
            return ""
        done = f"benchgate: {self._outcomes.total()} of {counted(self._total, 'trial')}"
        return ", ".join(filter(None, (done, self.counts())))

    def counts(self, most: int = 0) -> str:
        """
        Return how many trials passed, failed and run, as short as it can be said.

        :param most: trials that may run at once; 0 if that is not known.
        """
        outcomes = Counter(dict(self._outcomes))  # at once: trials are added in another thread
        done = outcomes.total()
        unknown = sum(outcomes[outcome] for outcome in NO_SCORE)
        counts = {"passed": self._passed, "failed": done - self._passed - unknown}
        counts |= {"without result": unknown, "running": min(most, self._total - done)}
        left = None
        if self._ran:
            pace = (self._clock() - self._started) / self._ran
            left = pace * (self._total - done)
        return moving(counts, left)


@contextmanager
def told_each_minute(
    line: Callable[[], str], descriptor: int, before: str = "", *, moves: bool = False
) -> Iterator[None]:
    """
    Write a line every minute, in a thread of its own: a trial may take longer than that.

    :param line: returns it; empty if there is nothing to say.
    :param descriptor: where to write it.
    :param before: what ends a line that others have begun.
    :param moves: write it at once, again and again in its place, and take it away at the end.
    """
    over = threading.Event()
    form = f"{before}{{}}\n"
    pause = QUIET
    if moves:
        # The cursor stays at the beginning: whatever else is printed takes the place of the line.
        form = "\r{}\x1b[K\r"
        pause = MOVING

    def tell() -> None:
        while not over.wait(pause):
            text = line()
            if text:
                with suppress(OSError):  # of a terminal that is gone
                    os.write(descriptor, form.format(text).encode())
        if moves:
            with suppress(OSError):
                os.write(descriptor, b"\x1b[K")

    thread = threading.Thread(target=tell, name="benchgate-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()  # nothing is written to a number that another file has by then
