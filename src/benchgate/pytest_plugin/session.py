"""
The bench session of a process, workers included: loads classes, systems and cases, and runs trials.

:mod:`.reports` sends the results, :mod:`.controller` judges them in one process.
"""

from __future__ import annotations

import gc
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from benchgate.audit.chain import UNFINISHED
from benchgate.audit.store import shard_folder, unfinished_name
from benchgate.errors import BenchCaseLoadError, EvalError, Unreadable, printable
from benchgate.gates.choice import rerun_system
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import LoadedClass, load_class
from benchgate.pytest_plugin.item_outcome import Obstacle
from benchgate.pytest_plugin.options import settled_options
from benchgate.pytest_plugin.trials import ItemTrials
from benchgate.registry import TaskClassRegistry
from benchgate.report.publish import Publication
from benchgate.runner.settings import RunRequest, RunSettings
from benchgate.trials.interrupts import Interrupts
from benchgate.trials.planned import AFTER_VIOLATION
from benchgate.wire import clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchgate.models import BenchCase, Side
    from benchgate.pytest_plugin.ahead import CaseRun
    from benchgate.pytest_plugin.selection import Selection
    from benchgate.registry import System
    from benchgate.trials.executor import TrialRecord


class BenchSession:
    """
    The classes, systems and cases of a session; runs the trials of its items.

    ``watched`` has the classes whose trials somebody at a terminal follows in this process.
    """

    settings: RunSettings
    publication: Publication
    threshold_places: dict[str, str]
    junit_gate: bool
    out: Path
    trials: ItemTrials

    def __init__(self, config: pytest.Config, selection: Selection) -> None:
        self.config = config
        self.selection = selection
        self.benches: dict[str, LoadedClass] = {}
        self.settings_of: dict[str, RunSettings] = {}
        self.watched: set[str] = set()
        self.requests: dict[str, RunRequest] = {}
        self._violations: dict[str, str] = {}
        self._trials: Counter[str] = Counter()
        self._exit = ExitStack()
        self.interrupts = Interrupts()
        given = getattr(config, "workerinput", {}).get(UNFINISHED)
        self.unfinished: str = given or unfinished_name(clock.now())

    def open(self) -> None:
        """
        Load the selected classes.

        :raises pytest.UsageError: one cannot be loaded, or the policy is wrong.
        """
        self._exit.enter_context(self.interrupts)
        self._exit.enter_context(bench_package(self.selection.root))
        registry = TaskClassRegistry()
        try:
            settled = settled_options(self.config)
            self.threshold_places = settled.thresholds
            values = settled.values
            self.publication = Publication.take(values)
            self.junit_gate = values["junit_gate"] == "yes"
            self.out = values["out"]
            self.settings = RunSettings.of_options(values)
            for name in self.selection.classes:
                bench = load_class(self.selection.root, name, registry, self.settings.policy)
                self.benches[name] = bench
                own = settled_options(self.config, bench)
                self.settings_of[name] = self._followed(name, own.values)
        except BaseException as error:
            self._exit.close()
            if isinstance(error, EvalError):
                raise pytest.UsageError(str(error)) from error
            raise

    def _followed(self, name: str, values: dict[str, Any]) -> RunSettings:
        """Return settings; a run that someone debugs at a terminal has its trials in this process, and no baseline."""
        given = self.config.option
        follows = given.usepdb or given.trace or given.capture == "no"
        # Nobody can follow what workers of a cluster run, and there no option lowers the level of a class.
        if follows and values["isolation"] != "none" and values["executor"] is None:
            self.watched.add(name)
            values |= {"isolation": "none", "baseline": "none"}
        return RunSettings.of_options(values, task_class=name)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Forget the item; end the session also if a system has swallowed the interrupt."""
        self.trials.over(nodeid)
        self.interrupts.check()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """In a worker, start none of the trials that still wait."""
        self.trials.close()

    def pytest_unconfigure(self) -> None:
        """End what still runs, and forget the modules of the bench."""
        self._exit.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Find the systems under test, before a worker is started or a case is run."""
        for name, bench in self.benches.items():
            settings = self.settings_of[name]
            if settings.system is None and not settings.recorded:
                settings = replace(settings, system=self._hooked_system(bench))
            try:
                self.requests[name] = RunRequest.of(bench, settings, self.unfinished)
            except EvalError as error:
                raise pytest.UsageError(str(error)) from error
            self._exit.callback(self.requests[name].close)
        self.trials = ItemTrials(self.config, self.requests)
        self._exit.callback(self.trials.close)
        self.trials.open()

    def _hooked_system(self, bench: LoadedClass) -> System | None:
        system = self.config.hook.pytest_bench_system(
            config=self.config, task_class=bench.task_class
        )
        if system is not None and not callable(system):
            msg = f"pytest_bench_system returned {system!r}, which is not callable"
            raise pytest.UsageError(printable(msg))
        return cast("System | None", system)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides of which each case is run."""
        if rerun_system(self.settings.baseline) is None:
            return ("candidate",)
        return "candidate", "baseline"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the trials of each class: only the controller plans them, so a worker must see whether it has all."""
        named = (getattr(item, "task_class", None) for item in session.items)
        self._trials = Counter(name for name in named if name in self.benches)
        if any(run.executor or run.isolation != "none" for run in self.settings_of.values()):
            self.trials.check_scorers(session.items)
        gc.freeze()  # items stay to the end, as modules do

    def folder_of(self, name: str) -> Path:
        """Return the folder of a class's run as people find it: that of a full run gets its name at the end."""
        settings = self.settings_of[name]
        if settings.shard is not None:
            return shard_folder(self.out, name, settings.shard)
        every = len(self.benches[name].folders) * settings.trials * len(self.sides)
        if self._trials[name] < every or self.requests[name].is_second_chance:
            return self.out / "last-selected" / name
        return self.out / "runs" / name / (settings.floor or "<newest>").replace(":", "/")

    def case_folders(self, cases: Path) -> Iterable[Path]:
        """
        Return the case folders of a class of this session that were asked for, sorted; none for other classes.

        A folder whose name ids cannot hold has another name here, under which its case is refused.
        """
        bench = self.benches.get(cases.parent.name)
        if bench is None or bench.path != cases.parent:
            return []
        asked = self.selection.below(cases)
        if self.settings.shard is not None:
            part = self.settings.shard.of(bench.folders)
            asked = part if asked is None else part & asked
        return [cases / name for name in bench.folders if asked is None or name in asked]

    def load(self, name: str, case_id: str) -> BenchCase | BenchCaseLoadError:
        """Return a case of a class, or what is wrong with it."""
        try:
            return self.benches[name].load(case_id)
        except BenchCaseLoadError as error:
            return error

    def obstacle(self, name: str, side: Side) -> Obstacle | None:
        """Return why no case of a class can be run: its rubric broke its contract, or a checkpoint is missing."""
        violation = self._violations.get(name)
        if violation is not None:
            return Obstacle(f"{AFTER_VIOLATION}{violation}", "after_violation")
        try:
            # Here, for the time of a trial is not spent on copying.
            self.requests[name].systems[side].handed()
        except Unreadable as error:
            return Obstacle(str(error))
        return None

    def run(self, item: CaseRun) -> TrialRecord:
        """Run the trial of an item."""
        record = self.trials.record_of(item)
        if record.violation:
            self._violations[item.case.task_class] = record.violation
        return record

    @pytest.hookimpl(trylast=True)
    def pytest_bench_score(self, case: BenchCase, harness_output: Mapping[str, Any]) -> object:
        """Score with the registered rubric."""
        return self.benches[case.task_class].rubric.score(case, harness_output)
