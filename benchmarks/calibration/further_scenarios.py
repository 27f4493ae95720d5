"""The populations of further_rows.py: clusters, trials of one system, and candidates that are worse by a margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scenarios import Scenario, pairs_skewed, trials_of_one_case

if TYPE_CHECKING:
    from collections.abc import Callable

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


def differing(draw: Callable[[Generator, tuple[int, int]], Any], sd: float) -> Draw:
    """Draw pairs by their differences, which are 0 on average; a gain is added to each."""

    def differ(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        d = draw(rng, (reps, n)) + gain * sd
        return np.zeros(d.shape), d

    return differ


def _levels(*levels: tuple[float, float]) -> Callable[[Generator, tuple[int, int]], Any]:
    values, shares = zip(*levels, strict=True)
    return lambda rng, shape: rng.choice(values, p=shares, size=shape)


def graded(*levels: tuple[float, float], better: tuple[tuple[float, float], ...] = ()) -> Draw:
    """
    Draw pairs of scores in [0, 1] whose differences have some values, each with its share of the cases.

    :param better: values and shares of a candidate that gains; without them the gain is added to each difference.
    """

    def draw(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        shift = gain
        law = levels
        if gain and better:
            shift = 0.0
            law = better
        d = _levels(*law)(rng, (reps, n)) + shift
        before = np.maximum(0.0, -d)
        return before, before + d

    return draw


def _rare_losses(rng: Generator, shape: tuple[int, int]) -> Any:
    """Draw differences of mean 0, deviation .06 and skewness -4: 4 % of the cases lose up to .45."""
    loss = np.where(rng.random(shape) < 0.0415, rng.uniform(0.0, 0.45, shape), 0.0)
    return np.maximum(-0.45, rng.normal(0.0415 * 0.225, 0.03, shape) - loss)


def _ties(rng: Generator, shape: tuple[int, int]) -> Any:
    return np.where(rng.random(shape) < 0.85, 0.0, rng.exponential(0.1, shape)) - 0.015


def samples(before: tuple[float, float] | None, after: tuple[float, float] | None) -> Draw:
    """Draw samples of beta populations, each given by its mean and concentration; None passes or fails."""

    def draw(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        def side(beta: tuple[float, float] | None, shift: float) -> Any:
            if beta is None:
                return (rng.random((reps, n)) < 0.8 + shift).astype(float)
            mean, size = beta[0] + shift, beta[1]
            return rng.beta(mean * size, (1 - mean) * size, (reps, n))

        return side(before, 0.0), side(after, gain)

    return draw


def sources(sizes: tuple[int, ...], *, breaks: bool) -> Draw:
    """Draw pairs in clusters of some sizes: the effects are normal, or one of ten clusters breaks."""

    def draw(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        shape = (reps, len(sizes))
        effects = rng.normal(0, 0.2, shape)
        if breaks:
            effects = np.where(rng.random(shape) < 0.1, -0.45, 0.05)
        d = np.repeat(effects, sizes, axis=1) + rng.normal(0, 0.02 if breaks else 0.1, (reps, n))
        return np.zeros(d.shape), d + gain

    return draw


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


_CREDIT = _levels((0.25, 0.6), (0.0, 0.2), (-0.75, 0.2))
_RARE = _levels((0.0, 0.9), (0.1, 0.08), (-0.4, 0.02))
_COARSE = graded(
    (0.25, 0.6),
    (0.0, 0.2),
    (-0.75, 0.2),
    better=((0.25, 0.7), (0.0, 0.2), (-0.75, 0.1)),
)
SOURCES = {number: (2, 3, 5, 8, 10, 15, 1, 6, 12, 4)[:number] for number in (6, 8, 10)}
"""Sizes of so many clusters."""
SKEWED = (
    _pairs(
        "exponential left tail",
        0.5,
        (10, 20, 50),
        differing(lambda rng, shape: 1.0 - rng.exponential(1.0, shape), 1.0),
    ),
    _pairs(
        "lognormal left tail",
        0.5,
        (10, 20, 50),
        differing(lambda rng, shape: np.exp(0.5) - rng.lognormal(0.0, 1.0, shape), 2.16),
    ),
    _pairs("partial credit", 0.5, (10, 20), differing(_CREDIT, 0.38)),
    _pairs("normal", 0.5, (10, 20, 50), differing(lambda rng, shape: rng.normal(0, 1, shape), 1.0)),
    _pairs("90 % unchanged, 2 % lose .4", 0.5, (50,), differing(_RARE, 0.062)),
    _pairs("85 % unchanged, right tail", 0.5, (20, 50), differing(_ties, 0.053)),
    _pairs("4 % lose up to .45", 0.5, (10, 20, 50), differing(_rare_losses, 0.06)),
    _pairs("+.25, 0, -.75", 0.1, (10, 20, 30, 50), _COARSE),
    _pairs("+.25, 0, -.75 without a range", 0.1, (10, 20, 30, 50), _COARSE),
    _pairs(
        "60/30/10 % of 0, +1/3, -1",
        0.18,
        (10, 12, 20, 30),
        graded((0.0, 0.6), (1 / 3, 0.3), (-1.0, 0.1)),
    ),
    _pairs(
        "50/40/10 % of 0, +.25, -1",
        0.18,
        (10, 12, 20, 30),
        graded((0.0, 0.5), (0.25, 0.4), (-1.0, 0.1)),
    ),
    _pairs(
        "70/24/6 % of 0, +.25, -1",
        0.14,
        (10, 12, 20, 30),
        graded((0.0, 0.7), (0.25, 0.24), (-1.0, 0.06)),
    ),
    *(
        _pairs(f"{number} clusters, sizes differ", 0.2, (sum(sizes),), sources(sizes, breaks=False))
        for number, sizes in SOURCES.items()
    ),
    _pairs("10 clusters, one in ten breaks", 0.1, (50,), sources((5,) * 10, breaks=True)),
    *(
        Scenario(name=name, gain=gain, sizes=(10,), paired=False, draw=samples(*sides))
        for name, gain, sides in (
            ("samples, beta .1: wide, narrow", 0.1, ((0.1, 1.1), (0.1, 30.0))),
            ("samples, beta .1: narrow, wide", 0.1, ((0.1, 30.0), (0.1, 1.1))),
            ("samples, .8: pass or fail, graded", 0.1, (None, (0.8, 30.0))),
            ("samples, .8: graded, pass or fail", 0.1, ((0.8, 30.0), None)),
        )
    ),
)
"""Where symmetry, which the sign-flip test rests on, does not hold; the gain of differences is in their deviations."""


def labels_of(scenario: Scenario) -> tuple[str, ...] | None:
    """Return the clusters of the cases of one of :data:`SKEWED`."""
    number = next((word for word in scenario.name.split()[:1] if "clusters" in scenario.name), None)
    if number is None:
        return None
    sizes = (5,) * 10 if "breaks" in scenario.name else SOURCES[int(number)]
    return tuple(f"source {at}" for at, size in enumerate(sizes) for _ in range(size))
