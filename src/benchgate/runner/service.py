"""Runs trials for both doors: here or elsewhere, how many at once, at what pace and cost, and what is kept of them."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import replace
from functools import cached_property, partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import uuid4

from benchgate.audit.chain import PLAN_FILE
from benchgate.errors import ArtifactError, EvalError
from benchgate.live.executor import LiveExecutor
from benchgate.live.in_turn import InTurn
from benchgate.live.loop import SessionLoop
from benchgate.live.prints import PrintRouter
from benchgate.loader.loaded_class import alone
from benchgate.loader.observer import never
from benchgate.results.folder import Results, costs_before
from benchgate.runner.lane import Lanes, LaneTerms, connected
from benchgate.trials.calls import CallsHere
from benchgate.trials.executor import TrialRecord, TrialRequest, ended
from benchgate.trials.time_limit import TrialTimeout, sleep_unlimited
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from benchgate.models import BenchCase, Side
    from benchgate.remote.cluster import Cluster
    from benchgate.runner.lane import Lane
    from benchgate.runner.settings import RunRequest
    from benchgate.trials.calls import Calls, Waiter
    from benchgate.trials.executor import TrialExecutor
    from benchgate.trials.pacing import Pacing
    from benchgate.trials.spending import Spending
    from benchgate.trials.time_limit import Backstop


class _ServedClass:
    """A class whose trials are run through a lane."""

    def __init__(self, run: RunRequest, lane: Lane, *, in_turn: bool) -> None:
        self.run = run
        self.lane = lane
        self.in_turn = in_turn
        self.runners: dict[Side, TrialRunner] = {}
        self.stopped = ""

    @cached_property
    def results(self) -> Results | None:
        """Those of finished trials; ``None`` unless the whole class is run, and written."""
        folder = self.run.folder
        if folder is None or not folder.is_dir():
            return None
        return Results.of_run(folder)

    @cached_property
    def scorer(self) -> str:
        """The digest of what scores."""
        return self.run.scored_by()[1]

    @cached_property
    def observations(self) -> int:
        """How often each output is observed."""
        observer = self.run.observed_by()
        if observer is None:
            return 0
        return observer.identity.observations

    def runner(
        self, side: Side, wait: Waiter, is_timeout: Callable[[BaseException], bool]
    ) -> TrialRunner:
        """Return what runs the trials of a system."""
        if side not in self.runners:
            self.runners[side] = self._made(side, wait, is_timeout)
        return self.runners[side]

    def _made(
        self, side: Side, wait: Waiter, is_timeout: Callable[[BaseException], bool]
    ) -> TrialRunner:
        run = self.run
        bench = run.bench
        system = run.systems[side]
        observer = run.observed_by()
        score, _ = run.scored_by()
        drafts = None
        if run.recorder is not None and run.settings.out is not None:
            drafts = run.recorder.drafts(run.settings.out)
        calls: Calls = CallsHere(
            task_class=bench.name,
            call=system.call,
            rubric=score,
            observer=observer.call if observer else never,
            wait=wait,
            is_timeout=is_timeout,
            masker=bench.masker,
        )
        if run.processes is not None:
            calls = run.processes.calls(system.name)
        return TrialRunner(
            task_class=bench.name,
            calls=calls,
            taxonomy=bench.taxonomy,
            alone=self.in_turn,
            observer=observer and observer.identity,
            http=HttpTerms(system=system.name, class_path=bench.path, record=drafts),
            masker=bench.masker,
        )

    def taken(self, request: TrialRequest, *, again: bool) -> TrialRecord | None:
        """
        Return what is there of a trial: of the run itself, which may go on, or of what was recorded.

        :param again: it is run again, whatever is there of this run.
        """
        own = None
        if self.results is not None and not again:
            own = self.results.get(request.key)
        source = self.run.recording
        if source is None or (own is not None and not own.awaits_score):
            return own
        observer = self.run.observed_by()
        found = source.get(request, self.scorer, observer and observer.identity)
        if own is None:
            return found
        if found is None:
            return own
        return replace(own, before=found.before)


def _check_alone(run: RunRequest) -> None:
    """Raise EvalError if trials of a class run side by side in this process, and what they call forbids it."""
    jobs = run.settings.jobs
    if jobs == 1:
        return
    name = alone(run.systems.values(), run.observed_by())
    if name is not None:
        raise EvalError(f"jobs={jobs}: {name} says concurrency = 'none'")


class TrialService:
    """
    The trials of one process, of all classes that it runs.

    :param runs: by the names of their classes.
    :param backstop: ends the process if a trial ignores its limit; ``None``: somebody else does.
    :param alarm: ends such a trial at its limit, if nobody else does.
    :param is_timeout: recognises the exception of whoever does.
    :param workers: processes that share pace and cap with this one.
    :param is_replacement: whether this process took the place of one that died, whose expenses nobody else counts.
    """

    def __init__(
        self,
        runs: Mapping[str, RunRequest],
        *,
        backstop: Backstop | None,
        alarm: Callable[[float], AbstractContextManager[object]] = nullcontext,
        is_timeout: Callable[[BaseException], bool] = lambda error: isinstance(error, TrialTimeout),
        workers: int = 1,
        is_replacement: bool = False,
    ) -> None:
        self._runs = runs
        self._backstop = backstop
        self._alarm = alarm
        self._is_timeout = is_timeout
        self._workers = workers
        self._is_replacement = is_replacement
        self._classes: dict[str, _ServedClass] = {}
        self._has_counted = False
        self._loop = SessionLoop()
        self._exit = ExitStack()
        self._prints = PrintRouter()
        self.notes: list[str] = []
        self._starts: str | None = None
        self._guarded: LiveExecutor | None = None
        self._exit.callback(self._loop.close)
        self._exit.callback(self._prints.close)
        self.window = 8
        """Trials submitted and not reported: more than run at once; bounded, as they are paid for if all stops."""

    def open(self, own: TrialExecutor | None = None, *, connects: bool = True) -> None:
        """
        Find where the trials run.

        :param own: runs them instead.
        :param connects: whether trials will run, for which a cluster is reached or processes are started.
        :raises EvalError: a system cannot run beside itself, or the cluster or the level of isolation cannot be had.
        """
        if own is not None:
            folder = TemporaryDirectory(prefix="benchgate-starts-", ignore_cleanup_errors=True)
            self._starts = self._exit.enter_context(folder)
            self._exit.callback(own.close)
        cluster = None
        if connects:
            cluster = connected(self._runs.values(), self._exit)
        if cluster is not None:
            self.notes += cluster.notes
            self.window = max(self.window, 4 * cluster.jobs)
        is_here = own is None and cluster is None
        executor = partial(self._executor, own, cluster)
        lanes = Lanes(self._workers, executor, self._wait, self.keep, is_here=is_here)
        for name, run in self._runs.items():
            self.notes += run.notes()
            level = run.settings.isolation
            if own is not None and level != "none":
                raise EvalError(
                    f"isolation={level}: an executor of one's own runs trials as it does"
                )
            if is_here:
                _check_alone(run)
            terms = LaneTerms.of(run, is_isolated=run.processes is not None)
            lane = lanes.of(terms)
            self._classes[name] = _ServedClass(run, lane, in_turn=is_here and terms.is_in_turn)
            self.window = max(self.window, 4 * run.settings.jobs)

    def _executor(
        self,
        own: TrialExecutor | None,
        cluster: Cluster | None,
        terms: LaneTerms,
        pacing: Pacing,
        spending: Spending,
    ) -> TrialExecutor:
        """Return what runs the trials of a lane."""
        executor: LiveExecutor
        if cluster is not None:
            executor = cluster.lane(pacing, spending, terms.jobs)
        elif own is not None:
            return own
        elif terms.is_isolated:
            executor = self._processes(terms, pacing)
        elif terms.jobs > 1:
            executor = self._threads(terms, pacing)
        else:
            return InTurn(partial(pacing.run, self._limited), self._wait)
        self._exit.callback(executor.close)
        return executor

    def _processes(self, terms: LaneTerms, pacing: Pacing) -> LiveExecutor:
        """Return threads that each wait for a trial in a process of its own."""
        run = partial(pacing.run, self._run)
        # Whoever watches the processes keeps the limit, so no thread is given up and none needs the timer.
        return LiveExecutor(run, terms.jobs, prints=self._prints, grace=math.inf)

    def _threads(self, terms: LaneTerms, pacing: Pacing) -> LiveExecutor:
        """Return threads that run trials side by side in this process."""
        run = partial(pacing.run, self._run)
        if self._guarded is not None:
            return LiveExecutor(run, terms.jobs, prints=self._prints)
        # Python has one timer. The first of these lanes gets it, unless a class has one job: it may run in turn, and
        # needs it more.
        backstop = self._backstop
        if any(run.settings.jobs == 1 for run in self._runs.values()):
            backstop = None
        self._guarded = LiveExecutor(run, terms.jobs, prints=self._prints, backstop=backstop)
        return self._guarded

    def in_turn(self, task_class: str) -> bool:
        """Whether each trial runs in its turn, in the main thread, where an alarm can end it."""
        return self._classes[task_class].in_turn

    def request(self, case: BenchCase, trial: int, side: Side) -> TrialRequest:
        """
        Return what runs a trial.

        :raises Unreadable: its checkpoint cannot be handed over.
        """
        run = self._runs[case.task_class]
        system = run.systems[side]
        return TrialRequest.of(
            case,
            trial,
            bench_seed=run.settings.seed,
            system=system.name,
            limit=run.settings.limit(case),
            checkpoint=system.handed(),
            served=run.served(case, side),
            side=side,
            observations=self._classes[case.task_class].observations,
            starts=f"{self._starts}/{uuid4().hex}" if self._starts else None,
        )

    def has_room(self, task_class: str) -> bool:
        """Whether a cap on costs lets a trial start now."""
        return self._classes[task_class].lane.spending.has_room()

    def stop(self, task_class: str, why: str) -> None:
        """Begin no other trial of a class."""
        self._classes[task_class].stopped = why

    def stopped(self, task_class: str) -> str:
        """Return why no other trial of a class begins; empty: it does."""
        return self._classes[task_class].stopped

    def submit(self, request: TrialRequest, *, again: bool = False) -> Future[TrialRecord]:
        """Run a trial, unless it is finished already; ``again``: though it is."""
        if again:
            request = replace(request, is_again=True)
        rest, done = self._rest_of(request, again=again)
        if done is not None:
            return ended(done)
        lane = self._classes[request.case.task_class].lane
        return lane.submit(rest, partial(self.keep, request=request))

    def drop(self, future: Future[TrialRecord]) -> None:
        """Cancel a trial of which nobody is to know; when this returns its file is written, or never will be."""
        for served in self._classes.values():
            served.lane.drop(future)

    def keep(self, record: TrialRecord, request: TrialRequest) -> TrialRecord:
        """
        Write the file of a finished trial, if its class keeps them: whoever finished it does, in a worker too.

        It may wait long until it is reported. If that fails, the process that judges tries again and says why.
        """
        served = self._classes[request.case.task_class]
        if served.results is None or record.result.outcome == "not_run":
            return record
        if request.is_again and not record.result.reruns:
            # Whoever resumes the run is to know: the first result of the trial is gone.
            record = replace(record, result=record.result.model_copy(update={"reruns": 1}))
        record = replace(record, scorer=served.scorer, file_sha256=None)
        with suppress(ArtifactError):
            return replace(record, file_sha256=served.results.put(request.key, record))
        return record

    def _wait(self, seconds: float, limit: float) -> None:
        """Wait some seconds that do not count for a trial of a time limit."""
        self.pause()
        sleep_unlimited(seconds, limit)

    def pause(self) -> None:
        """Expect that something else than a trial comes next, which may take any time."""
        if self._backstop is not None:
            self._backstop.release()
        if self._guarded is not None:
            self._guarded.guard()

    def close(self) -> None:
        """End what still runs."""
        self.pause()
        self._exit.close()

    def _rest_of(
        self, request: TrialRequest, *, again: bool
    ) -> tuple[TrialRequest, TrialRecord | None]:
        """
        Return what is left to run of a trial, and its record if nothing is.

        It may be there already, of the run that is resumed or a worker that died; or be left out; or be recorded.
        """
        if not again:
            self._count_before()
            left_out = self._left_out(request)
            if left_out is not None:
                return request, left_out
        served = self._classes[request.case.task_class]
        there = served.taken(request, again=again)
        if there is None:
            return request, None
        if there.awaits_score:
            return request.after(there), None
        if there.file_sha256 is None:  # of a recording: this run has no file of it yet
            there = self.keep(there, request)
        return request, there

    def _count_before(self) -> None:
        """Count what trials of earlier sessions have cost, of all classes before the first trial of one."""
        if self._has_counted:
            return
        self._has_counted = True
        for served in self._classes.values():  # they may share a cap
            folder = served.run.folder
            given = served.run.settings
            if given.max_cost_usd is not None and folder is not None and not given.extends:
                costs = costs_before(folder / PLAN_FILE, own=self._is_replacement)
                served.lane.spending.before(costs)

    def _limited(self, request: TrialRequest) -> TrialRecord:
        over: AbstractContextManager[object] = nullcontext()
        if self._backstop is not None:
            over = self._backstop.over(request.limit)
        with over, self._alarm(request.limit):
            return self._run(request)

    def _left_out(self, request: TrialRequest) -> TrialRecord | None:
        stopped = self.stopped(request.case.task_class)
        if not stopped:
            return None
        return request.not_run(stopped, why="stopped")

    def _run(self, request: TrialRequest) -> TrialRecord:
        left_out = self._left_out(request)  # the class may have been stopped while the trial waited
        if left_out is not None:
            return left_out
        return self._runner_of(request).run(request)

    def _runner_of(self, request: TrialRequest) -> TrialRunner:
        served = self._classes[request.case.task_class]
        return served.runner(request.side, self._loop.wait, self._is_timeout)
