"""What trials run through whose settings agree: their pace, their cap, and what runs them, here or elsewhere."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from benchgate.trials.executor import TrialRecord, ended
from benchgate.trials.pacing import Pacing, Turns
from benchgate.trials.spending import Spending
from benchgate.trials.time_limit import sleep_unlimited

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import ExitStack

    from benchgate.remote.cluster import Cluster
    from benchgate.runner.settings import RunRequest
    from benchgate.trials.executor import TrialExecutor, TrialRequest


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """
    Pace, cap and executor of trials.

    :param wait: waits some seconds that do not count for a trial of a time limit.
    :param is_here: whether its trials run here, and no record is another's.
    """

    pacing: Pacing
    spending: Spending
    executor: TrialExecutor
    wait: Callable[[float, float], None] = sleep_unlimited
    is_here: bool = False
    _writing: threading.RLock = field(default_factory=threading.RLock)

    def submit(
        self, request: TrialRequest, keep: Callable[[TrialRecord], TrialRecord]
    ) -> Future[TrialRecord]:
        """
        Run a trial once there is room for it and for its cost, or return it as not run.

        Where an executor is not benchgate's own, a record of another trial is refused.

        :param keep: writes the file of the trial; the future has a result only when that is done.
        """
        refused = self.spending.enter(request, lambda seconds: self.wait(seconds, request.limit))
        if refused is not None:
            return ended(refused)
        try:
            ran = self.executor.submit(request)
        except BaseException:
            self.spending.leave(None)
            raise
        if self.is_here and ran.done():  # in its turn: nobody waits for it, or drops it
            record = ran.result()
            self.spending.leave(record.result, request.then)
            return ended(keep(record))
        kept: Future[TrialRecord] = Future()

        def finished(ran: Future[TrialRecord]) -> None:
            result = None
            if not ran.cancelled() and ran.exception() is None:
                result = ran.result().result
            self.spending.leave(result, request.then)
            self._hand_on(ran, request, keep, kept)

        def dropped(kept: Future[TrialRecord]) -> None:
            if kept.cancelled():
                ran.cancel()

        ran.add_done_callback(finished)
        kept.add_done_callback(dropped)
        return kept

    def _hand_on(
        self,
        ran: Future[TrialRecord],
        request: TrialRequest,
        keep: Callable[[TrialRecord], TrialRecord],
        kept: Future[TrialRecord],
    ) -> None:
        """Write the file of a trial that has ended, and only then give ``kept`` its result."""
        with self._writing:
            if not kept.set_running_or_notify_cancel():  # nobody is to know of it any more
                return
            try:
                record = ran.result()
                if not self.is_here:
                    record = request.answered(record)
                kept.set_result(keep(record))
            except BaseException as error:  # it ends the session where it is waited for
                kept.set_exception(error)

    def drop(self, future: Future[TrialRecord]) -> None:
        """Cancel a trial of which nobody is to know; when this returns its file is written, or never will be."""
        future.cancel()
        # One that could not be cancelled any more is being written: wait for that.
        with self._writing:
            pass


class LaneTerms(NamedTuple):
    """
    The settings that two classes must have in common to share a lane.

    :param is_isolated: whether each trial runs in a process of its own.
    """

    jobs: int
    retries: int
    max_rpm: int | None
    max_cost_usd: float | None
    is_isolated: bool

    @property
    def is_in_turn(self) -> bool:
        """Whether each trial runs in its turn, in the thread that asks for it, if it runs here."""
        return self.jobs == 1 and not self.is_isolated

    @classmethod
    def of(cls, run: RunRequest, *, is_isolated: bool) -> LaneTerms:
        """Return the terms of a class."""
        given = run.settings
        terms = cls(given.jobs, given.retries, given.max_rpm, given.max_cost_usd, is_isolated)
        if run.recording is not None and run.recording.rule.asks_nobody:
            # A replay asks nobody and pays nothing: the costs in it are those of then.
            return terms._replace(max_rpm=None, max_cost_usd=None)
        return terms


class Lanes:
    """
    The lanes of a session, one for all classes of the same terms.

    Rate and cap hold for the whole session: lanes that have them in common share them, however else their terms differ.

    :param workers: processes that share rate and cap with this one.
    :param executor: returns what runs the trials of a lane.
    :param wait: see :class:`Lane`; ``is_here`` too.
    :param keep: keeps each stage of a trial that goes on.
    """

    def __init__(
        self,
        workers: int,
        executor: Callable[[LaneTerms, Pacing, Spending], TrialExecutor],
        wait: Callable[[float, float], None] = sleep_unlimited,
        keep: Callable[[TrialRecord, TrialRequest], object] = lambda *_: None,
        *,
        is_here: bool = False,
    ) -> None:
        self._workers = workers
        self._executor = executor
        self._wait = wait
        self._keep = keep
        self._is_here = is_here
        self._turns: dict[int | None, Turns] = {}
        self._spendings: dict[float | None, Spending] = {}
        self._lanes: dict[LaneTerms, Lane] = {}

    def of(self, terms: LaneTerms) -> Lane:
        """Return the lane of these terms, which is made when it is first asked for."""
        if terms not in self._lanes:
            spending = self._spending(terms.max_cost_usd)
            turns = self._turns_at(terms.max_rpm)
            pacing = Pacing(terms.retries, turns, spending.affords, self._keep)
            executor = self._executor(terms, pacing, spending)
            self._lanes[terms] = Lane(pacing, spending, executor, self._wait, self._is_here)
        return self._lanes[terms]

    def _turns_at(self, rpm: int | None) -> Turns:
        if rpm not in self._turns:
            share = None
            if rpm is not None:
                share = rpm / self._workers
            self._turns[rpm] = Turns(share)
        return self._turns[rpm]

    def _spending(self, cap: float | None) -> Spending:
        if cap not in self._spendings:
            self._spendings[cap] = Spending(cap, self._workers)
        return self._spendings[cap]


def connected(runs: Collection[RunRequest], stack: ExitStack) -> Cluster | None:
    """Return the cluster that was asked for, and have the stack close it; ``None`` without one."""
    given = next((run.settings for run in runs), None)
    if given is None or given.executor is None:
        return None
    from benchgate.remote.attempt import Apart
    from benchgate.remote.cluster import Cluster

    systems = [(run.bench, one) for run in runs for one in run.systems.values()]
    apart = {
        run.bench.name: Apart(
            level=run.settings.isolation,
            limit=run.settings.timeout,
            systems=tuple(sorted({one.name for one in run.systems.values()})),
        )
        for run in runs
        if run.settings.isolation != "none"
    }
    cluster = Cluster(given.executor, systems, apart)
    stack.callback(cluster.close)
    cluster.open(may_be_mixed=given.allow_mixed_workers == "yes")
    return cluster
