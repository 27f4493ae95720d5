"""
Run every system on every case and print what they scored, as the table of the class's README.

    python bench/migration-chainguard-distroless/tools/compare_systems.py
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate import run_eval
from benchgate.testing import load_cases, loaded_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.models import TrialResult

CLASS: Final = Path(__file__).resolve().parent.parent
SECOND: Final = "025"
"""Where the second set of cases begins, which was written when the systems were done."""


def main() -> None:
    """Print the table."""
    sys.stdout.write("\n".join(table()) + "\n")


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    cases, results = load_cases(CLASS), measured()
    first = [case_id for case_id in cases if case_id < SECOND]
    sets = {
        "001 to 024": first,
        "025 to 040": [case_id for case_id in cases if case_id not in first],
        "held out": [case_id for case_id, case in cases.items() if case.held_out],
        "all": list(cases),
    }
    yield f"| set | cases | {' | '.join(results)} |"
    yield "| --- " * (len(results) + 2) + "|"
    for title, ids in sets.items():
        sums = (_summary([by_case[one] for one in ids]) for by_case in results.values())
        yield f"| {title} | {len(ids)} | {' | '.join(sums)} |"


def measured() -> dict[str, dict[str, TrialResult]]:
    """Run every registered system on every case; return the results by system, then by case id."""
    with loaded_class(CLASS) as bench:
        systems = sorted(bench.task_class.systems)
    reports = {
        name: run_eval(CLASS.name, system_under_test=name, bench_root=CLASS.parent)
        for name in systems
    }
    return {
        name: {result.case_id: result for result in report.per_case}
        for name, report in reports.items()
    }


def _summary(results: Sequence[TrialResult]) -> str:
    scores = [one.score for one in results if one.score]
    mean = math.fsum(score.score for score in scores) / len(results)
    passed = sum(score.passed for score in scores)
    clean = sum(score.breakdown.get("clean") == 1.0 for score in scores)
    penalty = math.fsum(score.safety_penalty or 0.0 for score in scores) / len(results)
    return f"{mean:.3f}, {passed} / {clean}, penalty {penalty:.3f}"


if __name__ == "__main__":
    main()
