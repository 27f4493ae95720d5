"""Compares what a record says of labels with the results that it has them of: a label may be invented, or left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.gates.labels import Observing, SeenOutput, seen_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.labels import Label, Whose
    from benchgate.models import BenchRunReport, Observer


def result_faults(record: RunRecord, whose: Whose, report: BenchRunReport) -> Iterator[str]:
    """
    Yield which labels have other results of the candidate, or of the baseline, than its report.

    :param whose: what they are called in the labels.
    """
    expected = seen_in(record.labels, record.report.observer, [Observing(whose, report)])
    for label, there in zip(record.labels, expected, strict=True):
        if _rows(label, whose) != _rows(there, whose):
            yield f"labels: the {whose} has other results of {_called(label)}"


def earlier_result_faults(record: RunRecord, before: Iterable[RunRecord]) -> Iterator[str]:
    """
    Yield which labels have a result of an earlier run that its record lacks, or lack one that a record has.

    :param before: the records before this one in its chain.
    """
    if not record.labels:
        return
    observer = record.report.observer
    known: set[tuple[str, str, SeenOutput]] = set()
    # A run that ended meanwhile may not have been seen.
    surely: list[Observing] = []
    for one in before:
        found = [*_observed(one, observer)]
        for run in found:
            known |= _results(run)
        if one.finished_at <= record.started_at:
            surely += found
    first = seen_in(record.labels, observer, surely)
    for label, wanted in zip(record.labels, first, strict=True):
        rows = _rows(label, "earlier")
        is_known = all((label.case, label.output, row) in known for row in rows)
        if not is_known or (rows and rows != label.observed):
            yield f"labels: no earlier run has this result of {_called(label)}"
        elif wanted.observed and rows == label.observed and rows != wanted.observed:
            yield f"labels: an earlier run has another result of {_called(label)}"


def _observed(record: RunRecord, observer: Observer | None) -> Iterator[Observing]:
    """Yield the runs of a record that an observer observed."""
    for report in (record.report, record.rerun):
        if report is not None and report.observer == observer:
            yield Observing("earlier", report, record.seq)


def _results(run: Observing) -> set[tuple[str, str, SeenOutput]]:
    """Return case and output of each observed result, and what the observer has it at."""
    return {
        (
            result.case_id,
            result.observed.output,
            SeenOutput(
                whose=run.whose, passed=result.passed, score=result.score.score, seq=run.seq
            ),
        )
        for result in run.report.per_case
        if result.observed and result.score
    }


def _rows(label: Label, whose: Whose) -> tuple[SeenOutput, ...]:
    return tuple(row for row in label.observed if row.whose == whose)


def _called(label: Label) -> str:
    return f"output {label.output[:12]} of case {label.case}"
