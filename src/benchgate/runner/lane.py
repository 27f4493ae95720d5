"""What trials run through whose settings agree: their pace, their cap, and what runs them, here or elsewhere."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.errors import EvalError
from benchgate.trials.executor import TrialRecord, ended

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import ExitStack

    from benchgate.isolation.isolated import Isolated
    from benchgate.remote.cluster import Cluster
    from benchgate.runner.settings import RunRequest
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


def connected(runs: Collection[RunRequest], stack: ExitStack) -> Cluster | None:
    """Return the cluster that was asked for, and have the stack close it; ``None`` without one."""
    given = next((run.settings for run in runs), None)
    if given is None or given.executor is None:
        return None
    from benchgate.remote.cluster import Cluster

    systems = [(run.bench, one) for run in runs for one in run.systems.values()]
    cluster = Cluster(given.executor, systems)
    stack.callback(cluster.close)
    cluster.open(may_be_mixed=given.allow_mixed_workers == "yes")
    return cluster


def isolated(run: RunRequest, own: TrialExecutor | None, stack: ExitStack) -> Isolated | None:
    """Start the processes of a class, and have the stack end them; ``None`` if it needs none."""
    level = run.settings.isolation
    if level == "none":
        return None
    if own is not None:
        raise EvalError(f"isolation={level}: an executor of one's own runs trials as it does")
    from benchgate.isolation.isolated import Isolated

    systems = () if run.recording else run.systems.values()
    found = Isolated(run.bench, systems, level, run.settings.jobs)
    stack.callback(found.close)
    return found
