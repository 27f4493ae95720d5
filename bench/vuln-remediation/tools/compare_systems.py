"""
Run every system on every case and print what they scored, as the table of the class's README.

    python bench/vuln-remediation/tools/compare_systems.py
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate import run_eval
from benchgate.testing import load_cases, loaded_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.models import BenchCase, TrialResult

CLASS: Final = Path(__file__).resolve().parent.parent


def main() -> None:
    """Print the table: what the systems scored, by fix class."""
    cases = load_cases(CLASS)
    with loaded_class(CLASS) as bench:
        systems = sorted(bench.task_class.systems)
    results = {name: _results(name) for name in systems}
    rows = (
        [
            title,
            str(len(ids)),
            *(_summary([by_case[one] for one in ids]) for by_case in results.values()),
        ]
        for title, ids in _sets(cases.values()).items()
    )
    sys.stdout.write("\n".join(table(["fix class", "cases", *results], rows)) + "\n")


def _results(system: str) -> dict[str, TrialResult]:
    """Run a system on every case; return the results by case id."""
    report = run_eval(CLASS.name, system_under_test=system, bench_root=CLASS.parent)
    return {result.case_id: result for result in report.per_case}


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


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
