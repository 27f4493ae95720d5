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
    from collections.abc import Sequence

    from benchgate.models import TrialResult

CLASS: Final = Path(__file__).resolve().parent.parent
SECOND: Final = "025"
"""Where the second set of cases begins, which was written when the systems were done."""


def main() -> None:
    """Print the table."""
    cases, name = load_cases(CLASS), CLASS.name
    with loaded_class(CLASS) as bench:
        systems = sorted(bench.task_class.systems)
    runs = [run_eval(name, system_under_test=one, bench_root=CLASS.parent) for one in systems]
    sets = {
        "001 to 024": [one for one in cases if one < SECOND],
        "025 to 040": [one for one in cases if one >= SECOND],
        "held out": [one for one, case in cases.items() if case.held_out],
        "all": list(cases),
    }
    lines = [f"| set | cases | {' | '.join(systems)} |", "| --- " * (len(systems) + 2) + "|"]
    for title, ids in sets.items():
        sums = (_summary([one for one in run.per_case if one.case_id in ids]) for run in runs)
        lines.append(f"| {title} | {len(ids)} | {' | '.join(sums)} |")
    sys.stdout.write("\n".join(lines) + "\n")


def _summary(results: Sequence[TrialResult]) -> str:
    scores = [one.score for one in results if one.score]
    mean = math.fsum(score.score for score in scores) / len(results)
    passed = sum(score.passed for score in scores)
    clean = sum(score.breakdown.get("clean") == 1.0 for score in scores)
    penalty = math.fsum(score.safety_penalty or 0.0 for score in scores) / len(results)
    return f"{mean:.3f}, {passed} / {clean}, penalty {penalty:.3f}"


if __name__ == "__main__":
    main()
