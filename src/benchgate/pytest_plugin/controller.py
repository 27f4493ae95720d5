"""
The one process that judges: it reconciles planned trials with their results, gates, and writes.

Under xdist this is the controller, which runs no item and knows items only by their ids and reports.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.errors import ArtifactError, EvalError
from benchgate.gates.exit_status import HELD
from benchgate.models import BenchRunReport, Side, TrialResult
from benchgate.pytest_plugin.layout import is_case_file, trial_key
from benchgate.pytest_plugin.nodes import CaseItem
from benchgate.pytest_plugin.reports import PAYLOAD
from benchgate.runner.class_run import ClassRun
from benchgate.runner.settings import Grounds
from benchgate.trials.executor import TrialRecord
from benchgate.trials.interrupts import finishing
from benchgate.wire.writing import check_writable

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    import pluggy

    from benchgate.gates.judge import Gate
    from benchgate.pytest_plugin.session import BenchSession
    from benchgate.report.publish import Publication
    from benchgate.trials.planned import Key


TOLERATED = frozenset({"scored", "harness_error", "timeout"})
"""Outcomes that fail a case but, with ``--bench-exit=gate``, not the session."""


class RootHooks:
    """
    The hooks of the plugins and of the root conftest: under xdist the controller loads no other conftest.

    Not through ``session.gethookproxy(rootpath)``: pytest knows the conftests of a folder only once it has collected
    it, and the controller of xdist collects nothing.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._callers: dict[str, pluggy.HookCaller] = {}

    def call(self, hook: str, **arguments: Any) -> Any:
        """Call a hook; first when items run, and no conftest comes after collection."""
        config = self._config
        if hook not in self._callers:
            root = os.path.realpath(config.rootpath)
            plugins = config.pluginmanager.get_plugins()
            below = [plugin for plugin in plugins if _is_conftest_below(plugin, root)]
            self._callers[hook] = config.pluginmanager.subset_hook_caller(hook, below)
        return self._callers[hook](config=config, **arguments)


def _is_conftest_below(plugin: object, root: str) -> bool:
    path = getattr(plugin, "__file__", None) or ""
    if os.path.basename(path) != "conftest.py":
        return False
    return os.path.realpath(os.path.dirname(path)) != root


