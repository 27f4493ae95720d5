"""How much the trials of a session may cost: whether another one may start."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import cost_of
from benchgate.wire.usage import usd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchgate.models import TrialResult
    from benchgate.trials.executor import TrialRecord, TrialRequest


POLL: Final = 0.02
"""Seconds between two looks whether there is room again."""


class Spending:
    """
    What the trials of this process have cost, and whether another one may start.

    It may if the cap would hold although it, and each that runs, cost as much as the dearest so far. Until a cost is
    known, one runs at a time. One that would not fit waits for those that run; with none, it does not run at all.

    :param cap: of the session, in US dollars; ``None`` is no cap.
    :param workers: processes that share it; each has an equal part.
    """

    def __init__(self, cap: float | None, workers: int = 1) -> None:
        self._cap = cap
        self._workers = workers
        # Sums of floats are a little off.
        self._share = math.inf if cap is None else cap / workers * (1 + 1e-9)
        self._lock = threading.Lock()
        self._spent = 0.0
        self._dearest: float | None = None
        self._in_flight = 0

    def before(self, costs: Iterable[float]) -> None:
        """Count what trials have cost that are taken over from an earlier run."""
        for cost in costs:
            self._spent += cost / self._workers
            self._dearest = max(cost, self._dearest or 0.0)

    def has_room(self) -> bool:
        """Return whether a trial may start before the ones ahead of it are reported: none until a cost is known."""
        return self._cap is None or (self._dearest is not None and self._fits())

    def _fits(self) -> bool:
        if self._cap is None:
            return True
        if self._dearest is None:
            return not self._in_flight
        return self._spent + self._dearest * (self._in_flight + 1) <= self._share

    def affords(self, result: TrialResult, then: TrialRecord | None = None) -> bool:
        """
        Return whether a trial that runs may be tried again: its attempts so far count as spent, as the next will.

        :param then: what was done of it before it was asked for.
        """
        so_far = _paid(result, then) or 0.0
        with self._lock:
            dearest = max(so_far, self._dearest or 0.0)
            return self._spent + so_far + dearest * self._in_flight <= self._share

    def lost(self) -> bool:
        """Count a trial of which nobody knows what it cost as the dearest; return whether it may be tried again."""
        with self._lock:
            dearest = self._dearest or 0.0
            self._spent += dearest
            return self._spent + dearest * self._in_flight <= self._share

    def enter(
        self, request: TrialRequest, pause: Callable[[float], None] = time.sleep
    ) -> TrialRecord | None:
        """Wait until a trial may start, and count it as running; one that may not is returned as not run."""
        while True:
            with self._lock:
                if self._fits():
                    self._in_flight += 1
                    return None
                if not self._in_flight:
                    return self._refused(request)
            pause(POLL)

    def leave(self, result: TrialResult | None, then: TrialRecord | None = None) -> None:
        """Count a trial that has ended; ``then`` as of :meth:`affords`."""
        cost = _paid(result, then) if result else None
        with self._lock:
            self._in_flight -= 1
            if cost is not None:
                self._spent += cost
                self._dearest = max(cost, self._dearest or 0.0)

    def _refused(self, request: TrialRequest) -> TrialRecord:
        cap = self._cap or 0.0
        limit = f"max_cost_usd={cap:g}"
        spent = f"{usd(self._spent)} is spent"
        if self._workers > 1:
            limit += f", {cap / self._workers:g} for each of {self._workers} workers"
            spent += " in this one"
        return request.not_run(
            f"{limit}: {spent}, and another trial may cost {usd(self._dearest or 0.0)}",
            why="capped",
            cap_usd=cap,
        )


def _paid(result: TrialResult, then: TrialRecord | None) -> float | None:
    """
    Return what a trial has cost now: what a recording answers is paid for no more.

    :param then: what was done of it before: that is in the result, and was paid for then.
    """
    if result.http_cassettes:
        return 0.0
    cost = cost_of(result)
    if cost is None or then is None:
        return cost
    return max(0.0, cost - (cost_of(then.result) or 0.0))
