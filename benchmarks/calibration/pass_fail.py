"""
Enumerate the exact test of paired pass/fail: its size, and its power beside that of t and sign-flip (McNemar).

    python benchmarks/calibration/pass_fail.py [--step 1] [--jobs 2]

Nothing is drawn. Size: the largest probability of passing at a one-sided 2.5 %, over all shares of changed cases, for
n = 5 to 200, if the true difference is 0 (``better``) or -margin (``not worse``); Bernstein coefficients bound it
between the shares too. ``fixed``: two equal systems on fixed cases, each of which changes with a chance of its own of
at most 1/2 (Hoeffding 1956: the worst such chances have at most one value besides 0 and 1/2).
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from scipy import special, stats

from benchgate.statistics import pass_fail
from benchgate.statistics.pass_fail import (
    cases_for_margin,
    given_open,
    largest_value,
    pass_fail_p,
    smallest_margin,
)

LEVEL = 0.025
SHIFTS = (0.0, -0.05, -0.1, -0.2)
CELLS = ((0.1, 0.08), (0.2, 0.1), (0.2, 0.15), (0.3, 0.15), (0.5, 0.2), (0.8, 0.2))
SIZES = (7, 10, 15, 23, 30, 40, 60, 100, 200)
# Each of the many p of one size needs the same ones.
pass_fail.binomial_masses = cache(pass_fail.binomial_masses)


def exact(n: int, shift: float = 0.0) -> Any:
    """Return the region of the exact test: the fewest gains that pass, by losses (n + 1: none)."""
    fewest, gains = np.full(n + 1, n + 1), 0
    for losses in range(n + 1):
        while gains + losses <= n and pass_fail_p(gains, losses, n, null_delta=shift) > LEVEL:
            gains += 1
        if gains + losses > n:
            break
        fewest[losses] = gains
    return fewest


def t_and_sign_flip(n: int) -> Any:
    """Return the region of the paired test for scores of any kind, with Gaffke's bound where all cases were gained."""
    fewest = np.full(n + 1, n + 1)
    for b in range(n):
        gains = np.arange(b + 1, n - b + 1)
        d = (gains - b) / n
        with np.errstate(all="ignore"):
            t = d / np.sqrt(((gains + b) / n - d * d) / (n - 1))
        passes = (special.stdtr(n - 1, -t) <= LEVEL) & (
            stats.binom.sf(gains - 1, gains + b, 0.5) <= LEVEL
        )
        passes[gains == n] = 2 * LEVEL ** (1 / n) > 1
        if passes.any():
            fewest[b] = gains[passes.argmax()]
    return np.minimum.accumulate(fewest[::-1])[::-1]


def power(fewest: Any, share: float, gain: float) -> float:
    """Return the probability of the region if ``share`` of the cases change, for a net ``gain``."""
    n = len(fewest) - 1
    losses = np.arange(n + 1)
    rest = stats.binom.sf(fewest - 1, n - losses, (share + gain) / 2 / (1 - (share - gain) / 2))
    return float(stats.binom.pmf(losses, n, (share - gain) / 2) @ rest)


def fixed(fewest: Any) -> float:
    """Return the largest probability of the region for two equal systems on fixed cases."""
    n = len(fewest) - 1
    given, k, x = given_open(fewest, 0.0), np.arange(n + 1), np.linspace(0.0, 0.5, 26)
    worst = 0.0
    for even in range(n + 1):
        half = stats.binom.pmf(k[: even + 1], even, 0.5)
        mixed = np.convolve(given, half[::-1], mode="valid")
        for others in range(n - even + 1):
            mass = stats.binom.pmf(k[: others + 1, None], others, x)
            worst = max(worst, float((mixed[: others + 1] @ mass).max()))
    return worst


def sizes(n: int) -> list[float]:
    """Return the size at each shift."""
    return [largest_value(given_open(exact(n, shift), shift), 0.0, 1.0) for shift in SHIFTS]


def lost(n: int) -> list[tuple[int, int, int]]:
    """Return gains, losses and n of edges of the region of t and sign-flip that the exact test's does not contain."""
    new, old = exact(n), t_and_sign_flip(n)
    return [(int(old[b]), int(b), n) for b in np.flatnonzero(new > old)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, default=1, metavar="N", help="every Nth size")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    given = parser.parse_args()
    print("power, exact test (t and sign-flip), in %\n")
    print("| n | " + " | ".join(f"{s:.0%} change, +{g:g}" for s, g in CELLS) + " |")
    print("|---:|" + "---:|" * len(CELLS))
    for n in SIZES:
        new, old = exact(n), t_and_sign_flip(n)
        cells = (f"{100 * power(new, *c):.0f} ({100 * power(old, *c):.0f})" for c in CELLS)
        print(f"| {n} | " + " | ".join(cells) + " |", flush=True)
    print("\ncases for a margin without any change, margin at n cases")
    print({margin: cases_for_margin(margin, 300) for margin in (0.05, 0.1, 0.15, 0.2, 0.3)})
    print({n: round(smallest_margin(n), 3) for n in (5, 10, 17, 23, 36, 50, 100, 200)})
    print("\nlargest chance to pass for two equal systems on fixed cases, in %")
    print({n: round(100 * fixed(exact(n)), 2) for n in (10, 23, 40, 60)}, flush=True)
    every = range(5, 201, given.step)
    with ProcessPoolExecutor(given.jobs) as pool:
        found = list(pool.map(sizes, every))
        missed = [edge for edges in pool.map(lost, every) for edge in edges]
    print(f"\npasses t and sign-flip, but not the exact test (gains, losses, n): {missed}")
    print("\nlargest size over all n, in %, and where")
    for column, shift in enumerate(SHIFTS):
        worst = max(range(len(found)), key=lambda i, c=column: found[i][c])  # type: ignore[misc]
        print(f"difference {shift:+g}: {100 * found[worst][column]:.4f} at n = {every[worst]}")


if __name__ == "__main__":
    main()
