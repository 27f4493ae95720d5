"""
Measure what errors of the baseline do: how often an equal candidate is promoted, and how many better ones are held.

    python benchmarks/calibration/baseline_errors.py [--repetitions 300]

An erring trial of the baseline has score 0. "zero" is the policy that leaves it at that, "both" the default, which
judges again with the best score. More errors than max_unscored allows hold under both. A candidate has the baseline's
own scores but for the gain ("the same"), or draws anew.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from shares import simulated, table_of

from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm, CaseFacts
from benchgate.gates.policy import make_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.random import Generator

SEED = 20_261_122
POLICIES = {
    rule: make_policy({"test": "auto", "baseline_errors": rule}) for rule in ("zero", "both")
}
POPULATIONS: dict[str, Callable[[Generator, int], Any]] = {
    "all 1": lambda _, n: np.ones(n),
    "pass 0.8": lambda rng, n: (rng.random(n) < 0.8).astype(float),
    "beta(5, 1)": lambda rng, n: rng.beta(5, 1, n),
}


def arm(scores: Any, errors: Collection[int] = ()) -> Arm:
    """Return a side in which the trials of some cases ended in an error."""
    facts = [
        CaseFacts(
            passed=None if n in errors else bool(score >= 0.5),
            critical=False,
            cost_usd=None,
            duration_seconds=None,
            errors=(0,) if n in errors else (),
        )
        for n, score in enumerate(scores)
    ]
    rows = tuple((0.0 if n in errors else float(s),) for n, s in enumerate(scores))
    return Arm(
        scores=tuple(row[0] for row in rows),
        trials=rows,
        case_ids=tuple(f"{n:04}" for n in range(len(rows))),
        penalties=(0.0,) * len(rows),
        facts=tuple(facts),
    )


def drawn(
    rng: Generator, n: int, population: str, gain: float, *, shares_luck: bool
) -> tuple[Any, Any]:
    """Return the scores of both sides; of pass and fail a gain turns that share of the failures."""
    before = POPULATIONS[population](rng, n)
    after = before if shares_luck else POPULATIONS[population](rng, n)
    if not gain:
        return before, after
    if population == "pass 0.8":
        return before, np.where(rng.random(n) < gain / 0.2, 1.0, after)
    return before, np.minimum(1.0, after + 2 * gain * rng.random(n))


def row(
    name: str,
    repetitions: int,
    n: int,
    share: float,
    *,
    exactly: bool,
    population: str,
    gain: float,
    shares_luck: bool,
) -> dict[str, int]:
    """Count promotions under both policies."""
    rng = np.random.default_rng([SEED, crc32(name.encode())])
    promoted = dict.fromkeys(POLICIES, 0)
    for _ in range(repetitions):
        before, after = drawn(rng, n, population, gain, shares_luck=shares_luck)
        count = int(share * n) if exactly else rng.binomial(n, share)
        errors = {int(place) for place in rng.permutation(n)[:count]}
        sides = arm(before, errors), arm(after)
        first = decide(VectorFacts(policy=POLICIES["zero"], sides=sides)).decision.promotion_allowed
        promoted["zero"] += first
        # "both" only ever holds what "zero" promotes.
        promoted["both"] += (
            first
            and decide(VectorFacts(policy=POLICIES["both"], sides=sides)).decision.promotion_allowed
        )
    return promoted


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=300)
    many = parser.parse_args().repetitions
    rows = []
    for n in (100, 150, 200):
        for population, shares_luck in (("all 1", True), ("beta(5, 1)", True), ("pass 0.8", False)):
            for share, exactly in ((0.05, True), (0.05, False), (0.03, False)):
                kind = "exactly" if exactly else "at random"
                labels = [
                    str(n),
                    population,
                    "the same" if shares_luck else "anew",
                    f"{share:.0%} {kind}",
                ]
                found = row("|".join(labels), many, n, share, exactly=exactly, population=population,
                            gain=0.0, shares_luck=shares_luck)  # fmt: skip
                rows.append([*labels, *(simulated(found[rule], many) for rule in POLICIES)])
    columns = ["cases", "scores", "candidate draws", "errors"]
    print(table_of(columns, ["promoted, zero", "promoted, both"], rows))
    rows = []
    for n in (23, 50, 100):
        for population in ("pass 0.8", "beta(5, 1)"):
            for gain in (0.05, 0.1):
                for share in (0.01, 0.03, 0.05):
                    labels = [str(n), population, f"{gain:.2f}", f"{share:.0%}"]
                    found = row("|".join(labels), many, n, share, exactly=False, population=population,
                                gain=gain, shares_luck=True)  # fmt: skip
                    held = found["zero"] - found["both"]
                    cells = (found["zero"], found["both"], held)
                    rows.append([*labels, *(simulated(count, many) for count in cells)])
    columns = ["cases", "scores", "gain", "errors"]
    print()
    print(table_of(columns, ["promoted, zero", "promoted, both", "held by them alone"], rows))


if __name__ == "__main__":
    main()
