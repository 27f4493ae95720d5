"""
Reads what earlier looks of a series had seen: cases that are gone now, or are no longer what they were.

What follows from these is in :mod:`benchgate.gates.over_seen`.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.audit.chain import RECORD_FILE
from benchgate.gates.baseline import arm
from benchgate.gates.over_seen import cases_of, is_critical, seen_case

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from benchgate.gates.figures import Arm
    from benchgate.gates.looks import RecordedLook
    from benchgate.looks.tally import Counted
    from benchgate.models import BenchRunReport, TrialResult

    Cases = dict[str, Arm]


def with_seen(
    counted: Counted, before: Arm, report: BenchRunReport, *, is_beside: bool
) -> RecordedLook:
    """
    Return a look with the cases of earlier looks that are gone now, or are no longer what they were.

    :param before: the baseline, with the cases that are compared now.
    :param report: of the candidate.
    :param is_beside: the baseline ran too, so that its scores are other ones each time.
    """
    now = cases_of(before)
    seen = {
        case_id: case
        for case_id, case in _first_seen(counted.unlike).items()
        if not _is_same(case, now.get(case_id), is_beside=is_beside)
    }
    known = {}
    lacking = seen.keys() - {result.case_id for result in report.per_case}
    if lacking:
        known = _last_results(report, lacking, counted.earlier)
    cases = {
        "seen": tuple(seen_case(case_id, case) for case_id, case in sorted(seen.items())),
        "known": tuple(seen_case(case_id, case) for case_id, case in sorted(known.items())),
    }
    return counted.look.model_copy(update=cases)


def _first_seen(folders: Iterable[Path]) -> Cases:
    """Return each case of some looks as the baseline had it at the first of them, as far as they can be read."""
    seen: Cases = {}
    for folder in folders:
        record = RunRecord.read_or_none(folder / RECORD_FILE)
        if record is None or record.compared_with is None:
            continue
        before = record.compared_with.run
        if before is not None:
            # A case that an earlier look had stays as it was there.
            seen = cases_of(arm(before, record.report)) | seen
    return seen


def _is_same(then: Arm, now: Arm | None, *, is_beside: bool) -> bool:
    """Return whether a case is still compared, with the same labels and the same score of the baseline."""
    if now is None or then.labels != now.labels or is_critical(then) != is_critical(now):
        return False
    return is_beside or then.scores == now.scores


def _last_results(report: BenchRunReport, cases: Iterable[str], earlier: Iterable[Path]) -> Cases:
    """Return some cases with the last results that the candidate's system had there at earlier looks."""
    results: dict[str, tuple[TrialResult, ...]] = {}
    for folder in earlier:
        record = RunRecord.read_or_none(folder / RECORD_FILE)
        if record is not None and record.report.system == report.system:
            rows = groupby(record.report.per_case, key=attrgetter("case_id"))
            results |= {case_id: tuple(of_case) for case_id, of_case in rows}
    known = tuple(row for case_id in sorted(cases) for row in results.get(case_id, ()))
    return cases_of(arm(report.model_copy(update={"per_case": known})))
