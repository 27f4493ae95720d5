"""Runs each trial in its turn, in the thread that asks for it: in the main thread an alarm can end it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.trials.executor import ended
from benchgate.trials.time_limit import TrialTimeout

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from benchgate.trials.executor import TrialRecord, TrialRequest
    from benchgate.trials.pacing import Pause


class InTurn:
    """
    Has a result of each trial as soon as it is submitted.

    :param run: as of :class:`~benchgate.live.executor.LiveExecutor`.
    :param wait: waits some seconds that do not count for a trial of a time limit.
    """

    def __init__(
        self,
        run: Callable[[TrialRequest, Pause], TrialRecord],
        wait: Callable[[float, float], None],
    ) -> None:
        self._run = run
        self._wait = wait

    def submit(self, request: TrialRequest) -> Future[TrialRecord]:
        """Run a trial."""
        current = request

        def pause(seconds: float, following: TrialRequest | None = None, /) -> None:
            nonlocal current
            current = following or current
            self._wait(seconds, request.limit)

        try:
            return ended(self._run(request, pause))
        except TrialTimeout:  # the alarm went off after the trial ended, before it was switched off
            late = "the time limit passed while the result was put together"
            return ended(current.not_run(late))

    def close(self) -> None:
        """Do nothing: nothing runs that was not waited for."""
