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

    from benchgate.models import TrialResult

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
    for record in (read_record(folder) for _, folder in numbered(runs)[-most:]):
        sides = (record.rerun, record.report) if record and not record.replays else ()
        for report in (side for side in sides if side and side.complete):
            for case_id, rows in groupby(report.per_case, key=attrgetter("case_id")):
                one = report.system, tuple(rows)
                if not report.parts or one not in ran[case_id]:  # an extended run has old ones too
                    ran[case_id].append(one)
    return [row for case_id in sorted(ran) for row in _rows(case_id, ran[case_id])]


def _rows(case_id: str, ran: list[Ran]) -> Iterator[dict[str, Any]]:
    last = {one.passed for _, rows in ran[-LAST:] for one in rows} if len(ran) >= LAST else set()
    worth = "saturated" if last == {True} else "dead" if last == {False} else None
    for system in dict.fromkeys(name for name, _ in ran):
        trials = [[one.passed for one in rows] for name, rows in ran if name == system]
        flaky = [f"{sum(row)} of {len(row)}" for row in trials if len({*row}) > 1]
        yield {
            "case": case_id,
            "worth": worth,
            "system": system,
            "passed": sum(map(sum, trials)),
            "trials": sum(map(len, trials)),
            "flaky": flaky[-1] if flaky else None,
        }
