"""
The populations that calibration.py draws scores from.

All scores are in [0, 1]. A scenario draws both sides of a comparison, without any gain or with its true gain; a law
draws the scores of one side, whose true mean is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator

    Draw = Callable[[Generator, int, int, float], tuple[Any, Any]]

TRIALS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """
    Two populations.

    :param gain: difference of the true means, where the candidate is better.
    :param sizes: numbers of cases to measure.
    :param paired: index i of both sides is the same case.
    :param draw: from a generator, repetitions, cases and 0 or ``gain``: both sides, one repetition a row; where cases
        have several trials, these are the third axis.
    """

    name: str
    gain: float
    sizes: tuple[int, ...]
    paired: bool
    draw: Draw


def passed(p: float) -> Draw:
    """Draw scores of 0 and 1, p of them 1 in the baseline."""

    def draw(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        return tuple((rng.random((reps, n)) < mean).astype(float) for mean in (p, p + gain))

    return draw


def skewed(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
    """Draw continuous scores, most of them near 1."""
    mean = 10 / 11 + gain
    return rng.beta(5, 0.5, (reps, n)), rng.beta(5.5 * mean, 5.5 * (1 - mean), (reps, n))


def uneven(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
    """Draw arms of different size and spread: the candidate has four times as many cases, which vary less."""
    mean = 10 / 11 + gain
    return rng.beta(1, 0.1, (reps, n)), rng.beta(50 * mean, 50 * (1 - mean), (reps, 4 * n))


def three_levels(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
    """Draw 0, .5 or 1; a gain of 0.11 moves 6 % of the cases from 0, and 10 % from .5, to 1."""
    share = gain / 0.11
    shares = (0.1 - 0.06 * share, 0.3 - 0.1 * share, 0.6 + 0.16 * share)
    before, after = rng.random((2, reps, n))
    return _levels(before, 0.1, 0.4), _levels(after, shares[0], shares[0] + shares[1])


def _levels(u: Any, first: float, second: float) -> Any:
    return np.where(u < first, 0.0, np.where(u < second, 0.5, 1.0))


def trials_of_other_cases(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
    """Draw passed or failed trials of cases whose own rates differ much (intraclass correlation 0.5)."""
    rates = (rng.beta(mean, 1 - mean, (reps, n, 1)) for mean in (0.7, 0.7 + gain))
    return tuple((rng.random((reps, n, TRIALS)) < rate).astype(float) for rate in rates)


def _alike(rng: Generator, reps: int, n: int) -> tuple[Any, Any]:
    """Draw two uniform numbers for each case, of correlation 0.8 as normal variables: hard for one, hard for both."""
    shared, *own = rng.standard_normal((3, reps, n))
    return tuple(special.ndtr(math.sqrt(0.8) * shared + math.sqrt(0.2) * e) for e in own)


def pairs_passed(p: float) -> Draw:
    """Draw passed or failed, of cases that are hard or easy for both sides."""

    def draw(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
        before, after = _alike(rng, reps, n)
        return (before < p).astype(float), (after < p + gain).astype(float)

    return draw


def pairs_skewed(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
    """Draw continuous scores near 1, of cases that are hard or easy for both sides."""
    before, after = _alike(rng, reps, n)
    mean = 10 / 11 + gain
    return (
        special.betaincinv(5, 0.5, before),
        special.betaincinv(5.5 * mean, 5.5 * (1 - mean), after),
    )


def pairs_three_levels(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
    """Draw 0, .5 or 1, of which 30 % may move by one level: as often up as down, or more often up for a gain."""
    before = _levels(rng.random((reps, n)), 0.1, 0.4)
    moves, up, swap = rng.random((3, reps, n))
    step = np.where(moves < 0.3, np.where(up < 0.5 + gain / 0.07, 0.5, -0.5), 0.0)
    after = before + step
    after = np.where((after < 0) | (after > 1), before, after)
    if gain:
        return before, after
    return np.where(swap < 0.5, before, after), np.where(swap < 0.5, after, before)


def rare_break(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
    """Draw cases of which 95 % become a little better and 5 % break, so that nothing is gained on average."""
    noise, further = rng.normal(0, 0.01, (2, reps, n))
    before = 0.85 + noise
    change = np.where(rng.random((reps, n)) < 0.05, -0.8, 0.8 * 0.05 / 0.95)
    return np.clip(before, 0, 1), np.clip(before + change + gain + further, 0, 1)


def trials_of_one_case(rng: Generator, reps: int, n: int, gain: float) -> tuple[Any, Any]:
    """Draw passed or failed trials of cases that each side finds hard or easy in part for reasons of its own."""
    shared, *own = rng.standard_normal((3, reps, n))
    spread = math.sqrt(1 + 1 + 0.64)
    mean = float(special.ndtr(0.5 / spread))
    shift = float(special.ndtri(mean + gain)) * spread
    rates = (special.ndtr(at + shared + 0.8 * e) for at, e in zip((0.5, shift), own, strict=True))
    return tuple((rng.random((reps, n, TRIALS)) < rate[..., None]).astype(float) for rate in rates)


def _scenarios() -> Iterator[Scenario]:
    every, larger, middle = (5, 10, 30, 100, 500), (10, 30, 100, 500), (10, 30, 100)
    unpaired: list[tuple[str, float, tuple[int, ...], Draw]] = [
        ("bern p=0.5", 0.15, every, passed(0.5)),
        ("bern p=0.8", 0.12, every, passed(0.8)),
        ("bern p=0.95", 0.04, every, passed(0.95)),
        ("beta(5,.5) skew", 0.04, larger, skewed),
        ("beta heterosc. n:4n", 0.04, middle, uneven),
        ("0, .5 or 1", 0.11, every, three_levels),
        ("epochs K=5 unpaired ICC.5", 0.15, middle, trials_of_other_cases),
    ]
    paired: list[tuple[str, float, tuple[int, ...], Draw]] = [
        ("pair bern p=0.5 rho.8", 0.15, every, pairs_passed(0.5)),
        ("pair bern p=0.8 rho.8", 0.08, every, pairs_passed(0.8)),
        ("pair bern p=0.95 rho.8", 0.04, larger, pairs_passed(0.95)),
        ("pair beta skew rho.8", 0.03, larger, pairs_skewed),
        ("pair 0, .5 or 1", 0.021, larger, pairs_three_levels),
        ("pair rare break", 0.05, larger, rare_break),
        ("epochs K=5 paired inter.", 0.13, middle, trials_of_one_case),
    ]
    for is_paired, rows in ((False, unpaired), (True, paired)):
        for name, gain, sizes, draw in rows:
            yield Scenario(name=name, gain=gain, sizes=sizes, paired=is_paired, draw=draw)


SCENARIOS = tuple(_scenarios())


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A population of one side with its true mean; ``draw`` takes a generator and a shape."""

    name: str
    mean: float
    draw: Callable[[Generator, tuple[int, int]], Any]


def _zeros_among_high(rng: Generator, shape: tuple[int, int]) -> Any:
    return np.where(rng.random(shape) < 0.05, 0.0, 0.9 + 0.1 * rng.random(shape))


LAWS = (
    *(
        Law(name=f"bern {p}", mean=p, draw=lambda rng, shape, p=p: (rng.random(shape) < p) * 1.0)
        for p in (0.5, 0.8, 0.95)
    ),
    Law(name="0, .5 or 1", mean=0.75, draw=lambda rng, s: _levels(rng.random(s), 0.1, 0.4)),
    Law(name="beta(5,.5)", mean=10 / 11, draw=lambda rng, shape: rng.beta(5, 0.5, shape)),
    Law(name=".9 to 1, and 5 % zeros", mean=0.95 * 0.95, draw=_zeros_among_high),
)
