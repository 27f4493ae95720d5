"""
Enumerate Boschloo's test of two numbers of passes: its size, and the coverage and width of its interval.

    python benchmarks/calibration/boschloo.py [--most 100] [--step 8] [--jobs 2]

Nothing is drawn. Size: the largest probability of passing at a one-sided 2.5 %, over all equal shares, for each N and M
up to ``--most``; Bernstein coefficients bound it between the shares too. Coverage and width: over a grid of pairs of
shares, beside those of MOVER with the bounds of Clopper and Pearson, which is what two samples have otherwise.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from benchgate.statistics.boschloo import Passes, boschloo_test, size
from benchgate.statistics.bounds import mover_gaffke

LEVEL = 0.025
COVERED = ((5, 5), (10, 10), (10, 30), (20, 20), (20, 40), (40, 40))
SHARES = np.linspace(0.005, 0.995, 67)


class Covered(NamedTuple):
    """How an interval does over all pairs of shares: one tail at most, both on average, and its mean width."""

    worst_tail: float
    least: float
    mean: float
    width: float


def sizes(n: int, every: range) -> list[tuple[float, int, int]]:
    """Return the size at n cases of a side and as many or more of the other; which is which does not matter."""
    return [(size(n, m, alpha=2 * LEVEL), n, m) for m in every if m >= n]


def boschloo(x: int, n: int, y: int, m: int) -> tuple[float, float]:
    """Return the interval of the test."""
    test = boschloo_test(Passes(x, n), Passes(y, m), alpha=2 * LEVEL)
    return test.ci_low, test.ci_high


def mover(x: int, n: int, y: int, m: int) -> tuple[float, float]:
    """Return the interval that two samples have otherwise."""
    before = [1.0] * x + [0.0] * (n - x)
    after = [1.0] * y + [0.0] * (m - y)
    return mover_gaffke(before, after, confidence=1 - LEVEL)


def covered(interval: Any, n: int, m: int) -> Covered:
    """Return how an interval does at one pair of sizes."""
    ends = np.array([[interval(x, n, y, m) for y in range(m + 1)] for x in range(n + 1)])
    masses_n = stats.binom.pmf(np.arange(n + 1)[:, None], n, SHARES)
    masses_m = stats.binom.pmf(np.arange(m + 1)[:, None], m, SHARES)
    tails, coverage, widths = [], [], []
    for before, share in enumerate(SHARES):
        for after, other in enumerate(SHARES):
            mass = np.outer(masses_n[:, before], masses_m[:, after])
            low = float(mass[ends[..., 0] > other - share].sum())
            high = float(mass[ends[..., 1] < other - share].sum())
            tails.append(max(low, high))
            coverage.append(1.0 - low - high)
            widths.append(float((mass * (ends[..., 1] - ends[..., 0])).sum()))
    return Covered(max(tails), min(coverage), float(np.mean(coverage)), float(np.mean(widths)))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=100, metavar="N", help="largest size of a side")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="every Nth size")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    given = parser.parse_args()
    every = range(2, given.most + 1, given.step)
    with ProcessPoolExecutor(given.jobs) as pool:
        found = [one for row in pool.map(sizes, every, repeat(every)) for one in row]
    worst = max(found)
    print(f"size, of {len(found)} pairs of sizes: at most {100 * worst[0]:.4f} % at {worst[1:]}")
    middle = np.median([share for share, n, m in found if min(n, m) >= 10])
    print(f"from 10 cases a side, in the median: {100 * middle:.2f} %\n")
    print(
        "| sizes | interval | worst tail, % | least coverage, % | mean coverage, % | mean width |"
    )
    print("|---|---|---:|---:|---:|---:|")
    for n, m in COVERED:
        if max(n, m) > given.most:
            continue
        for interval in (boschloo, mover):
            of = covered(interval, n, m)
            figures = (f"{100 * share:.2f}" for share in of[:3])
            cells = (f"{n}, {m}", interval.__name__, *figures, f"{of.width:.3f}")
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
