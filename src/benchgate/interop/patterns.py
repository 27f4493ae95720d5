"""Regular expressions that somebody gave: searched under a limit of time, and what their groups found."""

from __future__ import annotations

import re
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NoReturn

from benchgate.errors import EvalError
from benchgate.trials.time_limit import in_main_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT: Final = 1.0
"""CPU seconds in which one expression may search all values of a log."""


class TooSlow(EvalError):
    """A regular expression that takes too long."""


class Pattern:
    """
    A regular expression, and how much longer it may search.

    Some expressions, such as ``(a+)+$``, take twice as long for each character more, so a limit of length helps nobody:
    24 characters take a second. The limit holds in the main thread, the only one that signals reach.

    :param what: the option that it was given by, for messages.
    :raises EvalError: it is no regular expression.
    """

    def __init__(self, what: str, text: str) -> None:
        self.text = text
        self._what = what
        self._left = LIMIT
        try:
            self._pattern = re.compile(text)
        except re.error as error:
            raise EvalError(f"{what}: '{text}' is no regular expression: {error}") from None

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return self._pattern.groups

    def search(self, value: str) -> re.Match[str] | None:
        """
        Return the first match in a text.

        :raises TooSlow: all searches together took more than :data:`LIMIT`.
        """
        with self._limited():
            return self._pattern.search(value)

    def part_of(self, value: str) -> str | None:
        """Return what the groups found in a text, joined; ``None`` if the expression does not match."""
        match = self.search(value)
        if match is None:
            return None
        return "".join(part or "" for part in match.groups())

    @contextmanager
    def _limited(self) -> Iterator[None]:
        if not in_main_thread():
            yield
            return

        def ring(signum: int, frame: object) -> NoReturn:  # noqa: ARG001 - the signature is signal's
            raise self._slow()

        if self._left <= 0:
            raise self._slow()
        # The timer of CPU time: a machine that is busy with other things cuts nobody short, and the timer of real time
        # may be in use by whoever limits the tests that this runs in.
        before = signal.signal(signal.SIGVTALRM, ring)
        signal.setitimer(signal.ITIMER_VIRTUAL, self._left)
        started = time.process_time()
        try:
            yield
        finally:
            # Not what the timer says is left: the kernel adds a tick each time that it is set.
            self._left -= time.process_time() - started
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)

    def _slow(self) -> TooSlow:
        why = f"'{self.text}' took more than {LIMIT:g} s of CPU time over all values"
        return TooSlow(f"{self._what}: {why}; expected an expression without nested repeats")
