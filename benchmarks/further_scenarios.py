"""The populations of further_rows.py: clusters, trials of one system, and candidates that are worse by a margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scenarios import Scenario, pairs_skewed, trials_of_one_case

if TYPE_CHECKING:
    from numpy.random import Generator
    from scenarios import Draw


def clustered(size: int) -> Draw:
    """Draw pairs whose differences have an effect of their cluster (sd .2) and one of their own (sd .1)."""

    def draw(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        shared = np.repeat(rng.normal(0, 0.2, (reps, n // size)), size, axis=1)
        before = 0.5 + rng.normal(0, 0.05, (reps, n))
        after = before + shared + rng.normal(0, 0.1, (reps, n)) + gain
        return np.clip(before, 0, 1), np.clip(after, 0, 1)

    return draw


def one_system(trials: int, correlation: float) -> Draw:
    """
    Draw passed or failed trials of tasks whose rates are the same on both sides.

    :param correlation: of two trials of one task (intraclass): .41 to .53 in published runs of agents.
    """
    size = 1 / correlation - 1

    def draw(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        rate = rng.beta(0.5 * size, 0.5 * size, (reps, n, 1))
        sides = (rate, np.minimum(rate + gain, 1))
        return tuple((rng.random((reps, n, trials)) < side).astype(float) for side in sides)

    return draw


def changed(share: float) -> Draw:
    """Draw pairs that pass or fail, of which a share passes on one side only."""

    def draw(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        u, same = rng.random((2, reps, n))
        moved = max(share, abs(gain))
        up = (moved + gain) / 2
        before = np.where(u < up, 0.0, np.where(u < moved, 1.0, same < 0.7))
        after = np.where(u < up, 1.0, np.where(u < moved, 0.0, before))
        return before, after

    return draw


def shifted(draw: Draw) -> Draw:
    """Draw the same pairs without a gain, and add one to each score; so scores leave [0, 1]."""

    def shift(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        before, after = draw(rng, reps, n, 0.0)
        return before, after + gain

    return shift


def _pairs(name: str, gain: float, sizes: tuple[int, ...], draw: Draw) -> Scenario:
    return Scenario(name=name, gain=gain, sizes=sizes, paired=True, draw=draw)


CLUSTERS = (_pairs("10 clusters of 5", 0.2, (50,), clustered(5)),)


UNEQUAL = {
    "clusters of 12 to 1": (12, 10, 8, 6, 4, 3, 2, 2, 1, 1, 1, 1),
    "a cluster of 20, 15 of 2": (20, *(2,) * 15),
}
"""Sizes of clusters, whose differences are drawn as those of :data:`CLUSTERS`."""


def cluster_labels(n: int) -> tuple[str, ...]:
    """Return the clusters of the cases of :data:`CLUSTERS`."""
    return tuple(f"source {number // 5}" for number in range(n))


NOISES = tuple(
    _pairs(
        f"ICC {correlation}, {trials} trial{'s' * (trials > 1)}",
        0.0,
        (50, 115),
        one_system(trials, correlation),
    )
    for correlation in (0.41, 0.53)
    for trials in (1, 4)
)
MARGINS = (
    *(
        _pairs(f"pairs, {share:.0%} change", 0.1, (23, 50, 100), changed(share))
        for share in (0.1, 0.3)
    ),
    _pairs("pair beta skew", 0.1, (10, 30, 100), shifted(pairs_skewed)),
)
"""``gain`` is the margin, by which the candidates are worse."""
PLANNED = (
    _pairs("pair beta skew", 0.0, (), pairs_skewed),
    _pairs("five trials a case", 0.0, (), trials_of_one_case),
)
NEEDED = (
    _pairs("pair beta skew", 0.05, (), pairs_skewed),
    _pairs("five trials a case", 0.15, (), trials_of_one_case),
    _pairs("pairs, 20% change", 0.15, (), changed(0.2)),
)
