"""
The state of a bench session, and its first role: running items, in every process that has some.

The second role, the controller's, is in :mod:`.controller`.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.errors import BenchCaseLoadError, EvalError
from benchgate.gates.policy import parse_options
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import (
    BenchClass,
    NamedSystem,
    find_system,
    load_bench_class,
    named,
)
from benchgate.pytest_plugin.nodes import CaseItem
from benchgate.pytest_plugin.results import first_line, properties, unscored
from benchgate.registry import TaskClassRegistry
from benchgate.trials.trial import TrialRunner
from benchgate.wire.canonical import digest, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from pathlib import Path

    from benchgate.models import BenchCase, Outcome, TrialResult
    from benchgate.pytest_plugin.options import Settings
    from benchgate.pytest_plugin.selection import Selection

PAYLOAD = "benchgate"
"""Attribute of a report that carries a trial's result; from a worker builtin types only, or execnet kills it."""


class BenchSession:
    """Loaded classes and cases of a session, and the running of its items."""

    def __init__(self, config: pytest.Config, settings: Settings, selection: Selection) -> None:
        self.config = config
        self.settings = settings
        self.selection = selection
        self.benches: dict[str, BenchClass] = {}
        self.systems: dict[str, NamedSystem] = {}
        self.outputs: dict[str, str | None] = {}
        self._violations: dict[str, str] = {}
        self._exit = ExitStack()
        self._is_worker = hasattr(config, "workerinput")

    def open(self) -> None:
        """
        Load the selected classes.

        :raises pytest.UsageError: one cannot be loaded, or the policy is wrong.
        """
        self._exit.enter_context(bench_package(self.selection.root))
        registry = TaskClassRegistry()
        try:
            options = parse_options(list(self.settings.policy))
            for name in self.selection.classes:
                self.benches[name] = load_bench_class(self.selection.root, name, registry, options)
        except BaseException as error:
            self._exit.close()
            if isinstance(error, EvalError):
                raise pytest.UsageError(str(error)) from error
            raise

    def pytest_unconfigure(self) -> None:
        """Forget the modules of the bench."""
        self._exit.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Find the systems under test, before a worker is started or a case is run."""
        for name, bench in self.benches.items():
            self.systems[name] = self._find_system(bench)

    def _find_system(self, bench: BenchClass) -> NamedSystem:
        if self.settings.system is None:
            hooked = self.config.hook.pytest_bench_system(
                config=self.config, task_class=bench.task_class
            )
            if hooked is not None and not callable(hooked):
                msg = f"pytest_bench_system returned {hooked!r}, which is not callable"
                raise pytest.UsageError(msg)
            if hooked is not None:
                return named(str(getattr(hooked, "name", None) or _label(hooked)), hooked)
        try:
            return find_system(bench.task_class, self.settings.system)
        except EvalError as error:
            raise pytest.UsageError(f"--bench-system: {error}") from error

    def bench_of(self, case_file: Path) -> BenchClass:
        """Return the task class of a case file."""
        return self.benches[case_file.parents[2].name]

    def case_folders(self, cases: Path) -> Iterable[Path]:
        """Return the case folders of a class of this session, sorted; of no other class any."""
        bench = self.benches.get(cases.parent.name)
        return bench.folders.values() if bench and bench.path == cases.parent else ()

    def load(self, case_file: Path) -> BenchCase | BenchCaseLoadError:
        """Return a case, or what is wrong with it."""
        try:
            return self.bench_of(case_file).load(case_file.parent.name)
        except BenchCaseLoadError as error:
            return error

    def limit(self, case: BenchCase) -> float:
        """Return the time limit of a case in seconds."""
        return case.timeout_seconds or self.settings.timeout

    def mark(self, item: CaseItem) -> None:
        """Give an item its markers; a malformed case has no difficulty or disposition to select by."""
        case = item.loaded
        if isinstance(case, BenchCaseLoadError):
            item.add_marker(pytest.mark.bench_case())
            return
        item.extra_keyword_matches.update(case.tags)
        item.add_marker(
            pytest.mark.bench_case(
                difficulty=case.difficulty,
                disposition=case.disposition,
                held_out=case.held_out,
                source=case.source,
            )
        )
        # func_only: the limit is on the trial, not on what other plugins set up around it. signal: the other
        # method ends the whole process.
        item.add_marker(pytest.mark.timeout(self.limit(case), method="signal", func_only=True))

    def obstacle(self, item: CaseItem) -> str | None:
        """Return why an item cannot be run."""
        if isinstance(item.loaded, BenchCaseLoadError):
            return item.loaded.describe(item.where().rpartition(":")[0])
        violation = self._violations.get(self.bench_of(item.path).name)
        return f"not run after: {violation}" if violation else None

    def run(self, item: CaseItem) -> TrialResult:
        """Run the trial of an item and keep what its report will carry."""
        bench, case = self.bench_of(item.path), item.loaded
        if isinstance(case, BenchCaseLoadError):  # pragma: no branch - setup has failed before
            raise case
        score = item.ihook.pytest_bench_score
        runner = TrialRunner(
            task_class=bench.name,
            system=self.systems[bench.name].call,
            score=lambda seen, output: score(config=self.config, case=seen, harness_output=output),
            taxonomy=bench.taxonomy,
            bench_seed=self.settings.seed,
            is_timeout=_is_timeout,
        )
        record = runner.run(case, item.trial, limit=self.limit(case))
        if record.violation:
            self._violations[bench.name] = record.violation
        self.outputs[item.nodeid] = record.output_json
        item.user_properties.extend(properties(record.result))
        return record.result

    @pytest.hookimpl(trylast=True)
    def pytest_bench_score(self, case: BenchCase, harness_output: Mapping[str, Any]) -> object:
        """Score with the registered rubric."""
        return self.benches[case.task_class].rubric.score(case, harness_output)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the result on the report: the one channel that survives a worker's crash."""
        report = yield
        if isinstance(item, CaseItem):
            result = self._result(item, report)
            if result is not None:
                payload = {
                    "task_class": self.bench_of(item.path).name,
                    # As text where it has a wire to cross.
                    "result": result.model_dump_json() if self._is_worker else result,
                    "output": self.outputs.pop(item.nodeid, None),
                    "scorer": self._scorer(item),
                }
                setattr(report, PAYLOAD, payload)
        return report

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_runtest_metadata(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> dict[str, Any]:
        """Add the result to an item of pytest-json-report, which declares this hook only when it is used."""
        if call.when != "call" or not isinstance(item, CaseItem) or item.result is None:
            return {}
        return {"benchgate": item.result.model_dump(mode="json")}

    def _result(self, item: CaseItem, report: pytest.TestReport) -> TrialResult | None:
        """Return the result that a phase ends an item with, if it does."""
        if report.when == "call" and item.result is not None:
            # The last is a strict xfail, or a hook after the trial.
            excused = hasattr(report, "wasxfail") or (item.result.passed and report.failed)
            if not excused:
                return item.result
            return unscored(item, self.settings.seed, "skipped", first_line(report))
        if report.when == "setup" and not report.passed:
            outcome: Outcome = "skipped" if report.skipped else "not_run"
            return unscored(item, self.settings.seed, outcome, first_line(report))
        if report.when == "call" and report.skipped:
            return unscored(item, self.settings.seed, "skipped", first_line(report))
        return None

    def _scorer(self, item: CaseItem) -> str:
        """Return the digest of what scores an item: the rubric's, with that of every hook before it."""
        rubric = self.bench_of(item.path).rubric_digest
        plugins = [
            implementation.plugin
            for implementation in item.ihook.pytest_bench_score.get_hookimpls()
            if implementation.plugin is not self
        ]
        return digest([rubric, *map(_source_digest, plugins)]) if plugins else rubric


def _label(system: object) -> str:
    return str(getattr(system, "__qualname__", type(system).__name__))


def _is_timeout(error: BaseException) -> bool:
    # pytest-timeout raises what pytest.fail raises; its text is all that tells it apart.
    return isinstance(error, pytest.fail.Exception) and str(error).endswith("from pytest-timeout.")


def _source_digest(plugin: object) -> str:
    path = getattr(plugin, "__file__", None)
    if path is None:
        return str(getattr(plugin, "__name__", type(plugin).__qualname__))
    with open(path, "rb") as file:
        return sha256_hex(file.read())
