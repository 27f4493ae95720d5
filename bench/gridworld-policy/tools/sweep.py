"""
Run the gate under many bench seeds, hence other winds: every system against ``early``.

    python bench/gridworld-policy/tools/sweep.py [--seeds N] [--trials K]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from benchgate import run_eval
from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.policy import load_policy
from benchgate.testing import loaded_class

if TYPE_CHECKING:
    from benchgate import BenchRunReport

BENCH: Final = Path(__file__).resolve().parent.parent.parent
NAME: Final = "gridworld-policy"
BASELINE: Final = "early"


def main() -> None:
    """Print, for each system, its means over all seeds and the counts of the gate's decisions."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--trials", type=int, default=1)
    given = options.parse_args()
    with loaded_class(BENCH / NAME) as bench:
        names = list(bench.task_class.systems)
    reports = {
        name: [
            run_eval(
                NAME,
                system_under_test=name,
                out_dir=None,
                bench_root=BENCH,
                trials=given.trials,
                seed=seed,
            )
            for seed in range(given.seeds)
        ]
        for name in names
    }
    for name, found in reports.items():
        sys.stdout.write(line(name, found, decisions(reports[BASELINE], found)) + "\n")


def line(name: str, reports: list[BenchRunReport], decided: str) -> str:
    """Return a row of the table in `details/history.md`."""
    scores = {
        wind: fmean(score for report in reports for score, _ in rows(report, wind))
        for wind in ("light", "breeze")
    }
    falls = fmean(penalty for report in reports for _, penalty in rows(report))
    cells = [f"{scores['light']:.3f}", f"{scores['breeze']:.3f}", f"{falls:.3f}"]
    return f"| {' | '.join([name, *cells, decided if name != BASELINE else ''])} |"


def rows(report: BenchRunReport, wind: str = "") -> list[tuple[float, float]]:
    """Return mean score and mean penalty of each case, over its trials."""
    found: dict[str, list[tuple[float, float]]] = {}
    for result in report.per_case:
        if result.score is not None and wind in result.case_id:
            pair = (result.score.score, result.score.safety_penalty or 0.0)
            found.setdefault(result.case_id, []).append(pair)
    return [
        (fmean(score for score, _ in pairs), fmean(penalty for _, penalty in pairs))
        for pairs in found.values()
    ]


def decisions(baseline: list[BenchRunReport], candidate: list[BenchRunReport]) -> str:
    """Return the counts of the gate's decisions, and how often the falls were the only reason against a promotion."""
    policy = load_policy(BENCH / NAME)
    made = [
        decide(VectorFacts(policy=policy, sides=(arm(before), arm(after)))).decision
        for before, after in zip(baseline, candidate, strict=True)
    ]
    outcomes = Counter(decision.outcome for decision in made)
    alone = sum(
        decision.reason_codes == ("checkpoint_promotion_blocked_safety_regression",)
        for decision in made
    )
    counts = ", ".join(f"{outcome} {number}" for outcome, number in sorted(outcomes.items()))
    return f"{counts}; {alone} for the falls alone"


def arm(report: BenchRunReport) -> Arm:
    """Return a run as one side of a comparison."""
    found = rows(report)
    ids = tuple(dict.fromkeys(result.case_id for result in report.per_case))
    return Arm(
        scores=tuple(score for score, _ in found),
        case_ids=ids,
        penalties=tuple(penalty for _, penalty in found),
        clusters=tuple(report.clusters.get(case_id) for case_id in ids),
    )


if __name__ == "__main__":
    main()
