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

from benchgate import run_eval
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import load_class
from benchgate.registry import TaskClassRegistry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.models import BenchCase, TrialResult

BENCH: Final = Path(__file__).resolve().parent.parent.parent
NAME: Final = "vuln-remediation"


def main() -> None:
    """Print the tables."""
    sys.stdout.write("\n".join(tables()) + "\n")


def tables() -> Iterator[str]:
    """Yield the lines of both tables: by fix class, and case by case."""
    with bench_package(BENCH):
        bench = load_class(BENCH, NAME, TaskClassRegistry())
        cases = [bench.load(case_id) for case_id in sorted(bench.folders)]
        systems = sorted(bench.task_class.systems)
    results = {name: _results(name) for name in systems}
    yield _row(["fix class", "cases", *systems])
    yield _row(["---"] * (2 + len(systems)))
    for title, ids in _groups(cases).items():
        cells = [_summary(results[name][one] for one in ids) for name in systems]
        yield _row([title, str(len(ids)), *cells])
    yield ""
    yield _row(["case", "fix class", *systems])
    yield _row(["---"] * (2 + len(systems)))
    for case in cases:
        cells = [_one(results[name][case.case_id]) for name in systems]
        title = f"{case.case_id}{' (held out)' if case.held_out else ''}"
        yield _row([title, str(case.facts["fix_class"]), *cells])


def _results(system: str) -> dict[str, TrialResult]:
    report = run_eval(NAME, system_under_test=system, bench_root=BENCH)
    return {result.case_id: result for result in report.per_case}


def _groups(cases: Iterable[BenchCase]) -> dict[str, list[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for case in cases:
        groups[str(case.facts["fix_class"])].append(case.case_id)
        groups["~held out"].append(case.case_id) if case.held_out else None
        groups["~~all"].append(case.case_id)
    return {
        f"**{name.strip('~')}**" if name[0] == "~" else name: groups[name]
        for name in sorted(groups)
    }


def _summary(results: Iterable[TrialResult]) -> str:
    found = list(results)
    mean = math.fsum(_score(one) for one in found) / len(found)
    passed = sum(one.score is not None and one.score.passed for one in found)
    return f"{mean:.3f}, {passed} / {sum(map(_clean, found))}"


def _one(result: TrialResult) -> str:
    if result.score is None:
        return result.outcome
    marks = "" if result.score.passed else " failed"
    penalty = result.score.safety_penalty
    return f"{_score(result):.2f}{marks}{f', penalty {penalty:g}' if penalty else ''}"


def _score(result: TrialResult) -> float:
    return result.score.score if result.score else 0.0


def _clean(result: TrialResult) -> bool:
    return bool(result.score and result.score.breakdown.get("clean"))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
