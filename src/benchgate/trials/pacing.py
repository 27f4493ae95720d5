"""When a trial may start, and when it is tried again because the world outside failed."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import SystemUnavailable

if TYPE_CHECKING:
    from benchgate.trials.executor import TrialRecord, TrialRequest


FIRST_DELAY: Final = 1.0
MAX_DELAY: Final = 60.0
MAX_RETRY_AFTER: Final = 600.0
"""Seconds; a service that asks for more is left unavailable sooner, and the run can be resumed later."""

Pause = Callable[[float], None]
"""Waits some seconds that do not count as the trial's own."""


class Pacing:
    """
    The pace of a session's trials in this process, shared by all of its threads.

    :param retries: further attempts of a trial whose system was unavailable.
    :param max_rpm: attempts started per minute; ``None`` is unlimited.
    """

    def __init__(self, retries: int, max_rpm: float | None) -> None:
        self._retries = retries
        self._interval = 60.0 / max_rpm if max_rpm else 0.0
        self._lock = threading.Lock()
        self._next = 0.0

    def run(
        self, run: Callable[[TrialRequest], TrialRecord], request: TrialRequest, pause: Pause
    ) -> TrialRecord:
        """Run a trial when it is its turn, and again while its system is unavailable."""
        for tried in range(self._retries + 1):
            pause(self._turn())
            record = run(request)
            if record.result.outcome != "unavailable":
                break
            if tried < self._retries:
                pause(delay(tried, record.retry_after))
        if not tried:
            return record
        return replace(record, result=record.result.model_copy(update={"retries": tried}))

    def _turn(self) -> float:
        """Take the next free moment to start, and return the seconds until then."""
        if not self._interval:
            return 0.0
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + self._interval
            return start - now


def delay(tried: int, retry_after: float | None) -> float:
    """
    Return the seconds to wait after a failed attempt: twice as long each time, and never the same for all trials.

    :param retry_after: what the service asked for, in seconds; it wins.
    """
    if retry_after is not None:
        return min(retry_after, MAX_RETRY_AFTER) * random.uniform(1.0, 1.1)  # noqa: S311 - spreads load
    longest: float = min(MAX_DELAY, FIRST_DELAY * 2**tried)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311


def is_unavailable(system: object, error: BaseException) -> bool:
    """
    Whether an exception of a system means that the world outside failed, and not the system.

    The system says so by raising :class:`~benchgate.errors.SystemUnavailable`, or declares it in its attribute
    ``unavailable``: exception types, or a predicate on the exception.
    """
    if isinstance(error, SystemUnavailable):
        return True
    declared: Any = getattr(system, "unavailable", ())
    try:
        if isinstance(declared, (type, tuple)):
            return isinstance(error, declared)
        return bool(declared(error))
    except Exception:  # of the predicate: then the error is the system's own
        return False


def retry_after(error: BaseException) -> float | None:
    """Return the seconds that a service asked to wait, from the exception itself or from its response's headers."""
    found = getattr(error, "retry_after", None)
    if found is None:
        headers: Any = getattr(getattr(error, "response", None), "headers", None)
        found = headers.get("retry-after") if hasattr(headers, "get") else None
    try:
        seconds = float(found)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # absent, or a date
        return None
    return seconds if 0 <= seconds < math.inf else None
