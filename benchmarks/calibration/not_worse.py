"""
Measure how often a candidate exactly at the margin is called "not worse", and how often an equal one is.

    python benchmarks/calibration/not_worse.py [--repetitions 2000]

The populations are those of calibration.py, moved down by about 0.1; the margin is the true loss, from a million draws.
Every share has its 95 % Clopper-Pearson interval; nominal is 2.5 % one-sided.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from clusters import interval
from scenarios import SCENARIOS, pairs_passed

from benchgate.statistics.bounds import gaffke_lower, mover_gaffke
from benchgate.statistics.paired import paired_differences, paired_test
from benchgate.statistics.pass_fail import changes, pass_fail_p
from benchgate.statistics.welch import welch_test

if TYPE_CHECKING:
    from numpy.random import Generator

SEED = 20_261_122
LEVEL = 0.025
LOSS = -0.1
NAMES = {
    "bern p=0.8",
    "beta(5,.5) skew",
    "0, .5 or 1",
    "pair bern p=0.5 rho.8",
    "pair bern p=0.8 rho.8",
    "pair beta skew rho.8",
    "pair rare break",
    "epochs K=5 paired inter.",
}


def mostly_equal(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
    """Draw scores that hardly differ, but for a share of the cases that lose everything."""
    before = 1.0 - 0.02 * rng.random((reps, n))
    after = 1.0 - 0.02 * rng.random((reps, n))
    return before, np.where(rng.random((reps, n)) < -gain, 0.0, after)


ROWS = [(one.name, one.paired, one.draw) for one in SCENARIOS if one.name in NAMES]
ROWS += [("pair bern p=0.95", True, pairs_passed(0.95)), ("pair mostly equal", True, mostly_equal)]


def by_case(sides: tuple[Any, Any]) -> list[Any]:
    """Average the trials of each case."""
    return [side.mean(axis=2) if side.ndim == 3 else side for side in sides]


def judge(
    before: list[float], after: list[float], margin: float, *, paired: bool
) -> dict[str, bool]:
    """Say which rule calls the candidate not worse."""
    if not paired:
        p = welch_test(before, after, null_delta=-margin).p_greater
        alone = (None,) * len(before), (None,) * len(after)
        low = mover_gaffke(before, after, alone, confidence=1 - LEVEL)[0]
        return {"t": p is not None and p <= LEVEL, "Gaffke": low > -margin}
    d = paired_differences(before, after)
    test = paired_test(d, null_delta=-margin)
    low = gaffke_lower(d, confidence=1 - LEVEL, low=-1.0)
    found = {
        "t": test.t.p_greater is not None and test.t.p_greater <= LEVEL,
        "t and sign-flip": test.p_greater is not None and test.p_greater <= LEVEL,
        "Gaffke": low > -margin,
    }
    counts = changes(before, after)
    if counts:
        found["exact"] = pass_fail_p(*counts, null_delta=-margin) <= LEVEL
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000, metavar="N")
    size = parser.parse_args().repetitions
    columns = ("t", "t and sign-flip", "Gaffke", "exact")
    print("| scenario | n | candidate | " + " | ".join(columns) + " |")
    print("|---|---:|---|" + "---:|" * len(columns))
    for name, paired, draw in ROWS:
        rng = np.random.default_rng([SEED, crc32(name.encode())])
        known = by_case(draw(rng, 1, 1_000_000, LOSS))
        margin = float(known[0].mean() - known[1].mean())
        for n in (10, 30, 100):
            for what, gain, reps in (("at the margin", LOSS, size), ("equal", 0.0, size // 4)):
                arms = by_case(draw(rng, reps, n, gain))
                rows = zip(*(arm.tolist() for arm in arms), strict=True)
                found = [judge(b, c, margin, paired=paired) for b, c in rows]
                cells = [
                    interval(sum(one[c] for one in found), reps) if c in found[0] else "-"
                    for c in columns
                ]
                print(f"| {name} | {n} | {what} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
