"""
Measure how many of its cases a run needs until it is decided that nothing can promote it (``--bench-stop=decided``).

    python benchmarks/calibration/stop.py [RUNS]       2,000 runs a row

Each case passes with a chance of its own, drawn from a beta distribution; the candidate has the same chances, or more
by the gain. The baseline ran once and is pinned; the candidate's cases run in the order of the largest possible gain.
A row says which share of the cases was run (with its 99 % error), in how many runs the gate promotes all cases, and how
many of these were stopped all the same.
"""

from __future__ import annotations

import random
import sys
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from benchgate.gates.certificate import certificate, ordered
from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.policy import make_policy

if TYPE_CHECKING:
    from collections.abc import Iterable

POLICY = make_policy({"test": "auto", "safety": "optional"})
CHANCES = {
    "coins of 2/3": (2e9, 1e9),
    "tasks that differ, 2/3": (2.0, 1.0),
    "coins of 1/2": (1e9, 1e9),
}
ROWS = [(12, 0.0), (30, 0.0), (50, 0.0), (30, 0.25)]


def side(ids: Iterable[str], scores: Iterable[float]) -> Arm:
    """Return a side with one trial of each case."""
    return Arm(scores=tuple(scores), case_ids=tuple(ids), trials=tuple((x,) for x in scores))


def share_run(before: Arm, after: Arm) -> float:
    """Return which share of the cases is run."""
    order, ids = ordered(before), before.case_ids or ()
    scores = dict(zip(ids, after.scores, strict=True))
    for count in range(1, len(order)):
        ran = order[:count]
        if certificate(before, side(ran, (scores[c] for c in ran)), POLICY, None):
            return count / len(order)
    return 1.0


def row(n: int, gain: float, chances: tuple[float, float], runs: int) -> str:
    """Return the figures of a row."""
    ids, shares, promoted, early = [f"c{number:03}" for number in range(n)], [], 0, 0
    for seed in range(runs):
        draw = random.Random(f"{n} {gain} {chances} {seed}")  # noqa: S311 - for statistics, not for secrets
        rates = [draw.betavariate(*chances) for _ in ids]
        before = side(ids, [float(draw.random() < rate) for rate in rates])
        after = side(ids, [float(draw.random() < min(1.0, rate + gain)) for rate in rates])
        shares.append(share_run(before, after))
        if decide(VectorFacts(policy=POLICY, sides=(before, after))).decision.promotion_allowed:
            promoted += 1
            early += shares[-1] < 1.0
    error = 2.58 * stdev(shares) / runs**0.5
    return f"{fmean(shares):.1%} ± {error:.1%} | {promoted / runs:.1%} | {early}"


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(
        "| cases | true gain | cases pass as | run until decided | promoted | stopped though promoted |"
    )
    print("|---|---|---|---|---|---|")
    for n, gain in ROWS:
        for name, chances in CHANCES.items():
            print(f"| {n} | {gain:g} | {name} | {row(n, gain, chances, runs)} |", flush=True)


if __name__ == "__main__":
    main()