class Controller:
    """
    Plans, collects results, and at the end of the loop judges and writes.

    ``unplanned`` has the items that were run though their class was not planned; ``page`` is the page that was written.
    """

    def __init__(self, session: BenchSession) -> None:
        self.session = session
        self.runs: dict[str, ClassRun] = {}
        self.grounds: dict[str, Grounds] = {}
        self._keys: dict[str, dict[Side, set[Key]]] = {}
        self._tolerated = 0
        self.unplanned: list[str] = []
        self._held = False
        self._hooks = RootHooks(session.config)
        self.page: Path | None = None

    def open(self) -> None:
        """
        Check at the start what would fail at the end.

        :raises pytest.UsageError: baseline or checkpoint cannot be read, or page or output folder cannot be written.
        """
        try:
            self.session.publication.check()
        except EvalError as error:
            raise pytest.UsageError(f"--bench-html: {error}") from error
        try:
            for name, bench in self.session.benches.items():
                self.grounds[name] = Grounds.read(self.session.settings_of[name], bench.path)
            check_writable(self.session.out)
        except EvalError as error:
            raise pytest.UsageError(str(error)) from error

    def pytest_sessionstart(self) -> None:
        """
        Digest the checkpoints, after the systems were found and before a worker is started.

        :raises pytest.UsageError: one cannot be read.
        """
        if self.session.config.option.collectonly:
            return
        try:
            for request in self.session.requests.values():
                for system in request.systems.values():
                    system.checkpoint_sha256()
        except ArtifactError as error:
            raise pytest.UsageError(str(error)) from error

    # Planning

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan the items that this process collected; under xdist it collects none."""
        for item in session.items:
            if isinstance(item, CaseItem):
                self._add_key(item.task_class, item.side, (item.case_id, item.trial))

    def _add_key(self, name: str, side: Side, key: Key) -> None:
        self._keys.setdefault(name, {"candidate": set(), "baseline": set()})[side].add(key)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Plan the items that a worker collected, known by their ids."""
        root = self.session.config.rootpath
        for path, _, name in (node_id.partition("::") for node_id in ids):
            case_file = root / path
            if is_case_file(case_file):
                self._add_key(case_file.parents[2].name, *trial_key(case_file, name))
        self._plan()

    def _plan(self) -> None:
        for name, keys in sorted(self._keys.items()):
            if name in self.runs or name not in self.session.benches:
                continue
            run = ClassRun(self.session.requests[name], self.grounds[name])
            self.runs[name] = run
            try:
                run.open(keys["candidate"], keys["baseline"])
            except ArtifactError as error:
                raise pytest.UsageError(str(error)) from error

    # Results

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """
        Judge when the loop is over.

        Not in pytest_sessionfinish: there the exit status is already an argument of every other reporter's hook, so
        that JUnit, JSON and the terminal would disagree with the shell.
        """
        if session.config.option.collectonly:
            result = yield
            self._require_cases(session)
            return result
        if not session.testsfailed or session.config.option.continue_on_collection_errors:
            # else pytest refuses to run for its collection errors
            self._plan()
            runs = [run for run in self.runs.values() if run.request.settings.stop == "decided"]
            keys = [(run.name, *key) for run in runs for key in run.candidate.keys]
            places: dict[object, int] = {key: place for place, key in enumerate(keys)}
            session.items.sort(key=lambda item: places.get(getattr(item, "bench_key", None), -1))
        try:
            result = yield
        except BaseException:
            for run in self.runs.values():
                run.interrupt()
            self._finish(session)
            raise
        self._require_cases(session)
        self._finish(session)
        return result

    def _require_cases(self, session: pytest.Session) -> None:
        if self.session.selection.by_option and not self._keys and not session.testsfailed:
            patterns = ", ".join(session.config.option.bench_classes)
            msg = f"--bench={patterns}: no bench case was selected"
            raise pytest.UsageError(msg)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """File the result that a report carries."""
        # Removed from the report: the terminal keeps every report, and so every output, to the end.
        payload = vars(report).pop(PAYLOAD, None)
        if payload is not None:
            self._file_payload(report, payload)

    def _file_payload(self, report: pytest.TestReport, payload: dict[str, Any]) -> None:
        run = self.runs.get(payload["task_class"])
        if run is None:  # nothing judges this result, so the session must fail
            self.unplanned.append(report.nodeid)
            return
        result = payload["result"]
        if not isinstance(result, TrialResult):
            result = TrialResult.read_json(result.encode())
        side = payload["side"]
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # set by rerunfailures
            run.sides[side].rerun((result.case_id, result.trial))
            return
        run.sides[side].handed(payload["checkpoint"])
        self.file(run, report, TrialRecord(result=result, **payload["rest"]), side)

    def file(
        self, run: ClassRun, report: pytest.TestReport, record: TrialRecord, side: Side
    ) -> None:
        """File the record of a trial."""
        result = record.result
        if report.failed and result.outcome in TOLERATED and side == "candidate":
            self._tolerated += 1
        result = run.record(record, side)
        if run.stopped:
            self.session.trials.service.stop(run.name, run.stopped)
        if side == "candidate":
            self._hooks.call("pytest_bench_case_finished", result=result)

    # Judging

    def _finish(self, session: pytest.Session) -> None:
        with finishing():
            self.session.trials.close()  # what still waits would be paid for and not be in the record
            for run in self.runs.values():
                run.finish(_gates(self._hooks, run))
            self.page = _write_views(self.session.publication, [*self.runs.values()])
        if self.session.settings.exit_rule == "gate":
            session.testsfailed -= self._tolerated
        statuses = {run.exit_status for run in self.runs.values()}
        # The exit status follows the number of failures: 1 at first, also if the gate holds, see pytest_sessionfinish.
        if self.unplanned or statuses - {0}:
            self._held = not (self.unplanned or session.testsfailed) and statuses <= {0, HELD}
            session.testsfailed = max(1, session.testsfailed)
        for run in self.runs.values():
            if run.judgement is not None:
                self._hooks.call(
                    "pytest_bench_run_finished",
                    report=run.judgement.report,
                    decision=run.judgement.decision,
                )

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """
        Exit with another status if the gate holds, and nothing else failed since.

        Other reporters were told 1, which is what the terminal needs to print its summary. Those that read the status
        from the session, as the JSON report does, see this one.
        """
        if self._held and session.testsfailed == 1 and session.exitstatus == 1:
            session.exitstatus = HELD


def _gates(hooks: RootHooks, run: ClassRun) -> list[Any]:
    if run.candidate.scope != "full":
        return []
    try:
        offered = hooks.call("pytest_bench_gates", task_class=run.request.bench.task_class)
        return [gate for gates in offered for gate in gates or ()]
    except Exception as error:
        return [_objecting(f"{type(error).__name__}: {error}")]


def _write_views(publication: Publication, runs: list[ClassRun]) -> Path | None:
    """Write page and summary; a page that fails is a problem of the run, for it was asked for."""
    folders = [run.published.folder for run in runs if run.published is not None]
    problem = publication.write_page(folders)
    warning = publication.append_summary(folders)
    if runs:
        # One page has all classes: the last run stands for them.
        if problem:
            runs[-1].problems.append(problem)
        if warning:
            runs[-1].warnings.append(warning)
    if problem:
        return None
    return publication.html


def _objecting(reason: str) -> Gate:
    """Return a gate that always objects, in place of those that a failed hook did not return."""

    def pytest_bench_gates(report: BenchRunReport, before: BenchRunReport | None) -> str:  # noqa: ARG001
        return f"the hook failed: {reason}"

    return pytest_bench_gates
