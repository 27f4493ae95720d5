"""
How many of its cases a run needs until it is decided that nothing can promote it (``--bench-stop=decided``).

Each case passes with a chance of its own, drawn from a beta distribution; the candidate has the same chances, or more by
the gain. The baseline ran once and is pinned; the candidate's cases run in the order of the largest possible gain. A
row says which share of the cases was run, and in how many runs the gate would have promoted, which no stop changes:

    python benchmarks/stop.py [--runs 2000]
"""

from __future__ import annotations

import argparse
import random
from statistics import fmean, stdev

from benchgate.gates.certificate import Partial, certificate, ordered
from benchgate.gates.figures import Arm
from benchgate.gates.policy import make_policy
from benchgate.gates.vectors import compare_vectors

POLICY = make_policy({"test": "auto", "safety": "optional"})
CHANCES = {
    "coins of 2/3": (2e9, 1e9),
    "tasks that differ, 2/3": (2.0, 1.0),
    "coins of 1/2": (1e9, 1e9),
}
ROWS = [(12, 0.0), (30, 0.0), (50, 0.0), (30, 0.25)]


def side(ids, scores):
    return Arm(scores=tuple(scores), case_ids=tuple(ids), trials=tuple((x,) for x in scores))


def share_run(before, after):
    """Return which share of the cases is run."""
    order, scores = ordered(before), dict(zip(after.case_ids, after.scores, strict=True))
    for count in range(1, len(order)):
        left = dict.fromkeys(order[count:], ())
        best = side(before.case_ids, (1.0 if c in left else scores[c] for c in before.case_ids))
        if certificate(before, Partial(best, left), POLICY) is not None:
            return count / len(order)
    return 1.0


def row(n, gain, chances, runs):
    ids, shares, promoted, early = [f"c{number:03}" for number in range(n)], [], 0, 0
    for seed in range(runs):
        draw = random.Random(f"{n} {gain} {chances} {seed}")
        rates = [draw.betavariate(*chances) for _ in ids]
        before = side(ids, (float(draw.random() < rate) for rate in rates))
        after = side(ids, (float(draw.random() < min(1.0, rate + gain)) for rate in rates))
        shares.append(share_run(before, after))
        if compare_vectors(before, after, POLICY).decision.promotion_allowed:
            promoted += 1
            early += shares[-1] < 1.0
    return fmean(shares), 2.58 * stdev(shares) / runs**0.5, promoted / runs, early


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    print(
        "| cases | true gain | cases pass as | run until decided | promoted | stopped though promoted |"
    )
    print("|---|---|---|---|---|---|")
    for n, gain in ROWS:
        for name, chances in CHANCES.items():
            share, error, promoted, early = row(n, gain, chances, runs)
            said = f"{share:.1%} ± {error:.1%} | {promoted:.1%} | {early}"
            print(f"| {n} | {gain:g} | {name} | {said} |", flush=True)


if __name__ == "__main__":
    main()
