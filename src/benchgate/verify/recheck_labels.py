"""Compares what a record says of labels with the results that it has them of: a label may be invented, or left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.gates.labels import seen_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.labels import Label, Whose
    from benchgate.models import BenchRunReport


def result_faults(record: RunRecord, whose: Whose, report: BenchRunReport) -> Iterator[str]:
    """
    Yield which labels have other results of the candidate, or of the baseline, than its report.

    :param whose: what they are called in the labels.
    """
    expected = seen_in(record.labels, record.report.observer, [(whose, report)])
    for label, there in zip(record.labels, expected, strict=True):
        if _rows(label, whose) != _rows(there, whose):
            yield f"labels: the {whose} has other results of {_called(label)}"


def earlier_result_faults(record: RunRecord, before: Iterable[RunRecord]) -> Iterator[str]:
    """
    Yield which labels have a result of an earlier run that no record has, or lack one that a record has.

    :param before: the records before this one in its chain.
    """
    if not record.labels:
        return
    observer = record.report.observer
    started = record.started_at
    reports = [
        (one.finished_at, report)
        for one in before
        for report in (one.report, one.rerun)
        if report is not None and report.observer == observer
    ]
    known = {result for _, report in reports for result in _results(report)}
    # A run that ended meanwhile may not have been seen.
    surely: list[tuple[Whose, BenchRunReport]] = [
        ("earlier", report) for finished, report in reports if finished <= started
    ]
    first = seen_in(record.labels, observer, surely)
    for label, wanted in zip(record.labels, first, strict=True):
        rows = _rows(label, "earlier")
        is_known = all((label.case, label.output, *row[1:]) in known for row in rows)
        if not is_known or (rows and rows != label.observed):
            yield f"labels: no earlier run has this result of {_called(label)}"
        elif wanted.observed and rows == label.observed != wanted.observed:
            yield f"labels: an earlier run has another result of {_called(label)}"


def _results(report: BenchRunReport) -> Iterator[tuple[str, str, bool, float]]:
    """Yield case, output, and what the observer has it at."""
    for result in report.per_case:
        if result.observed and result.score:
            yield result.case_id, result.observed.output, result.passed, result.score.score


def _rows(label: Label, whose: Whose) -> tuple[tuple[Whose, bool, float], ...]:
    return tuple(row for row in label.observed if row[0] == whose)


def _called(label: Label) -> str:
    return f"output {label.output[:12]} of case {label.case}"
