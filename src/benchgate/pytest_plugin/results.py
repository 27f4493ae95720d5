"""Results as pytest's reports tell them: of items that gave none, and as JUnit properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.errors import BenchCaseLoadError
from benchgate.models import BenchCase, TrialResult
from benchgate.wire.canonical import trial_seed

if TYPE_CHECKING:
    import pytest

    from benchgate.models import Outcome
    from benchgate.pytest_plugin.nodes import CaseItem


def first_line(report: pytest.TestReport) -> str:
    """Return why a report is what it is, on one line."""
    if hasattr(report, "wasxfail"):
        return f"xfail: {report.wasxfail}"
    if isinstance(report.longrepr, tuple):  # a skip: path, line, reason
        return str(report.longrepr[2])
    return (report.longreprtext or "failed in setup").splitlines()[0]


def unscored(item: CaseItem, bench_seed: int, outcome: Outcome, detail: str) -> TrialResult:
    """Return the result of an item that was not scored."""
    case_id = item.path.parent.name
    task_class = item.path.parents[2].name
    return TrialResult(
        case_id=case_id if isinstance(item.loaded, BenchCaseLoadError) else item.loaded.case_id,
        trial=item.trial,
        seed=trial_seed(task_class, case_id, item.trial, bench_seed),
        held_out=isinstance(item.loaded, BenchCase) and item.loaded.held_out,
        outcome=outcome,
        detail=detail,
    )


def properties(result: TrialResult) -> list[tuple[str, object]]:
    """Return the JUnit properties of a trial: exact builtin types, each key once."""
    properties: list[tuple[str, object]] = [
        ("bench.outcome", result.outcome),
        ("bench.passed", result.passed),
        ("bench.failure_modes", ",".join(mode.code for mode in result.failure_modes)),
    ]
    if result.score is not None:
        properties += [
            ("bench.score", result.score.score),
            ("bench.cost_usd", result.score.cost_usd),
        ]
        if result.score.safety_penalty is not None:
            properties.append(("bench.safety_penalty", result.score.safety_penalty))
    return properties
