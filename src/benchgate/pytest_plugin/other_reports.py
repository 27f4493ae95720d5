"""The gate in reports of others: in the properties of a suite of JUnit XML, as a test case there, and in JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import pytest

from benchgate.errors import printable
from benchgate.wording.block import Door, block
from benchgate.wording.decision import DecisionView
from benchgate.wording.lines import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.judge import Judgement
    from benchgate.pytest_plugin.controller import Controller
    from benchgate.runner.class_run import ClassRun

PREFIX: Final = "--bench-"
"""Of the options that a reader of a session can type."""


class OtherReports:
    """Adds the gate of each class to pytest's own report, if that accepts properties, and to pytest-json-report's."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Add properties, and the case, before the reporter writes its file."""
        # Only a session-scoped fixture has a public way to these properties, and cases have no fixtures.
        plugins = session.config.pluginmanager.get_plugins()
        reporters = [plugin for plugin in plugins if hasattr(plugin, "add_global_property")]
        is_case = self._controller.session.junit_gate
        for reporter in reporters:
            for run in self._controller.runs.values():
                for name, value in _properties(run):
                    reporter.add_global_property(f"bench.{run.name}.{name}", value)
                if is_case:
                    _add_case(reporter, run)

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_modifyreport(self, json_report: dict[str, Any]) -> None:
        """Add a section with the runs of this session; the hook is declared only with ``--json-report``."""
        json_report["benchgate"] = [_section(run) for run in self._controller.runs.values()]


def _properties(run: ClassRun) -> Iterator[tuple[str, str]]:
    judgement = run.judgement
    if judgement is not None:
        decision = judgement.decision
        yield "run_id", judgement.report.run_id
        yield "cost_usd", str(judgement.report.total_cost_usd)
        yield "decision", decision.outcome if decision else "not_evaluated"
        if decision is not None:
            yield "reason_codes", ", ".join(decision.reason_codes)
        yield from _comparison(judgement)
    if run.published is not None and run.published.head is not None:
        yield "head", run.published.head


def _comparison(judgement: Judgement) -> Iterator[tuple[str, str]]:
    baseline = judgement.run.baseline
    if baseline is not None and baseline.report is not None:
        yield "baseline.system", printable(baseline.report.system)
        yield "baseline.run_id", baseline.report.run_id
        yield "baseline.path", printable(baseline.path)
    if judgement.figures is not None:
        tests = judgement.figures.significance
        for name in ("mean_delta", "delta_ci_low", "delta_ci_high", "p_value"):
            if getattr(tests, name) is not None:
                yield name, str(getattr(tests, name))
    if judgement.changes is not None:
        changes = judgement.changes
        for name in ("newly_failing", "newly_passing", "fell", "rose"):
            yield name, ", ".join(change.case_id for change in getattr(changes, name))
        yield "errors", ", ".join(case_id for case_id, _ in changes.errors)


def _add_case(reporter: Any, run: ClassRun) -> None:
    """Report the gate of a class to JUnit alone, as the call of a test: no other reporter counts it."""
    path = f"bench/{run.name}"
    outcome, why = _outcome(run)
    common: dict[str, Any] = {
        "nodeid": f"{path}::gate",
        "location": (path, None, "gate"),
        "keywords": {},
        "duration": 0.0,
    }
    shown = (path, 0, why) if outcome == "skipped" else why
    for when, how, text in (("call", outcome, shown), ("teardown", "passed", None)):
        report = pytest.TestReport(**common, when=when, outcome=how, longrepr=text)  # type: ignore[arg-type]
        reporter.pytest_runtest_logreport(report)


def _outcome(run: ClassRun) -> tuple[str, str | None]:
    """Return ``failed`` where the gate alone ends the session with another status than 0, and why."""
    judgement = run.judgement
    if judgement is None:
        return "failed", printable("; ".join(["the run was not judged", *run.failures]))
    view = DecisionView.of_run(judgement, PREFIX)
    choice = judgement.run.choice
    if view.outcome == "none":
        # Of shards, benchgate merge judges the whole.
        if choice.requested and run.request.settings.shard is None:
            return "failed", view.headline.text
        return "skipped", view.headline.text
    if view.outcome == "promote":
        return "passed", None
    head = printable(f"{view.headline.label}: {view.headline.text}")
    if not (choice.binding or judgement.held):
        return "skipped", f"{head}; the exit status does not follow it"
    lines = laid_out(block(judgement, Door(prefix=PREFIX, verbosity=1)), 100)
    return "failed", "\n".join([head, "", *(text for text, _ in lines)])


def _section(run: ClassRun) -> dict[str, Any]:
    judgement = run.judgement
    if judgement is None:
        return {"task_class": run.name, "failures": run.failures}
    form: Any = {"mode": "json", "exclude": {"per_case", "digests"}}
    section: dict[str, Any] = judgement.report.model_dump(**form)
    baseline = judgement.run.baseline
    if baseline is not None and baseline.report is not None:
        section["baseline"] = baseline.report.model_dump(**form) | {"path": str(baseline.path)}
    # All keys are there, whatever is known, and always in this order.
    unknown = ("decision", "significance", "reason_codes", "delta", "interval", "changes")
    section |= dict.fromkeys(unknown)
    section |= {"failures": run.failures, "folder": None, "head": None}
    if judgement.decision is not None:
        section["decision"] = judgement.decision.model_dump(mode="json")
        section["reason_codes"] = section["decision"]["reason_codes"]
    if judgement.figures is not None:
        figures = judgement.figures.significance.model_dump(mode="json")
        section["significance"] = figures
        section["delta"] = figures["mean_delta"]
        section["interval"] = [figures["delta_ci_low"], figures["delta_ci_high"]]
    if judgement.changes is not None:
        section["changes"] = asdict(judgement.changes)
    if run.published is not None:
        section["folder"] = str(run.published.folder)
        section["head"] = run.published.head
    return section
