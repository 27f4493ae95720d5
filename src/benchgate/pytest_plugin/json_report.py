"""A ``benchgate`` section for pytest-json-report."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from benchgate.pytest_plugin.controller import Controller
    from benchgate.runner.class_run import ClassRun


class JsonReport:
    """Adds the section. Its hook is optional: pytest-json-report declares it only with ``--json-report``."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_modifyreport(self, json_report: dict[str, Any]) -> None:
        """Add the runs of this session."""
        json_report["benchgate"] = [_section(run) for run in self._controller.runs.values()]


def _section(run: ClassRun) -> dict[str, Any]:
    judgement = run.judgement
    if judgement is None:
        return {"task_class": run.name, "failures": run.failures}
    form: Any = {"mode": "json", "exclude": {"per_case", "digests"}}
    report, baseline = judgement.report.model_dump(**form), judgement.baseline
    if baseline and baseline.report:
        report["baseline"] = baseline.report.model_dump(**form) | {"path": str(baseline.path)}
    decision = judgement.decision.model_dump(mode="json") if judgement.decision else None
    evidence = judgement.figures
    figures = evidence.significance.model_dump(mode="json") if evidence else None
    return {
        **report,
        "decision": decision,
        "significance": figures,
        "reason_codes": decision["reason_codes"] if decision else None,
        "delta": figures and figures["mean_delta"],
        "interval": figures and [figures["delta_ci_low"], figures["delta_ci_high"]],
        "changes": asdict(judgement.changes) if judgement.changes else None,
        "failures": run.failures,
        "folder": str(run.published.folder) if run.published else None,
        "head": run.published.head if run.published else None,
    }
