"""What trials run through whose settings agree: their pace, their cap, and what runs many of them at once."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.trials.executor import TrialRecord, ended

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.trials.executor import TrialExecutor, TrialRequest
    from benchgate.trials.pacing import Pacing
    from benchgate.trials.spending import Spending


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """
    Pace, cap and executor of trials.

    :param executor: ``None`` where one trial runs after the other in the calling thread.
    """

    pacing: Pacing
    spending: Spending
    executor: TrialExecutor | None
    _writing: threading.RLock = field(default_factory=threading.RLock)

    def submit(
        self, request: TrialRequest, keep: Callable[[TrialRecord], TrialRecord]
    ) -> Future[TrialRecord]:
        """
        Run a trial once there is room for it and for its cost, or return it as not run; another's record is refused.

        :param keep: writes the file of the trial; the future has a result only when that is done.
        """
        assert self.executor is not None  # noqa: S101 - trials run in the calling thread then
        refused = self.spending.enter(request)
        if refused is not None:
            return ended(refused)
        try:
            ran = self.executor.submit(request)
        except BaseException:
            self.spending.leave(None)
            raise
        kept: Future[TrialRecord] = Future()

        def finished(ran: Future[TrialRecord]) -> None:
            failed = ran.cancelled() or ran.exception() is not None
            self.spending.leave(None if failed else ran.result().result)
            with self._writing:
                if not kept.set_running_or_notify_cancel():  # nobody is to know of it any more
                    return
                try:
                    kept.set_result(keep(request.answered(ran.result())))
                except BaseException as error:  # it ends the session where it is waited for
                    kept.set_exception(error)

        ran.add_done_callback(finished)
        kept.add_done_callback(lambda future: future.cancelled() and ran.cancel())
        return kept

    def drop(self, future: Future[TrialRecord]) -> None:
        """Cancel a trial of which nobody is to know; when this returns its file is written, or never will be."""
        future.cancel()
        with self._writing:
            pass
