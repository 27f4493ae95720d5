"""Tells on a long run how far it is: a line a minute, or on a terminal one line that stays and changes."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Self

from benchgate.wording import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.models import TrialResult


QUIET: Final = 60.0
"""Seconds before the first line, and between two lines that stay."""

NO_SCORE: Final = frozenset({"skipped", "not_run", "unavailable"})
"""Outcomes that say nothing about the system; any other without a score counts as 0, as in the report."""

BELOW: Final = "\x1bD\x1b[A\x1b7\r\n{}\x1b[K\x1b8"
"""Writes below the cursor and leaves that where it is: make room, save; the text, erase to its right; restore."""


def is_terminal(descriptor: int) -> bool:
    """Whether a line can be shown below the cursor there."""
    return os.isatty(descriptor) and os.environ.get("TERM", "dumb") != "dumb"


class Progress:
    """Counts the trials of a run as they end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._outcomes: Counter[str] = Counter()
        self._points = 0.0
        self._ran = self._total = 0

    def plan(self, total: int) -> None:
        """Note how many trials are planned."""
        self._total = total

    def add(self, result: TrialResult) -> None:
        """Count a trial."""
        self._outcomes[result.outcome] += 1
        self._points += result.score.score if result.score else 0.0
        # What an earlier run has finished says nothing about the pace of this one.
        self._ran += result.duration_seconds <= self._clock() - self._started

    def line(self) -> str:
        """Return how far the run is; numbers and names of outcomes only."""
        done = self._outcomes.total()
        judged = done - sum(self._outcomes[outcome] for outcome in NO_SCORE)
        pace = (self._clock() - self._started) / self._ran if self._ran else None
        return progress(
            done,
            self._total,
            mean=self._points / judged if judged else None,
            outcomes={name: n for name, n in self._outcomes.items() if name != "scored"},
            seconds_left=None if pace is None else pace * (self._total - done),
        )


class ProgressDisplay:
    """
    Shows a line, from a minute after its start on, in a thread of its own: a trial may take longer than that.

    :param line: returns it.
    :param descriptor: where to write it; it is not closed.
    :param is_live: show one line below the cursor of a terminal, every second anew; else a line every minute.
    :param before: what ends a line that others have begun.
    """

    def __init__(
        self, line: Callable[[], str], descriptor: int, *, is_live: bool, before: str = ""
    ) -> None:
        self._line = line
        self._descriptor = descriptor
        self._is_live = is_live
        self._before = before
        self._lock = threading.RLock()
        self._is_shown = self._has_begun = False
        self._over = threading.Event()

    def __enter__(self) -> Self:
        """Start."""
        threading.Thread(target=self._run, name="benchgate-progress", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """End, and leave no line below the cursor."""
        self._over.set()
        with self.hidden():
            pass

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Take the live line away while others write; there is none before the first time."""
        with self._lock:
            self._has_begun = True
            if self._is_shown:
                self._write(BELOW.format(""))
                self._is_shown = False
            yield

    def _run(self) -> None:
        pause = QUIET
        while not self._over.wait(pause):
            pause = 1.0 if self._is_live else QUIET
            with self._lock:
                if not self._over.is_set():
                    self._show()

    def _show(self) -> None:
        if not self._is_live:
            self._write(f"{self._before}{self._line()}\n")
            return
        if not self._has_begun:
            return
        with suppress(OSError):
            width = os.get_terminal_size(self._descriptor).columns or 80  # 0 is not known
            self._write(BELOW.format(self._line()[: width - 1]))
            self._is_shown = True

    def _write(self, text: str) -> None:
        with suppress(OSError):  # of a terminal that is gone
            os.write(self._descriptor, text.encode())
