"""What each case of a class is worth, by the recorded runs of the class."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from benchgate.audit.chain import numbered
from benchgate.audit.runs import read_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.models import BenchRunReport, TrialResult

    Ran = tuple[str, tuple[TrialResult, ...]]

LAST: Final = 3
"""The newest runs of a case that say whether it is saturated or dead; of fewer, nothing is said."""


def case_worth(runs: Path, most: int = 0) -> list[dict[str, Any]]:
    """
    Return for each case and system, as JSON values, how many trials passed, and what the case is worth.

    ``worth`` is ``saturated`` if each trial of the newest runs passes, ``dead`` if none does, else ``None``; ``flaky``
    says how many passed in the newest run whose trials disagree. Replays and incomplete runs are left out.

    :param most: records that are read, the newest; 0 for all.
    """
    ran: dict[str, list[Ran]] = defaultdict(list)
    for _, folder in numbered(runs)[-most:]:
        record = read_record(folder)
        if record is None or record.replays:
            continue
        for side in (record.rerun, record.report):
            if side is not None and side.complete:
                _add_side(side, ran)
    return [row for case_id in sorted(ran) for row in _rows(case_id, ran[case_id])]


def _add_side(side: BenchRunReport, ran: dict[str, list[Ran]]) -> None:
    """Add the trials of each case of one side of a run."""
    for case_id, rows in groupby(side.per_case, key=attrgetter("case_id")):
        one = (side.system, tuple(rows))
        # A run that extends another has the trials of that one too, which count once.
        if not side.parts or one not in ran[case_id]:
            ran[case_id].append(one)


def _worth(ran: list[Ran]) -> str | None:
    """Return whether the newest runs of a case can still tell systems apart; ``None`` if they can, or are too few."""
    if len(ran) < LAST:
        return None
    passed = {one.passed for _, rows in ran[-LAST:] for one in rows}
    if passed == {True}:
        return "saturated"
    if passed == {False}:
        return "dead"
    return None


def _rows(case_id: str, ran: list[Ran]) -> Iterator[dict[str, Any]]:
    worth = _worth(ran)
    for system in dict.fromkeys(name for name, _ in ran):
        trials = [[one.passed for one in rows] for name, rows in ran if name == system]
        flaky = None
        for row in trials:
            if len({*row}) > 1:
                flaky = f"{sum(row)} of {len(row)}"
        yield {
            "case": case_id,
            "worth": worth,
            "system": system,
            "passed": sum(map(sum, trials)),
            "trials": sum(map(len, trials)),
            "flaky": flaky,
        }
