"""
Run every system on every case and print what they scored, as the tables of the class's README.

    python bench/vuln-remediation/tools/compare_systems.py
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.testing import compare_systems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.models import BenchCase, TrialResult

CLASS: Final = Path(__file__).resolve().parent.parent


def main() -> None:
    """Print the tables."""
    sys.stdout.write("\n".join(tables()) + "\n")


def tables() -> Iterator[str]:
    """Yield the lines of both tables: by fix class, and case by case."""
    found = compare_systems(CLASS)
    yield from found.by_set("fix class", _sets(found.cases.values()), _summary)
    yield ""
    yield from found.by_case("fix_class")


def _sets(cases: Iterable[BenchCase]) -> dict[str, list[str]]:
    """Return the ids of the cases by fix class, then by the day they were added, of those held out, and of all."""
    by_class, by_day, held_out, every = defaultdict(list), defaultdict(list), [], []
    for case in cases:
        by_class[str(case.facts["fix_class"])].append(case.case_id)
        by_day[f"**added {case.added_at:%Y-%m-%d}**"].append(case.case_id)
        held_out += [case.case_id] if case.held_out else []
        every.append(case.case_id)
    days = dict(sorted(by_day.items()))
    return {**dict(sorted(by_class.items())), **days, "**held out**": held_out, "**all**": every}


def _summary(results: Sequence[TrialResult]) -> str:
    scores = [one.score for one in results if one.score]
    mean = math.fsum(score.score for score in scores) / len(results)
    passed = sum(score.passed for score in scores)
    clean = sum(score.breakdown.get("clean") == 1.0 for score in scores)
    return f"{mean:.3f}, {passed} / {clean}"


if __name__ == "__main__":
    main()
