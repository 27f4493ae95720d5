"""Runs the trials of a process's items: each in its turn, or many ahead of it."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import pytest

from benchgate.cassettes.recorder import http_drafts
from benchgate.errors import EvalError
from benchgate.live.loop import SessionLoop
from benchgate.pytest_plugin.ahead import Ahead
from benchgate.replay.player import Player
from benchgate.runner.trial_files import Keeping, TrialFiles, taken_over
from benchgate.trials.executor import TrialRequest
from benchgate.trials.pacing import Pacing, Turns
from benchgate.trials.spending import Capped, Spending
from benchgate.trials.time_limit import Backstop, sleep_unlimited
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms
from benchgate.wire.usage import total

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from benchgate.loader.loaded_class import LoadedClass, NamedSystem
    from benchgate.models import Side
    from benchgate.pytest_plugin.ahead import CaseRun
    from benchgate.pytest_plugin.options import Settings
    from benchgate.remote.cluster import Cluster
    from benchgate.replay.recording import Recording
    from benchgate.trials.executor import RunsTrials, TrialExecutor, TrialRecord
    from benchgate.trials.trial import Scorer


TRACEBACK: Final = "benchgate-traceback"
"""Tells a worker into which file the backstop of its time limit writes its traceback."""


class _Lane(NamedTuple):
    """
    How trials run; classes whose settings agree share one.

    :param executor: ``None`` runs each trial in its item's turn.
    """

    pacing: Pacing
    spending: Spending
    executor: Keeping | None


class SessionTrials:
    """
    The trials of one process of a session, a worker's or the only one.

    :param settings: of each class; filled once the classes are loaded, as are the other mappings.
    :param unfinished: name of the folder that a full run of a class has until it is recorded.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Mapping[str, Settings],
        benches: Mapping[str, LoadedClass],
        systems: Mapping[tuple[str, Side], NamedSystem],
        *,
        recordings: Mapping[str, Recording],
        unfinished: str,
    ) -> None:
        self._config = config
        self._settings = settings
        self._benches = benches
        self._systems = systems
        self._recordings = recordings
        self._unfinished = unfinished
        self._files: dict[str, TrialFiles | None] = {}
        self._tracebacks = 2
        self._loop = SessionLoop()
        self._runners: dict[tuple[str, Side], RunsTrials] = {}
        self._scorers: dict[str, Scorer] = {}
        self._ahead: Ahead | None = None
        self._cluster: Cluster | None = None
        self._has_counted = False
        self._lanes: dict[str, _Lane] = {}
        self._spendings: dict[float | None, Spending] = {}
        self._exit = ExitStack()
        self._exit.callback(self._loop.close)

    def open(self) -> None:
        """
        Find who runs the trials; called once the systems are known.

        :raises pytest.UsageError: a system cannot run beside itself.
        """
        self._tracebacks = self._traceback_file()
        self._exit.callback(os.close, self._tracebacks)
        own = None
        runs_trials = self._config.getoption("dist", "no") == "no" or hasattr(
            self._config, "workerinput"
        )
        self._cluster = self._connected()
        if runs_trials and self._cluster is None and not self._recordings:
            # The controller of xdist runs no trial, a replay calls no system, and an engine may be expensive to reach.
            own = self._config.hook.pytest_bench_executor(config=self._config)
        if own is not None:
            self._exit.callback(own.close)
        lanes: dict[tuple[int, int, int | None, float | None], _Lane] = {}
        workers = getattr(self._config, "workerinput", {}).get("workercount", 1)
        turns: dict[int | None, Turns] = {}  # shared, however else the settings of classes differ
        for name, given in self._settings.items():
            pace = given.jobs, given.retries, given.max_rpm, given.max_cost_usd
            if own is None and self._cluster is None and given.jobs > 1:
                self._check_concurrency(name)
            if pace not in lanes:
                rpm, cap = given.max_rpm, given.max_cost_usd
                turns.setdefault(rpm, Turns(rpm / workers if rpm else None))
                spending = self._spendings.setdefault(cap, Spending(cap, workers))
                pacing = Pacing(given.retries, turns[rpm], spending.affords)
                lanes[pace] = self._lane(given, pacing, spending, own)
            self._lanes[name] = lanes[pace]

    def _connected(self) -> Cluster | None:
        """Return the cluster that the session was given."""
        (address,) = {given.executor for given in self._settings.values()} or {None}
        if address is None or self._config.option.collectonly:
            return None
        if self._config.getoption("dist", "no") != "no" or hasattr(self._config, "workerinput"):
            msg = f"--bench-executor={address}: its workers take the place of those of pytest-xdist; run it without -n"
            raise pytest.UsageError(msg)
        from benchgate.remote.cluster import Cluster

        named = [(self._benches[name], system) for (name, _), system in self._systems.items()]
        try:
            cluster = Cluster(address, named)
            cluster.open()
        except EvalError as error:
            raise pytest.UsageError(f"--bench-executor: {error}") from error
        self._exit.callback(cluster.close)
        return cluster

    def check_scorers(self, items: Iterable[pytest.Item]) -> None:
        """
        Refuse what scores in the place of a rubric, which workers do not have.

        :raises pytest.UsageError: names it.
        """
        for item in cast("Iterable[CaseRun]", items) if self._cluster else ():
            bench = self._benches.get(getattr(item, "task_class", ""))
            if bench is not None and item.scored_by() != bench.rubric_digest:
                msg = f"--bench-executor: {item.nodeid} is scored by a hook, and workers have the rubric alone"
                raise pytest.UsageError(msg)

    def _traceback_file(self) -> int:
        """Return the descriptor to which a backstop writes why it ended the process."""
        file = getattr(self._config, "workerinput", {}).get(TRACEBACK)
        with suppress(OSError):  # of a worker on another machine
            if file is not None:
                return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        return os.dup(2)  # while a trial runs, pytest captures what is written to 2

    def _check_concurrency(self, name: str) -> None:
        for (task_class, _), system in self._systems.items():
            if task_class == name and system.concurrency == "none":
                msg = f"--bench-jobs={self._settings[name].jobs}: system {system.name} says concurrency = 'none'"
                raise pytest.UsageError(msg)

    def _lane(
        self, given: Settings, pacing: Pacing, spending: Spending, executor: TrialExecutor | None
    ) -> _Lane:
        if self._cluster is not None:
            executor = self._cluster.lane(pacing, spending, given.jobs)
            self._exit.callback(executor.close)
        elif executor is None and given.jobs > 1:
            from benchgate.live.side_by_side import SideBySide

            executor = SideBySide(self._runner_of, pacing, given.jobs)
            self._exit.callback(executor.close)
        kept = Keeping(Capped(executor, spending), self._files.get) if executor else None
        return _Lane(pacing, spending, kept)

    def in_turn(self, task_class: str) -> bool:
        """Whether each trial runs in its item's turn, in the main thread, where an alarm can end it."""
        return self._lanes[task_class].executor is None

    def record_of(self, item: CaseRun) -> TrialRecord:
        """Run the trial of an item, or wait for it; what it printed is printed now."""
        self._count_taken_over()
        files = self._files_of(item)
        submitted = self._ahead is not None and item in self._ahead
        if files is not None and not submitted and item.attempts == 1 and self._has_file(item):
            found = files.of(self.request(item))
            if found is not None:
                return found
        record = self._ran(item, files)
        if item.attempts > 1:  # a plugin runs the item again
            usage = total((item.used, record.result.usage))
            again = {"reruns": item.attempts - 1, "usage": usage}
            record = replace(record, result=record.result.model_copy(update=again))
            record = files.keep(record, item.side) if files else record
        return record

    def _ran(self, item: CaseRun, files: TrialFiles | None) -> TrialRecord:
        if self.in_turn(item.case.task_class):
            record = self._run_now(self.request(item))
            return files.keep(record, item.side) if files else record
        if self._ahead is None:
            jobs = max(given.jobs for given in self._settings.values())
            window = max(8, 4 * jobs, 4 * self._cluster.jobs if self._cluster else 0)
            self._ahead = Ahead(
                item.session,
                submit=self._submit,
                give_up=self._give_up,
                finished=self._has_file,
                has_room=self._has_room,
                window=window,
            )
        record = self._ahead.record_of(item)
        sys.stdout.write(record.printed)  # where pytest captures it for this item
        return record

    def _submit(self, item: CaseRun) -> Future[TrialRecord] | None:
        executor = self._lanes[item.case.task_class].executor
        if executor is None:
            return None
        self._files_of(item)
        return executor.submit(self.request(item))

    def _give_up(self, future: Future[TrialRecord]) -> None:
        for lane in set(self._lanes.values()):
            if lane.executor is not None:
                lane.executor.drop(future)

    def _has_room(self, item: CaseRun) -> bool:
        return self._lanes[item.case.task_class].spending.has_room()

    def _has_file(self, item: CaseRun) -> bool:
        files = self._files_of(item)
        return files is not None and files.path(item.case.case_id, item.trial, item.side).exists()

    def _files_of(self, item: CaseRun) -> TrialFiles | None:
        name = item.case.task_class
        if name not in self._files:
            folder = self._folder(name)
            there = folder.is_dir()  # as far as the whole class is run
            self._files[name] = TrialFiles(folder, name, item.scored_by()) if there else None
        return self._files[name]

    def over(self, nodeid: str) -> None:
        """Forget an item that is over."""
        if self._ahead is not None:
            self._ahead.drop(nodeid)

    def _folder(self, name: str) -> Path:
        return self._settings[name].out / "runs" / name / self._unfinished

    def _count_taken_over(self) -> None:
        """Count what is spent already, of all classes before the first trial of one: they may share a cap."""
        if not self._has_counted:
            self._has_counted = True
            for name, given in self._settings.items():
                if given.max_cost_usd is not None:
                    costs = taken_over(self._folder(name), own=self._is_replacement)
                    self._lanes[name].spending.before(costs)

    @property
    def _is_replacement(self) -> bool:
        """Whether this is a worker in the place of one that died, and whose expenses nobody else counts."""
        worker = getattr(self._config, "workerinput", {"workerid": "gw0", "workercount": 1})
        return int(worker["workerid"].removeprefix("gw")) >= int(worker["workercount"])

    def request(self, item: CaseRun) -> TrialRequest:
        """Return what runs an item's trial."""
        case = item.case
        system = self._systems[case.task_class, item.side]
        self._scorers.setdefault(case.task_class, item.score)
        return TrialRequest.of(
            case,
            item.trial,
            bench_seed=self._settings[case.task_class].seed,
            system=system.name,
            limit=case.timeout_seconds or self._settings[case.task_class].timeout,
            checkpoint=system.handed(),
            side=item.side,
        )

    def close(self) -> None:
        """End what still runs."""
        self.pause()
        self._exit.close()

    def _run_now(self, request: TrialRequest) -> TrialRecord:
        def pause(seconds: float) -> None:
            self.pause()
            sleep_unlimited(seconds, request.limit)

        lane = self._lanes[request.case.task_class]
        paced = partial(lane.pacing.run, self._attempt, pause=pause)
        return lane.spending.run(paced, request, pause)

    def _attempt(self, request: TrialRequest) -> TrialRecord:
        backstop = self._backstop
        with nullcontext() if backstop is None else backstop.over(request.limit):
            return self._runner_of(request).run(request)

    def pause(self) -> None:
        """Expect that something else than a trial comes next, which may take any time."""
        if self._backstop is not None:
            self._backstop.release()

    @cached_property
    def _backstop(self) -> Backstop | None:
        """``None`` if the user has set pytest's own timer; Python has one alone."""
        config = self._config
        plugin = config.pluginmanager.has_plugin("faulthandler")
        if plugin and float(config.getini("faulthandler_timeout") or 0) > 0:
            return None
        # A worker of xdist may wait for its next item.
        return Backstop(self._tracebacks, keep=not hasattr(config, "workerinput"))

    def _runner_of(self, request: TrialRequest) -> RunsTrials:
        task_class, key = request.case.task_class, (request.case.task_class, request.side)
        if key not in self._runners:
            bench, system = self._benches[task_class], self._systems[key]
            given = self._settings[task_class]
            record = http_drafts(given.out, task_class, given.record) if given.record else None
            runner = TrialRunner(
                task_class=task_class,
                system=system.call,
                score=self._scorers[task_class],
                taxonomy=bench.taxonomy,
                wait=self._loop.wait,
                alone=self.in_turn(task_class),
                http=HttpTerms(system=system.name, class_path=bench.path, record=record),
                is_timeout=_is_timeout,
            )
            recording = self._recordings.get(task_class)
            self._runners[key] = Player(runner, recording) if recording else runner
        return self._runners[key]


def _is_timeout(error: BaseException) -> bool:
    # pytest-timeout raises what pytest.fail raises; its text is all that tells it apart.
    return isinstance(error, pytest.fail.Exception) and str(error).endswith("from pytest-timeout.")
