"""
Run every system on every case and print what they scored, as the tables of the class's README.

    python bench/migration-chainguard-distroless/tools/compare_systems.py
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate import run_eval
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import load_class
from benchgate.registry import TaskClassRegistry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.models import TrialResult

BENCH: Final = Path(__file__).resolve().parent.parent.parent
NAME: Final = "migration-chainguard-distroless"


def main() -> None:
    """Print the tables."""
    sys.stdout.write("\n".join(tables()) + "\n")


def tables() -> Iterator[str]:
    """Yield the lines of both tables: case by case, and in sum."""
    with bench_package(BENCH):
        bench = load_class(BENCH, NAME, TaskClassRegistry())
        cases = [bench.load(case_id) for case_id in sorted(bench.folders)]
        systems = sorted(bench.task_class.systems)
    results = {name: _results(name) for name in systems}
    yield _row(["case", "trap", *systems])
    yield _row(["---"] * (2 + len(systems)))
    for case in cases:
        cells = [_one(results[name][case.case_id]) for name in systems]
        title = f"{case.case_id}{' (held out)' if case.held_out else ''}"
        yield _row([title, str(case.facts["trap"]), *cells])
    yield ""
    yield _row(["set", "cases", *systems])
    yield _row(["---"] * (2 + len(systems)))
    held_out = [case.case_id for case in cases if case.held_out]
    for title, ids in (("held out", held_out), ("all", [case.case_id for case in cases])):
        cells = [_summary([results[name][one] for one in ids]) for name in systems]
        yield _row([title, str(len(ids)), *cells])


def _results(system: str) -> dict[str, TrialResult]:
    report = run_eval(NAME, system_under_test=system, bench_root=BENCH)
    return {result.case_id: result for result in report.per_case}


def _summary(results: list[TrialResult]) -> str:
    scores = [one.score for one in results if one.score]
    mean = math.fsum(score.score for score in scores) / len(results)
    passed = sum(score.passed for score in scores)
    clean = sum(score.breakdown.get("clean") == 1.0 for score in scores)
    penalty = math.fsum(score.safety_penalty or 0.0 for score in scores) / len(results)
    return f"{mean:.3f}, {passed} / {clean}, penalty {penalty:.3f}"


def _one(result: TrialResult) -> str:
    if result.score is None:
        return result.outcome
    penalty = result.score.safety_penalty
    failed = "" if result.score.passed else " failed"
    return f"{result.score.score:.2f}{failed}{f', penalty {penalty:g}' if penalty else ''}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
