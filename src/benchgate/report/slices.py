"""A run by parts of its cases: by difficulty, tag, cluster and whether they are held out, and by part of the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.aggregate import axis_means, group_figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from benchgate.aggregate import CaseFigures, GroupFigures
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.report.source import Source

MAX_SLICES = 30
"""Rows of a table; of more clusters or tags than these, the largest are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Cases with the same label: how they did now and in the baseline."""

    label: str
    after: GroupFigures
    before: GroupFigures | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisRow:
    """The mean of one part of the score, now and, if it ran in the same session, in the baseline."""

    name: str
    after: float
    before: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceTable:
    """The slices by one property of the cases; ``left_out`` counts those that are not shown."""

    title: str
    rows: tuple[Slice, ...]
    left_out: int = 0


def axis_rows(source: Source) -> list[AxisRow]:
    """Return the mean of each part of the score."""
    if source.report is None:
        return []
    rerun = source.record.rerun if source.record else None
    before = axis_means(rerun.per_case) if rerun else {}
    after = axis_means(source.report.per_case)
    return [
        AxisRow(name=name, after=value, before=before.get(name)) for name, value in after.items()
    ]


def slice_tables(
    source: Source, before: Sequence[CaseFigures], after: Sequence[CaseFigures]
) -> list[SliceTable]:
    """Return a table for each property in which the cases of a run differ."""
    if source.record is None:
        return []
    found = []
    held_out = {result.case_id for result in source.record.report.per_case if result.held_out}
    by_id = [{case.case_id: case for case in side} for side in (before, after)]
    for title in ("held out", "difficulty", "disposition", "tag", "cluster"):
        members: dict[str, list[str]] = {}
        for case in after:
            for label in _labels(source.record, held_out, case.case_id, title):
                members.setdefault(label, []).append(case.case_id)
        if (len(members) < 2 and title != "tag") or not members:
            continue
        rows = [_slice(label, ids, *by_id) for label, ids in sorted(members.items())]
        if title in {"tag", "cluster"}:
            rows.sort(key=lambda row: (-row.after.case_count, row.label))
        left_out = max(len(rows) - MAX_SLICES, 0)
        found.append(SliceTable(title=title, rows=tuple(rows[:MAX_SLICES]), left_out=left_out))
    return found


def _slice(
    label: str,
    ids: Sequence[str],
    before: Mapping[str, CaseFigures],
    after: Mapping[str, CaseFigures],
) -> Slice:
    old, new = ([side[case_id] for case_id in ids if case_id in side] for side in (before, after))
    return Slice(label=label, after=group_figures(new), before=group_figures(old) if old else None)


def _labels(
    record: RunRecord, held_out: AbstractSet[str], case_id: str, title: str
) -> Iterator[str]:
    about = record.about_cases.get(case_id)
    if title == "held out":
        yield "held out" if case_id in held_out else "not held out"
    elif title == "cluster":
        if case_id in record.report.clusters:
            yield record.report.clusters[case_id]
    elif about is not None:
        yield from about.tags if title == "tag" else (getattr(about, title),)
