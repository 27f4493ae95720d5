"""
What a comparison of this size can detect, and how many cases find a difference: one formula.

A difference is found with probability ``power`` if it exceeds ``null_delta`` by enough standard errors, and if so large
a difference makes enough cases gain. ``benchgate plan`` asks the gate itself in simulated runs; the formula agrees with
that within 8 points of power on the populations of ``benchmarks/calibration``.

No function takes the observed difference: power computed from it only restates the p-value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.clusters import pooled, spread_of_totals
from benchgate.statistics.numerics import special
from benchgate.statistics.roots import increasing_root
from benchgate.statistics.student import check_finite, check_fraction, t_upper_quantile, uneven
from benchgate.statistics.summary import finite_floats, grouped, mean, saturate, scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.statistics.clusters import Labels

    Groups = Sequence[Sequence[float]]

_THICK_TAILS = 3.0
"""Differences are large more often than normal values are, so that cases tell less of their spread: as if fewer."""
_ONE_AMOUNT = 1.0 + 1e-9  # amounts with a smaller ratio differ by rounding only
_MOST_CASES = 2.0**53  # above it floats are no exact counts
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """What a test finds with the power asked for."""

    effect: float | None
    """Smallest true difference that it finds, in the unit of the scores; None if it finds none that there can be."""
    cases: int | None
    """Least number of cases (in each arm) that finds the target; None if unknown, or no number does."""


NOTHING = Detectable(effect=None, cases=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is to be found, and how surely; a number out of range raises ValueError."""

    target: float
    """Effect to find, in the unit of the scores, greater than 0."""
    null_delta: float = 0.0
    """The test asks for more than this, at least 0; no number of cases finds a target within it."""
    alpha: float = 0.05
    """Two-sided level of the test, in (0, 1)."""
    power: float = 0.8
    """Probability of finding the effect, in (0, 1)."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_fraction(self.alpha, "alpha")
        check_fraction(self.power, "power")
        if check_finite(self.target, "target") <= 0.0:
            message = f"target is {self.target!r}; expected more than 0"
            raise ValueError(message)
        if check_finite(self.null_delta, "null_delta") < 0.0:
            message = f"null_delta is {self.null_delta!r}; expected more than 0"
            raise ValueError(message)

    @property
    def quantiles(self) -> tuple[float, float]:
        """The normal quantiles of the one-sided level and of the power."""
        return -float(special.ndtri(self.alpha / 2)), float(special.ndtri(self.power))

    def fewest(self, *, exact: bool) -> int:
        """Return how many changes are enough if all are gains; ``exact`` as :func:`paired_detectable`."""
        if not exact:  # the sign-flip test: 2**-k <= alpha / 2
            return math.ceil(1.0 - math.log2(self.alpha * _ONE_AMOUNT))
        squared = self.quantiles[0] ** 2  # k >= z * sqrt(k + 1/2), see pass_fail
        return math.ceil((squared + math.sqrt(squared**2 + 2.0 * squared)) / 2.0)


def detectable(
    samples: Sequence[tuple[Sequence[float], Labels]],
    goal: Goal,
    *,
    score_range: tuple[float, float] | None = None,
    exact: bool = False,
) -> Detectable:
    """
    Return what the test of a comparison detects, of cases that may share clusters.

    Further clusters are taken to have the sizes of those there are.

    :param samples: values and their clusters: the differences of a paired test, or both arms of Welch's.
    :param score_range: lowest and highest possible score; None if unbounded.
    :param exact: as :func:`paired_detectable`.
    :raises ValueError: as :func:`paired_detectable`, and for another number of labels.
    """
    arms = [grouped(finite_floats(values), labels) for values, labels in samples]
    width = None
    if score_range is not None:
        width = score_range[1] - score_range[0]
    if len(arms) == 1:
        found = _of_pairs(arms[0], goal, width, exact=exact)
    else:
        found = _of_arms(arms, goal, score_range)
    if found.effect is not None and width is not None and found.effect > width:
        return replace(found, effect=None)
    return found


def paired_detectable(
    differences: Iterable[float], goal: Goal, *, width: float | None = None, exact: bool = False
) -> Detectable:
    """
    Return what the paired test detects where differences are spread as these.

    If all are equal, it is plausible (95%) that a share 1 - .05**(1/n) of cases changes by the whole range: the most,
    which is good for an effect, but no ground to promise that some number of cases would do.

    :param width: length of the score range; None if unbounded.
    :param exact: the test of pass and fail decides, not t with sign-flip.
    :raises ValueError: for a value that is not a finite real number.
    """
    groups = [[value] for value in finite_floats(differences, "differences")]
    return _of_pairs(groups, goal, width, exact=exact)


def welch_detectable(
    baseline: Iterable[float],
    candidate: Iterable[float],
    goal: Goal,
    *,
    score_range: tuple[float, float] | None = None,
) -> Detectable:
    """
    Return what Welch's test detects where scores are spread as these.

    If all are at an end of the range, as 0/1 scores, as many of the baseline's are at the upper end as here, and fewer
    only where the effect leaves no room. In a constant arm a share 1 - .05**(1/n), at most 1/2, of cases is taken to be
    at the other end; no number of cases is named where both are constant.

    :param score_range: lowest and highest possible score; None if unbounded.
    :raises ValueError: as :func:`paired_detectable`.
    """
    arms = [
        [[value] for value in finite_floats(baseline, "baseline")],
        [[value] for value in finite_floats(candidate, "candidate")],
    ]
    return _of_arms(arms, goal, score_range)


def _of_pairs(groups: Groups, goal: Goal, width: float | None, *, exact: bool) -> Detectable:
    """Return what the paired test detects, of differences in clusters."""
    spread = pooled([groups])
    of_test = spread_of_totals(groups)
    if spread is None or of_test is None:
        return NOTHING
    units = len(groups)
    fewest = goal.fewest(exact=exact)
    if not spread.squared_se:
        if width is None:
            return NOTHING
        unseen = _of_changes(groups, goal, unseen_failure_ucb(units), width, fewest)
        return Detectable(effect=unseen.effect(), cases=None)
    amounts = [abs(change) for change in map(mean, groups) if change]
    amount = math.hypot(*amounts) / math.sqrt(len(amounts))
    is_one_amount = max(amounts) <= min(amounts) * _ONE_AMOUNT
    shares_clusters = any(len(group) > 1 for group in groups)
    if not shares_clusters and (is_one_amount or 2 * len(amounts) <= units):
        return _of_changes(groups, goal, len(amounts) / units, amount, fewest).detectable()
    error = scale(math.sqrt(spread.squared_se), spread.exponent)
    seen = spread.df
    if not shares_clusters:
        seen /= _THICK_TAILS
    formula = _Formula(
        goal=goal,
        cases=sum(map(len, groups)),
        units=units,
        error=lambda _: error,
        df=of_test.df,
        seen=seen,
        skewness=of_test.skewness,
        fewest=fewest,
        amount=amount,
    )
    return formula.detectable()


def _of_changes(groups: Groups, goal: Goal, share: float, amount: float, fewest: int) -> _Formula:
    """
    Return the formula for pairs of which a share changes by one amount, as 0/1 scores.

    More change only where the difference exceeds the share. The more of the changes are gains, the less they vary.
    """
    units = len(groups)

    def error(effect: float) -> float:
        gained = effect / amount
        squared = gained * gained
        if not goal.null_delta:
            # Against no difference the test itself reckons with the larger spread of none.
            squared /= 2.0
        return amount * math.sqrt((max(share, gained) - squared) / units)

    return _Formula(
        goal=goal,
        cases=sum(map(len, groups)),
        units=units,
        error=error,
        fewest=fewest,
        amount=amount,
        most=amount,
    )


def _of_arms(
    arms: Sequence[Groups], goal: Goal, score_range: tuple[float, float] | None
) -> Detectable:
    """Return what Welch's test detects, of the scores of both arms in clusters."""
    spread = pooled(arms)
    if spread is None:
        return NOTHING
    low, high = score_range or (0.0, 0.0)
    means = [[mean(group) for group in arm] for arm in arms]
    unseen = [_unseen_share(arm) for arm in means]
    error = math.hypot(
        scale(math.sqrt(spread.squared_se), spread.exponent),
        *((high - low) * _share_error(u, len(arm)) for u, arm in zip(unseen, arms, strict=True)),
    )
    if not error:
        return NOTHING
    cases = 2.0 / sum(1.0 / sum(map(len, arm)) for arm in arms)
    if {*means[0], *means[1]} <= {low, high}:
        share = (mean(means[0]) - low) / (high - low)
        rate = min(1.0 - unseen[0], max(unseen[0], share))
        formula = _of_rates(rate, (len(arms[0]), len(arms[1])), goal, cases, high - low)
    else:
        formula = _Formula(
            goal=goal,
            cases=cases,
            units=len(arms[0]),
            error=lambda _: error,
            df=spread.df,
            seen=spread.df,
        )
    if all(unseen):
        return Detectable(effect=formula.effect(), cases=None)
    return formula.detectable()


