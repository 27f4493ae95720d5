"""The trials of one task class without pytest: each in this thread, or many at once."""

from __future__ import annotations

import sys
from collections import deque
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from benchgate.errors import Unreadable
from benchgate.live.loop import SessionLoop
from benchgate.replay.player import Player
from benchgate.runner.trial_files import Keeping, taken_over
from benchgate.trials.executor import TrialRequest, ended
from benchgate.trials.pacing import Pacing, Turns
from benchgate.trials.spending import Capped, Spending
from benchgate.trials.time_limit import Backstop, TrialTimeout, alarm, sleep_unlimited
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from benchgate.models import Side
    from benchgate.replay.recording import Recording
    from benchgate.runner.trial_files import TrialFiles
    from benchgate.trials.executor import RunsTrials, TrialExecutor, TrialRecord
    from benchgate.trials.planned import PlannedTrials


class ClassTrials:
    """
    Runs the planned trials; their records come in the order of the plan, each with its side.

    :param ledgers: of each side; where there are two, the baseline's trial follows the candidate's.
    :param limit: in seconds, for cases that name none.
    :param jobs: trials that run at once.
    :param executor: address of what runs them; ``None`` is this process.
    :param recording: what is played in the place of the system.
    :param http: where the HTTP of the system is recorded; ``None`` answers it from a recording.
    :param files: where the trials are kept that are finished; those that are there are not run.
    """

    def __init__(
        self,
        ledgers: Mapping[Side, PlannedTrials],
        *,
        limit: float,
        jobs: int,
        retries: int,
        max_rpm: int | None,
        max_cost_usd: float | None,
        executor: str | None = None,
        files: TrialFiles | None = None,
        recording: Recording | None = None,
        http: Path | None = None,
    ) -> None:
        self._ledgers = ledgers
        self._limit = limit
        self._jobs = jobs
        self._executor = executor
        self._files = files
        self._spending = Spending(max_cost_usd)
        self._pacing = Pacing(retries, Turns(max_rpm), self._spending.affords)
        if files is not None and max_cost_usd is not None:
            self._spending.before(taken_over(files.folder))
        self._exit = ExitStack()
        self._backstop = Backstop()
        self._exit.callback(self._backstop.release)
        loop = SessionLoop()
        self._exit.callback(loop.close)

        def runner(ledger: PlannedTrials) -> RunsTrials:
            bench = ledger.bench
            made = TrialRunner(
                task_class=bench.name,
                system=ledger.system.call,
                score=bench.rubric.score,
                taxonomy=bench.taxonomy,
                wait=loop.wait,
                alone=jobs == 1,
                http=HttpTerms(system=ledger.system.name, class_path=bench.path, record=http),
            )
            return Player(made, recording) if recording else made

        self._runners = {side: runner(ledger) for side, ledger in ledgers.items()}

    def records(self) -> Generator[tuple[Side, TrialRecord]]:
        """Yield the record of each trial that ran; the ledger is told why others did not."""
        with self._exit:
            if self._jobs == 1 and self._executor is None:
                for request in self._requests():
                    if record := self._found(request) or self._run_here(request):
                        yield request.side, record
                return
            capped = Capped(self._made_executor(), self._spending)
            yield from self._in_order(Keeping(capped, lambda _: self._files))

    def _made_executor(self) -> TrialExecutor:
        made: TrialExecutor
        if self._executor is None:
            from benchgate.live.side_by_side import SideBySide

            made = SideBySide(lambda request: self._runners[request.side], self._pacing, self._jobs)
        else:
            from benchgate.remote.cluster import Cluster

            ledgers = self._ledgers.values()
            cluster = Cluster(self._executor, [(one.bench, one.system) for one in ledgers])
            cluster.open()
            self._exit.callback(cluster.close)
            made = cluster.lane(self._pacing, self._spending, self._jobs)
            self._jobs = max(self._jobs, cluster.jobs)  # that many are submitted ahead, times four
        self._exit.callback(made.close)
        return made

    def _found(self, request: TrialRequest) -> TrialRecord | None:
        return self._files.of(request) if self._files else None

    def _in_order(self, executor: TrialExecutor) -> Iterator[tuple[Side, TrialRecord]]:
        submitted: deque[tuple[Side, Future[TrialRecord]]] = deque()
        for request in self._requests():
            found = self._found(request)
            while (
                submitted and not self._spending.has_room()
            ):  # told first, before more is paid for
                yield _printed(*submitted.popleft())
            future = ended(found) if found else executor.submit(request)
            submitted.append((request.side, future))
            if len(submitted) >= 4 * self._jobs:
                yield _printed(*submitted.popleft())
        while submitted:
            yield _printed(*submitted.popleft())

    def _requests(self) -> Iterator[TrialRequest]:
        candidate = self._ledgers["candidate"]
        readable = {case.case_id: case for case in candidate.cases}
        for case_id, trial in candidate.keys:
            if case_id not in readable:
                continue
            case = readable[case_id]
            for side, ledger in self._ledgers.items():
                try:
                    checkpoint = ledger.system.handed()
                except Unreadable as error:
                    ledger.not_run((case_id, trial), str(error))
                    continue
                yield TrialRequest.of(
                    case,
                    trial,
                    bench_seed=ledger.seed,
                    system=ledger.system.name,
                    limit=case.timeout_seconds or self._limit,
                    checkpoint=checkpoint,
                    side=side,
                )

    def _run_here(self, request: TrialRequest) -> TrialRecord | None:
        try:
            pause = partial(self._pause, request.limit)
            paced = partial(self._pacing.run, self._attempt, pause=pause)
            record = self._spending.run(paced, request, pause)
            return self._files.keep(record, request.side) if self._files else record
        except TrialTimeout:  # the alarm went off after the trial ended, before it was switched off
            reason = "the time limit passed while the result was put together"
            ledger = self._ledgers[request.side]
            ledger.not_run((request.case.case_id, request.case.trial), reason)
            return None

    def _pause(self, limit: float, seconds: float) -> None:
        self._backstop.release()
        sleep_unlimited(seconds, limit)

    def _attempt(self, request: TrialRequest) -> TrialRecord:
        with self._backstop.over(request.limit), alarm(request.limit):
            return self._runners[request.side].run(request)


def _printed(side: Side, future: Future[TrialRecord]) -> tuple[Side, TrialRecord]:
    record = future.result()
    sys.stdout.write(record.printed)
    return side, record
