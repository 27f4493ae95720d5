"""Conditions that block a promotion before any comparison: faults of the run or of its baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.gates.baseline import differences
from benchgate.gates.unscored import incompleteness, savings
from benchgate.models.case import differing
from benchgate.sentences.says import clauses, names, says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker
    from benchgate.gates.run_side import BaselineFacts
    from benchgate.models import BenchRunReport, Observer
    from benchgate.sentences.says import Listing, Says


def run_blockers(report: BenchRunReport) -> Iterator[Blocker]:
    """Yield why a run cannot be promoted, whatever a comparison would show."""
    if report.stopped and not report.complete:
        yield "stopped", savings(report)
    elif not report.complete:
        yield "incomplete_run", says("incomplete_run", parts=incompleteness(report))
    if report.block_severity_failure_modes:
        said = says("block_severity_failure_mode", modes=blocking(report))
        yield "block_severity_failure_mode", said


def blocking(report: BenchRunReport) -> Listing:
    """Return each failure code of severity ``block`` with the cases that have it."""
    cases: dict[tuple[str, str], list[str]] = {}
    for result in report.per_case:
        for mode in result.failure_modes:
            if mode.code in report.block_severity_failure_modes:
                detail = ""
                if mode.code == "unknown_failure_mode":
                    detail = mode.detail or ""
                cases.setdefault((mode.code, detail), []).append(result.case_id)
    return clauses(_blocked(code, detail, ids) for (code, detail), ids in sorted(cases.items()))


def _blocked(code: str, detail: str, ids: list[str]) -> Says:
    if detail:
        return says(
            "block_severity_failure_mode.unknown", mode=code, detail=detail, cases=names(ids, 3)
        )
    return says("block_severity_failure_mode.cases", mode=code, cases=names(ids, 3))


def baseline_blockers(report: BenchRunReport, baseline: BaselineFacts | None) -> Iterator[Blocker]:
    """Yield why a run cannot be compared with its baseline, if it cannot."""
    if baseline is None:
        yield "baseline_missing", says("baseline_missing")
        return
    problems = baseline.problems
    if not problems and baseline.run is not None:
        problems = tuple(differences(baseline.run, report))
    if problems:
        said = says("baseline_mismatch", path=_name(baseline), problems=clauses(problems))
        yield "baseline_mismatch", said
    elif baseline.run is not None:
        yield from _observer_blocker(baseline, baseline.run.observer, report.observer)


def _observer_blocker(
    baseline: BaselineFacts, before: Observer | None, now: Observer | None
) -> Iterator[Blocker]:
    """Yield that the outputs of the baseline were observed otherwise, and what to do about it."""
    changes = [
        says("observer_mismatch.change", name=name, before=was, after=is_now)
        for name, was, is_now in differing(before, now)
    ]
    if changes:
        said = says("observer_mismatch", path=_name(baseline), changes=clauses(changes))
        yield "observer_mismatch", said
        yield "observer_mismatch", how_to_observe(baseline)


def how_to_observe(baseline: BaselineFacts) -> Says:
    """Return how to get a baseline that the observer of today observed."""
    if baseline.outputs_at:
        return says("step.observe_again", outputs=baseline.outputs_at)
    return says("step.run_again_to_observe")


def _name(baseline: BaselineFacts) -> str:
    return Path(baseline.path).name