def _of_rates(
    rate: float, sizes: tuple[int, int], goal: Goal, cases: float, width: float
) -> _Formula:
    """
    Return the formula for arms whose cases pass or fail: a rate near an end of the range varies less.

    :param rate: the baseline's; lower where a gain would leave no room.
    """

    def error(effect: float) -> float:
        after = min(1.0, rate + effect / width)
        before = after - effect / width
        return width * math.hypot(_share_error(before, sizes[0]), _share_error(after, sizes[1]))

    return _Formula(
        goal=goal,
        cases=cases,
        units=sizes[0],
        error=error,
        df=sizes[0] + sizes[1] - 2.0,
        fewest=goal.fewest(exact=True),
        amount=width,
        most=width,
    )


def _unseen_share(means: Sequence[float]) -> float:
    """Return the share of an arm that is taken to be at the other end of the range, though no case shows it."""
    if min(means) < max(means):
        return 0.0
    return min(0.5, unseen_failure_ucb(len(means)))


def _share_error(share: float, n: int) -> float:
    """Return the standard error of a share of n."""
    return math.sqrt(share * (1.0 - share) / n)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Formula:
    """
    What a test finds of cases that vary as those there are.

    :param cases: how many there are, in each arm.
    :param units: cases, or clusters.
    :param error: standard error of the difference, by the true difference.
    :param df: degrees of freedom of the test; infinite where it estimates no spread.
    :param seen: those that the error is known with.
    :param skewness: of the estimate; the guard of the test allows for it.
    :param fewest: units that have to gain before the test passes, if none loses.
    :param amount: how much a unit gains.
    :param most: the largest difference that there can be.
    """

    goal: Goal
    cases: float
    units: int
    error: Callable[[float], float]
    df: float = math.inf
    seen: float = math.inf
    skewness: float = 0.0
    fewest: int = 0
    amount: float = 0.0
    most: float = math.inf

    def detectable(self) -> Detectable:
        """Return the effect that is found, and the cases that find the target."""
        return Detectable(effect=self.effect(), cases=self.needed())

    def effect(self) -> float | None:
        """Return the smallest difference that is found; None if none is."""
        shift = self._shift(self.df, self.skewness)
        if self.units < self.fewest or not math.isfinite(shift):
            return None
        null = self.goal.null_delta

        def excess(effect: float) -> float:
            return effect - null - shift * self.error(effect)

        highest = self.most
        if math.isinf(highest):  # then the error is the same at every difference
            highest = saturate(null + shift * self.error(null))
        effect = increasing_root(excess, null, highest, tolerance=_TOLERANCE * highest)
        if self.fewest:
            others = self.units - self.fewest
            share = float(special.betaincinv(self.fewest, others + 1, self.goal.power))
            effect = max(effect, null + self.amount * share)
        if effect > self.most:
            return None
        return effect

    def needed(self) -> int | None:
        """Return how many cases find the target; None if no number does."""
        target = self.goal.target
        beyond = target - self.goal.null_delta
        if beyond <= 0.0 or target > self.most:
            return None
        ratio = self.error(target) / beyond
        plain = self._shift(math.inf, 0.0) * ratio
        # Of more cases the estimate is less skewed.
        errors = self._shift(math.inf, self.skewness / max(1.0, plain)) * ratio
        # Guenther (1981): t asks for about z**2 / 2 cases more than a known variance would.
        more = self.goal.quantiles[0] ** 2 / 2.0 / (self.df + 1.0)
        gains = 0.0
        if self.fewest:
            gains = float(special.gammaincinv(self.fewest, self.goal.power)) * self.amount / beyond
        needed = self.cases * max(errors * errors + more, gains / self.units)
        if needed < _MOST_CASES:
            return max(2, math.ceil(needed - 1e-9))
        return None

    def _shift(self, df: float, skewness: float) -> float:
        """
        Return the effect, in estimated standard errors, that a t test finds; infinity if none is sure enough.

        Root of ``effect - t = z_power * sqrt(1 + effect**2 / (2 seen) + q**2 / (2 df) + d**2)``: both deviations vary,
        and so does the skewness, for which the guard asks for t - d to t + d in place of the quantile q.
        """
        q = t_upper_quantile(self.goal.alpha / 2, df)
        most = uneven(q, -abs(skewness))
        least = uneven(q, abs(skewness))
        t = (most + least) / 2.0
        d = (most - least) / 2.0
        half = self.goal.quantiles[1] ** 2 / 2.0
        share = 1.0 - half / self.seen
        if share <= 0.0:
            return math.inf
        rest = t * t - 2.0 * half * (1.0 + d * d) - half * q * q / df
        return (t + math.sqrt(max(0.0, t * t - share * rest))) / share
