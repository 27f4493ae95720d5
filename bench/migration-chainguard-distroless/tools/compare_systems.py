"""
Run every system on every case and print what they scored, as the tables of the class's README.

    python bench/migration-chainguard-distroless/tools/compare_systems.py
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.testing import compare_systems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.models import TrialResult

CLASS: Final = Path(__file__).resolve().parent.parent
SECOND: Final = "025"
"""Where the second set of cases begins, which was written when the systems were done."""


def main() -> None:
    """Print the tables."""
    sys.stdout.write("\n".join(tables()) + "\n")


def tables() -> Iterator[str]:
    """Yield the lines of both tables: case by case, and in sum."""
    found = compare_systems(CLASS)
    held_out = [case_id for case_id, case in found.cases.items() if case.held_out]
    yield from found.by_case("trap")
    yield ""
    first = [case_id for case_id in found.cases if case_id < SECOND]
    sets = {
        "001 to 024": first,
        "025 to 040": [case_id for case_id in found.cases if case_id not in first],
        "held out": held_out,
        "all": list(found.cases),
    }
    yield from found.by_set("set", sets, _summary)


def _summary(results: Sequence[TrialResult]) -> str:
    scores = [one.score for one in results if one.score]
    mean = math.fsum(score.score for score in scores) / len(results)
    passed = sum(score.passed for score in scores)
    clean = sum(score.breakdown.get("clean") == 1.0 for score in scores)
    penalty = math.fsum(score.safety_penalty or 0.0 for score in scores) / len(results)
    return f"{mean:.3f}, {passed} / {clean}, penalty {penalty:.3f}"


if __name__ == "__main__":
    main()
