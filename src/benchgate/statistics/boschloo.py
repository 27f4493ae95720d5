"""
Unconditional exact test and bounds of the difference of two independent shares of passes (Boschloo 1970).

Outcomes are ordered by Fisher's one-sided p. The p-value is the largest probability, over all equal shares, of an
outcome that speaks at least as much for the candidate. So it is never larger than Fisher's p, which looks only at
outcomes with as many passes in all.

The bounds, and the test of any other difference than 0, need an order too. One for all differences makes test and
bounds agree (Buehler 1957). Fisher's p would be a poor one: it says how surely shares differ, not by how much, and is 1
wherever all of the baseline passed. So outcomes are ordered by Newcombe's lower limit of the difference (1998), but
those that pass the test of 0 come first.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.numerics import np, special
from benchgate.statistics.pass_fail import binomial_masses, largest_value
from benchgate.statistics.roots import increasing_root
from benchgate.statistics.student import Tails, check_finite, check_fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchgate.statistics.detectable import Goal

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[Any]

_TOLERANCE = 1e-6
_LEAST = 1e-300  # in place of a p of 0, which has no logarithm
_STEPS = 2.0**32
# Ranks beyond the limits of a difference, which are from -1 to 1.
_BETWEEN = 5.0
_LAST = 10.0


class Passes(NamedTuple):
    """How many cases of a side passed, of how many."""

    passed: int
    of: int


def boschloo_test(
    baseline: Passes, candidate: Passes, *, alpha: float = 0.05, null_delta: float = 0.0
) -> Tails[float]:
    """
    Test and bound how much larger the candidate's share of passes is; see the module.

    :param alpha: two-sided level, in (0, 1): of the interval, and of the order of the outcomes.
    :param null_delta: difference under the null hypothesis, in (-1, 1): -margin for "not worse".
    :raises ValueError: if a count is none, or an argument is out of range.
    """
    up = _Evidence(baseline, candidate, alpha)
    down = _Evidence(candidate, baseline, alpha)
    shift = check_finite(null_delta, "null_delta")
    greater = up.p_value(shift)
    less = down.p_value(-shift)
    return Tails(
        p_greater=greater,
        p_less=less,
        p_two_sided=min(1.0, 2.0 * min(greater, less)),
        ci_low=up.lower_bound(),
        ci_high=-down.lower_bound(),
    )


def boschloo_p(
    baseline: Passes, candidate: Passes, *, alpha: float = 0.05, null_delta: float = 0.0
) -> float:
    """
    Return ``p_greater`` of :func:`boschloo_test` alone; ``p_less`` is that of the sides exchanged.

    :raises ValueError: as :func:`boschloo_test`.
    """
    shift = check_finite(null_delta, "null_delta")
    return _Evidence(baseline, candidate, alpha).p_value(shift)


def size(n: int, m: int, *, alpha: float = 0.05) -> float:
    """
    Return the largest probability of passing at alpha / 2, over all equal shares.

    :param n: number of the baseline's cases; ``m`` of the candidate's.
    :raises ValueError: as :func:`boschloo_test`.
    """
    _check(Passes(0, n))
    _check(Passes(0, m))
    outcomes = _outcomes(n, m, check_fraction(alpha, "alpha"))
    fewest = outcomes.passing(0.0)
    return outcomes.p_value(np.arange(m + 1)[None, :] >= fewest[:, None], 0.0)


def smallest_effect(baseline: Passes, candidates: int, goal: Goal) -> float | None:
    """
    Return the smallest rise of the share of passes that the test finds, by enumeration.

    The baseline's share is the observed one, and less only where the rise leaves no room; where all or none passed, a
    share 1 - .05**(1/n), at most 1/2, is taken to differ.

    :param candidates: number of the candidate's cases.
    :returns: ``None`` if it finds none.
    :raises ValueError: as :func:`boschloo_test`.
    """
    _check(baseline)
    fewest = _outcomes(baseline.of, candidates, goal.alpha).passing(goal.null_delta)
    unseen = min(0.5, unseen_failure_ucb(baseline.of))
    rate = baseline.passed / baseline.of
    if baseline.passed in (0, baseline.of):
        rate = min(1.0 - unseen, max(unseen, rate))

    def excess(effect: float) -> float:
        before = min(rate, 1.0 - effect)
        return _probability(fewest, candidates, before, before + effect) - goal.power

    if excess(1.0) < 0.0:
        return None
    return increasing_root(excess, 0.0, 1.0, tolerance=_TOLERANCE)


def _check(side: Passes) -> None:
    if side.of < 1 or not 0 <= side.passed <= side.of:
        message = f"{side.passed!r} passes of {side.of!r} cases; expected a count of at least one"
        raise ValueError(message)


class _Evidence:
    """One outcome, and all that speak at least as much for the candidate."""

    def __init__(self, baseline: Passes, candidate: Passes, alpha: float) -> None:
        _check(baseline)
        _check(candidate)
        self.alpha = check_fraction(alpha, "alpha")
        self.outcome = (baseline.passed, candidate.passed)
        self.delta = candidate.passed / candidate.of - baseline.passed / baseline.of
        self.outcomes = _outcomes(baseline.of, candidate.of, alpha)

    def p_value(self, null_delta: float) -> float:
        ranks = self.outcomes.ranks_at(null_delta)
        return self.outcomes.p_value(ranks <= ranks[self.outcome], null_delta)

    def lower_bound(self) -> float:
        edge = 1.0 - _TOLERANCE
        strong = self.outcomes.ranks <= self.outcomes.ranks[self.outcome]

        def excess(shift: float) -> float:
            p = self.outcomes.p_value(strong, shift)
            return math.log(max(p, _LEAST) / (self.alpha / 2))

        highest = min(edge, max(self.delta, -edge))
        root = increasing_root(excess, -edge, highest, tolerance=_TOLERANCE)
        return max(-1.0, root - _TOLERANCE)


@lru_cache(maxsize=8)
def _outcomes(n: int, m: int, alpha: float) -> _Outcomes:
    return _Outcomes(n, m, alpha)


class _Outcomes:
    """All outcomes of n cases of the baseline and m of the candidate: x and y of them passed."""

    def __init__(self, n: int, m: int, alpha: float) -> None:
        self.n = n
        self.m = m
        self.alpha = alpha
        self.given_sum = np.zeros((n + 1, m + 1))
        """At [x, y], the probability of this outcome among those with as many passes, if shares are equal."""
        self.fisher = np.zeros((n + 1, m + 1))
        """At [x, y], Fisher's one-sided p of "the candidate's share is larger"."""
        ways_n = [math.comb(n, x) for x in range(n + 1)]
        ways_m = [math.comb(m, y) for y in range(m + 1)]
        for passes in range(n + m + 1):
            # Whole numbers: equal p are equal, and the same on every processor.
            every = math.comb(n + m, passes)
            as_strong = 0
            for y in range(min(m, passes), max(0, passes - n) - 1, -1):
                ways = ways_n[passes - y] * ways_m[y]
                as_strong += ways
                self.given_sum[passes - y, y] = ways / every
                self.fisher[passes - y, y] = as_strong / every

    @cached_property
    def ranks(self) -> Floats:
        """At [x, y], what orders the outcomes: the less, the more it speaks for the candidate."""
        levels = np.unique(self.fisher)
        count = self._passing(self.fisher, levels, 0.0)
        limits = self._limits()
        # First the outcomes that pass, last those that do not, by their limits from -1 to 1. Between them is a single
        # step of Fisher's p, with which the test would not pass: so no outcome after it does, whatever orders those.
        ranks = _LAST - limits
        ranks[self.fisher <= levels[min(count, len(levels) - 1)]] = _BETWEEN
        if count:
            ranks = np.where(self.fisher <= levels[count - 1], -limits, ranks)
        # A pass more of the candidate, or one less of the baseline, must count as much too.
        ranks = np.minimum.accumulate(ranks, axis=1)
        return np.minimum.accumulate(ranks[::-1], axis=0)[::-1]

    def _limits(self) -> Floats:
        """Return the lower limit of the difference at [x, y], from Wilson's limits of both shares (Newcombe 1998)."""
        z = -float(special.ndtri(self.alpha / 2))
        before = np.arange(self.n + 1)[:, None] / self.n
        after = np.arange(self.m + 1)[None, :] / self.m
        above = _wilson(before, self.n, z) - before
        below = after - _wilson(after, self.m, -z)
        limits = after - before - np.sqrt(above * above + below * below)
        # Outcomes that mirror each other are equal, and must not differ by the rounding of floats.
        return np.asarray(np.rint(limits * _STEPS) / _STEPS)

    def ranks_at(self, null_delta: float) -> Floats:
        """Return the order of the test of a difference: Fisher's p alone if that is 0."""
        if null_delta:
            return self.ranks
        return self.fisher

    def p_value(self, strong: Mask, null_delta: float) -> float:
        """Return the largest probability of some outcomes, over all shares that differ by null_delta."""
        if not -1.0 < null_delta < 1.0:
            message = f"null_delta is {null_delta!r}; expected a number in (-1, 1)"
            raise ValueError(message)
        return min(1.0, largest_value(self._given_open(strong, null_delta), 0.0, 1.0))

    def passing(self, null_delta: float) -> Ints:
        """Return the outcomes that pass at alpha / 2, as :meth:`fewest`."""
        ranks = self.ranks_at(null_delta)
        levels = np.unique(ranks)
        count = self._passing(ranks, levels, null_delta)
        if not count:
            return self.fewest(np.zeros_like(ranks, dtype=bool))
        return self.fewest(ranks <= levels[count - 1])

    def _passing(self, ranks: Floats, levels: Floats, null_delta: float) -> int:
        """Return how many levels of an order pass, the first ones."""
        low = 0
        high = len(levels)
        while low < high:
            middle = (low + high) // 2
            if self.p_value(ranks <= levels[middle], null_delta) <= self.alpha / 2:
                low = middle + 1
            else:
                high = middle
        return low

    def fewest(self, strong: Mask) -> Ints:
        """Return, at [x], the fewest passes of the candidate among some outcomes; m + 1 if there are none."""
        return np.where(strong.any(axis=1), strong.argmax(axis=1), self.m + 1)

    def _given_open(self, strong: Mask, shift: float) -> Floats:
        """
        Return the probability of some outcomes, given that k = 0...n + m cases would pass.

        Where the shares are equal, each case passes with one and the same probability. Of a share abs(shift) of the
        cases the outcome is forced: a loss of the baseline and a pass of the candidate, or the reverse if shift is
        negative. This makes all pairs of shares that differ by shift, and the probability a polynomial, in Bernstein
        form, in the share of passes among cases that are not forced.
        """
        if shift:
            weights = self.given_sum * self._given_both(self.fewest(strong), shift)
        else:
            weights = np.where(strong, self.given_sum, 0.0)
        shares = np.zeros(self.n + self.m + 1)
        # One column after the other: the order in which sum adds is numpy's own.
        for y in range(self.m + 1):
            shares[y : y + self.n + 1] += weights[:, y]
        return np.minimum(shares, 1.0)

    def _given_both(self, fewest: Ints, shift: float) -> Floats:
        """Return, at [i, j], the probability of a region if i and j cases would pass before some are forced."""
        kept = 1.0 - abs(shift)
        before = binomial_masses(self.n, kept)
        after = binomial_masses(self.m, kept)
        if shift > 0.0:
            # What is kept of the candidate are cases that fail.
            reached = np.cumsum(after, axis=1)[::-1, ::-1]
        else:
            before = before[::-1, ::-1]
            reached = np.cumsum(after[:, ::-1], axis=1)[:, ::-1]
        found = np.zeros((self.n + 1, self.m + 1))
        for x in range(self.n + 1):
            if fewest[x] <= self.m:
                found += before[:, x, None] * reached[None, :, fewest[x]]
        return found


def _wilson(share: Floats, n: int, z: float) -> Floats:
    """Return Wilson's limit of a share of n cases: the upper one, or the lower one of a negative z."""
    center = share + z * z / (2.0 * n)
    width = z * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    return np.asarray((center + width) / (1.0 + z * z / n))


def _probability(fewest: Ints, m: int, before: float, after: float) -> float:
    """Return the probability of a region at two shares of passes."""
    n = len(fewest) - 1
    terms: list[float] = []
    below = 0.0
    for x, y in enumerate(fewest.tolist()):
        at_most = float(special.bdtr(x, n, before))
        if y <= m:
            exactly = at_most - below
            terms.append(exactly * float(special.bdtrc(y - 1, m, after)))
        below = at_most
    return math.fsum(terms)
