"""Conditions that block a promotion before any comparison: faults of the run or of its baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.errors import brief, few
from benchgate.gates.baseline import differences
from benchgate.gates.unscored import incompleteness
from benchgate.models.case import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker
    from benchgate.gates.run_side import BaselineFacts
    from benchgate.models import BenchRunReport, Observer


def run_blockers(report: BenchRunReport) -> Iterator[Blocker]:
    """Yield why a run cannot be promoted, whatever a comparison would show."""
    if not report.complete:
        code = "stopped" if report.stopped else "incomplete_run"
        yield code, incompleteness(report)
    if report.block_severity_failure_modes:
        yield "block_severity_failure_mode", f"severity block: {blocking(report)}"


def blocking(report: BenchRunReport) -> str:
    """Return each failure code of severity ``block`` with the cases that have it, as a text."""
    cases_by_label: dict[str, list[str]] = {}
    for result in report.per_case:
        for mode in result.failure_modes:
            if mode.code in report.block_severity_failure_modes:
                label = mode.code
                if label == "unknown_failure_mode":
                    label = f"{mode.code} {mode.detail!r}"
                cases_by_label.setdefault(label, []).append(result.case_id)
    return brief(
        (f"{label} in {few(ids, 3)}" for label, ids in sorted(cases_by_label.items())), "; "
    )


def baseline_blockers(report: BenchRunReport, baseline: BaselineFacts | None) -> Iterator[Blocker]:
    """Yield why a run cannot be compared with its baseline, if it cannot."""
    if baseline is None:
        yield "baseline_missing", "there is no baseline"
        return
    problems = baseline.problems
    if not problems and baseline.run is not None:
        problems = tuple(differences(baseline.run, report))
    if problems:
        yield "baseline_mismatch", f"{_name(baseline)}: {brief(problems, '; ')}"
    elif baseline.run is not None:
        yield from _observer_blocker(baseline, baseline.run.observer, report.observer)


def _observer_blocker(
    baseline: BaselineFacts, before: Observer | None, now: Observer | None
) -> Iterator[Blocker]:
    """Yield that the outputs of the baseline were observed otherwise, and at the end what to do about it."""
    changed = changes(before, now)
    if not changed:
        return
    kept = baseline.outputs_at
    if kept:
        step = f"observe it again, then pin that run: --reobserve={kept} --baseline=none"
    else:
        step = "its outputs are not kept: run its system again, then pin that run: --baseline=none"
    text = f"{_name(baseline)}: its observer: {brief(changed, '; ')}; {step}"
    yield "observer_mismatch", text


def _name(baseline: BaselineFacts) -> str:
    return Path(baseline.path).name
