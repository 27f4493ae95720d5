"""When a trial may start, and when it is tried again because the world outside failed."""

from __future__ import annotations

import math
import random
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from benchgate.errors import SystemUnavailable
from benchgate.trials.planned import AFTER_VIOLATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.models import TrialResult
    from benchgate.trials.executor import Stage, TrialRecord, TrialRequest


FIRST_DELAY: Final = 1.0
MAX_DELAY: Final = 60.0
"""Seconds before the first further try, and before any."""

MAX_RETRY_AFTER: Final = 600.0
"""Seconds; if a service asks for more, the trial is not tried again, and the run can be resumed later."""

_SPREAD: Final = random.SystemRandom()
"""A system may seed the usual one, and then all trials would wait alike."""


class Pause(Protocol):
    """Waits some seconds that do not count as the trial's own, and gives it its whole time limit again."""

    def __call__(self, seconds: float, following: TrialRequest | None = None, /) -> None:
        """Wait; ``following`` is what runs next, if more of the trial is done than before."""


class Turns:
    """
    The moments at which attempts may start, shared by all threads of a process.

    :param max_rpm: attempts per minute; ``None`` is unlimited.
    """

    def __init__(self, max_rpm: float | None) -> None:
        self._interval = 60.0 / max_rpm if max_rpm else 0.0
        self._lock = threading.Lock()
        self._next = 0.0

    def take(self) -> float:
        """Take the next free moment, and return the seconds until then."""
        if not self._interval:
            return 0.0
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + self._interval
            return start - now


class Pacing:
    """
    The pace of trials: when each may start, and how often it is tried again.

    None of a class starts once its rubric has broken its contract.

    :param retries: further attempts of a trial whose system was unavailable.
    :param affords: whether a further one may be paid for, after those that had this result; it is told what was done
        of the trial before.
    :param keep: keeps what is done of a trial that goes on, so that it is not asked and paid for again.
    """

    def __init__(
        self,
        retries: int,
        turns: Turns,
        affords: Callable[[TrialResult, TrialRecord | None], bool] = lambda *_: True,
        keep: Callable[[TrialRecord, TrialRequest], object] = lambda *_: None,
    ) -> None:
        self._retries = retries
        self._turns = turns
        self._affords = affords
        self._keep = keep
        self._violations: dict[str, str] = {}

    def run(
        self, run: Callable[[TrialRequest], TrialRecord], request: TrialRequest, pause: Pause
    ) -> TrialRecord:
        """Run a trial when it is its turn, and again while its system is unavailable; each observation likewise."""
        tried = 0  # of the stage: each observation has all tries
        retries = 0  # of the trial, for its result
        before = request.then
        while True:
            wait = self._turns.take()
            if wait:
                pause(wait)
            record = self._attempted(run, request)
            stage = left = request.stage
            if record.awaits_score:
                request = request.after(record)  # with what it has used
                left = request.stage
            if left.kind == "observe" and left != stage:
                pause(0.0, request)  # it has the whole limit again
                self._keep(record, request)
                tried = 0
                continue
            is_over = tried == self._retries or not _is_to_be_tried(record, left, stage)
            if is_over or not self._affords(record.result, before):
                break
            pause(delay(tried, record.retry_after), request)
            tried += 1
            retries += 1
        if not retries:
            return record
        retries += record.result.retries  # of a worker that was lost
        return replace(record, result=record.result.model_copy(update={"retries": retries}))

    def _attempted(
        self, run: Callable[[TrialRequest], TrialRecord], request: TrialRequest
    ) -> TrialRecord:
        why = self._violations.get(request.case.task_class)
        if why is not None:
            return request.not_run(f"{AFTER_VIOLATION}{why}", why="after_violation")
        record = run(request)
        if record.violation:
            self._violations[request.case.task_class] = record.violation
        return record


def _is_to_be_tried(record: TrialRecord, left: Stage, stage: Stage) -> bool:
    """
    Whether the stage that was run is worth another try.

    :param left: the stage that is next now. If it is another one, this one was done, and what scores was unavailable.
    """
    is_away = record.result.outcome == "unavailable" and left == stage
    return is_away and (record.retry_after or 0) <= MAX_RETRY_AFTER


def delay(tried: int, retry_after: float | None) -> float:
    """
    Return the seconds to wait after a failed attempt: twice as long each time, and never the same for all trials.

    :param retry_after: what the service asked for, in seconds; it wins, unless it is 0.
    """
    if retry_after:
        return retry_after * _SPREAD.uniform(1.0, 1.1)
    longest: float = min(MAX_DELAY, FIRST_DELAY * 2**tried)
    return longest * _SPREAD.uniform(0.5, 1.0)


def is_unavailable(system: object, error: BaseException) -> bool:
    """
    Whether an exception of a system means that the world outside failed, and not the system.

    System and rubric say so by raising :class:`~benchgate.errors.SystemUnavailable`; a system may declare it instead,
    in its attribute ``unavailable``: exception types, or a predicate on the exception.
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
    """
    Return the seconds that a service asked to wait; ``None`` if it asked for nothing that can be read.

    They stand in the exception's own ``retry_after``, or in the header ``Retry-After`` of the exception or of its
    ``response``, as seconds or as a date (RFC 9110, 10.2.3).
    """
    found: Any = getattr(error, "retry_after", None)
    for source in (getattr(error, "response", None), error):
        headers: Any = getattr(source, "headers", None)
        if found is None and hasattr(headers, "items"):
            found = next((v for k, v in headers.items() if str(k).lower() == "retry-after"), None)
    try:
        seconds = float(found)
    except (TypeError, ValueError):
        seconds = _until(found)
    return seconds if 0 <= seconds < math.inf else None


def _until(date: object) -> float:
    from email.utils import parsedate_to_datetime

    try:
        then = parsedate_to_datetime(str(date))
        return max(0.0, then.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return math.nan
