"""
What a comparison of this size can detect, and how many cases find a difference: closed formulas.

The minimum detectable effect is the true difference at which the test that decides is passed with
probability ``power``. Scores that pass or fail have McNemar's formula (Connor 1987) or that of two
proportions, and where every change has to be a gain, a quantile of the binomial distribution.
Others have that of the t test, which allows for standard deviation and skewness that these cases only
estimate; without the former an effect would be found in 70% of runs of 10 cases instead of 80%. Where
cases share clusters, the error is that of CR2, and further clusters have the sizes of those there are.

No function takes the observed difference: power computed from it only restates the p-value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.clusters import Spread, is_constant, pooled, spread_of_totals
from benchgate.statistics.numerics import special
from benchgate.statistics.student import check_finite, check_fraction, t_upper_quantile, uneven
from benchgate.statistics.summary import finite_floats, grouped, mean, saturate, scale, summarize
from benchgate.statistics.welch import welch_df

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.statistics.clusters import Labels
    from benchgate.statistics.summary import Summary

_THICK_TAILS = 3.0
"""Differences are large more often than normal values are, so that cases tell less of their spread: as if fewer."""
_ONE_AMOUNT = 1.0 + 1e-9
_MOST_CASES = 2.0**53


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

    :param samples: values and their clusters: the differences of a paired test, or both arms of Welch's.
    :param score_range: lowest and highest possible score; None if unbounded.
    :param exact: as :func:`paired_detectable`.
    :raises ValueError: as :func:`paired_detectable`, and for another number of labels.
    """
    arms = [grouped(finite_floats(values), labels) for values, labels in samples]
    sizes = {len(group) for arm in arms for group in arm}
    if len(sizes) > 1 and not all(is_constant(*sample) for sample in samples):
        reach = _of_clusters(arms, goal)
    else:
        reach = _of_cluster_means(arms, goal, score_range, exact=exact)
    if score_range is None or reach.effect is None:
        return reach
    width = score_range[1] - score_range[0]
    if reach.effect > width:
        return replace(reach, effect=None)
    return reach


def _of_clusters(arms: Sequence[Sequence[Sequence[float]]], goal: Goal) -> Detectable:
    """Return what is detected where clusters differ in size."""
    spread = pooled(arms)
    if spread is None:
        return NOTHING
    if len(arms) == 1 and len(arms[0]) < goal.fewest(exact=False):
        return NOTHING
    cases = [sum(len(group) for group in arm) for arm in arms]
    return _of_spread(spread, max(cases), goal)


def _of_cluster_means(
    arms: Sequence[Sequence[Sequence[float]]],
    goal: Goal,
    score_range: tuple[float, float] | None,
    *,
    exact: bool,
) -> Detectable:
    """Return what is detected where clusters have one size: their means are a sample like any other."""
    means = [[mean(group) for group in arm] for arm in arms]
    if len(means) == 1:
        width = None
        if score_range is not None:
            width = score_range[1] - score_range[0]
        reach = paired_detectable(means[0], goal, width=width, exact=exact)
    else:
        reach = welch_detectable(means[0], means[1], goal, score_range=score_range)
    if reach.cases is None:
        return reach
    size = max(len(group) for arm in arms for group in arm)
    return replace(reach, cases=reach.cases * size)


def paired_detectable(
    differences: Iterable[float], goal: Goal, *, width: float | None = None, exact: bool = False
) -> Detectable:
    """
    Return what the paired test detects where differences are spread as these.

    If they are all of one amount or 0, as on 0/1 scores, or at most half of them are not 0, then as
    many cases change as here, and more only where the effect exceeds that share. If all are equal,
    it is plausible (95%) that a share 1 - .05**(1/n) of cases changes by the whole range: the most,
    which is good for an effect, but no ground to promise that some number of cases would do.

    :param width: length of the score range; None if unbounded.
    :param exact: the test of pass and fail decides, not t with sign-flip.
    :raises ValueError: for a value that is not a finite real number.
    """
    d = finite_floats(differences, "differences")
    n = len(d)
    if n < 2:
        return NOTHING
    if summarize(d).constant:
        if width is None:
            return NOTHING
        changes = _of_changes(n, width, unseen_failure_ucb(n), goal, exact=exact)
        return replace(changes, cases=None)
    amounts = [abs(x) for x in d if x]
    if max(amounts) <= min(amounts) * _ONE_AMOUNT or 2 * len(amounts) <= n:
        amount = math.hypot(*amounts) / math.sqrt(len(amounts))
        return _of_changes(n, amount, len(amounts) / n, goal, exact=exact)
    return _of_differences(d, goal)


def _of_differences(d: Sequence[float], goal: Goal) -> Detectable:
    """Return what the t test of pairs detects, at the level that its sign-flip test can reach."""
    n = len(d)
    patterns = 2.0 ** min(n, 60)  # of signs: of few not just any share can be extreme
    level = math.floor(patterns * goal.alpha / 2 * _ONE_AMOUNT) / patterns
    spread = spread_of_totals([[x] for x in d])
    if spread is None or not level:
        return NOTHING
    return _of_spread(spread, n, goal, level=level, seen=(n - 1) / _THICK_TAILS)


def welch_detectable(
    baseline: Sequence[float],
    candidate: Sequence[float],
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
    b = summarize(baseline, "baseline")
    c = summarize(candidate, "candidate")
    if b.mean is None or min(b.n, c.n) < 2:
        return NOTHING
    low, high = score_range or (0.0, 0.0)
    if score_range and {*baseline, *candidate} <= {low, high}:
        unseen = _unseen_share(b)
        rate = min(1.0 - unseen, max(unseen, (b.mean - low) / (high - low)))
        reach = _of_rates(rate, (b.n, c.n), high - low, goal)
    else:
        reach = _of_arms(b, c, high - low, goal)
    if b.constant and c.constant:
        return replace(reach, cases=None)
    return reach


def _unseen_share(arm: Summary) -> float:
    """Return the share of cases that are taken to be at the other end, though an arm is constant."""
    if not arm.constant:
        return 0.0
    return min(0.5, unseen_failure_ucb(arm.n))


def _of_arms(b: Summary, c: Summary, width: float, goal: Goal) -> Detectable:
    """Return what Welch's test detects of scores within a range, 0 wide if it is not known."""
    v_b = _squared_error(b, width)
    v_c = _squared_error(c, width)
    if not 0.0 < v_b + v_c < math.inf:
        return NOTHING
    spread = Spread(v_b + v_c, 0, welch_df(v_b, b.n, v_c, c.n))
    return _of_spread(spread, 2.0 / (1.0 / b.n + 1.0 / c.n), goal)


def _squared_error(arm: Summary, width: float) -> float:
    """Return the squared standard error of an arm's mean, with that of a share that no case showed."""
    share = _unseen_share(arm)
    return ((arm.variance or 0.0) + share * (1.0 - share) * width**2) / arm.n


def _of_spread(
    spread: Spread, n: float, goal: Goal, *, level: float | None = None, seen: float | None = None
) -> Detectable:
    """
    Return what a t test detects.

    :param spread: of the difference of n cases; its variance may be 0, which tells nothing.
    :param level: one-sided, if it is not alpha / 2.
    :param seen: degrees of freedom that the spread is known with, if they are not those of the test.
    """
    if not spread.squared_se:
        return NOTHING
    if level is None:
        level = goal.alpha / 2
    if seen is None:
        seen = spread.df
    error = scale(math.sqrt(spread.squared_se), spread.exponent)
    effect = None
    shift = _shift(goal, level, spread.df, seen, spread.skewness)
    if math.isfinite(shift):
        effect = saturate(goal.null_delta + error * shift)
    cases = None
    beyond = goal.target - goal.null_delta
    if beyond > 0.0:
        # Guenther (1981): t asks for about z**2 / 2 cases more than a known variance would.
        more = goal.quantiles[0] ** 2 / 2.0 * n / (spread.df + 1.0)
        ratio = _shift(goal, goal.alpha / 2, math.inf, seen) * error / beyond
        cases = _whole(n * ratio * ratio + more)
    return Detectable(effect=effect, cases=cases)


def _shift(goal: Goal, level: float, df: float, seen: float, skew: float = 0.0) -> float:
    """
    Return the effect, in estimated standard errors, that a t test finds; infinity if none is sure enough.

    Root of ``effect - t = z_power * sqrt(1 + effect**2 / (2 seen) + q**2 / (2 df) + d**2)``: both deviations vary, and
    so does the skewness, for which the guard asks for t - d to t + d in place of the quantile q.
    """
    q = t_upper_quantile(level, df)
    most = uneven(q, -abs(skew))
    least = uneven(q, abs(skew))
    t = (most + least) / 2.0
    d = (most - least) / 2.0
    half = goal.quantiles[1] ** 2 / 2.0
    share = 1.0 - half / seen
    if share <= 0.0:
        return math.inf
    rest = t * t - 2.0 * half * (1.0 + d * d) - half * q * q / df
    return (t + math.sqrt(max(0.0, t * t - share * rest))) / share


def _of_changes(n: int, amount: float, share: float, goal: Goal, *, exact: bool) -> Detectable:
    """Return what is found where a share of the cases changes by one amount."""
    changes = _Changes(
        n=n,
        share=share,
        null=goal.null_delta / amount,
        target=goal.target / amount,
        goal=goal,
        is_exact=exact,
    )
    return _in_unit(amount, changes.effect(), changes.cases())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changes:
    """McNemar's formula for cases of which a share changes by one amount, the unit of all differences here."""

    n: int
    share: float
    null: float
    target: float
    goal: Goal
    is_exact: bool

    def effect(self) -> float | None:
        """Return the smallest share of gains, less losses, that n cases find; None if they find none."""
        n = self.n
        fewest = self.goal.fewest(exact=self.is_exact)
        if self.null >= 1.0 or n < fewest:
            return None
        few = float(special.betaincinv(fewest, n - fewest + 1, self.goal.power))
        if self.null:
            return max(few, self._effect_beyond_null())
        if few >= self.share:
            return few
        # sqrt(n) * effect - least = power * sqrt(share - effect**2)
        level, power = self.goal.quantiles
        least = level * math.sqrt(self.share)
        a = n + power * power
        b = math.sqrt(n) * least
        root = math.sqrt(max(0.0, b * b - a * (least**2 - power**2 * self.share)))
        return max(few, (b + root) / a)

    def _effect_beyond_null(self) -> float:
        """Solve ``n * (effect - null)**2 = z**2 * (changed - effect**2)``, where at least the effect changes."""
        squared = sum(self.goal.quantiles) ** 2
        a = self.n + squared
        b = self.n * self.null
        c = self.n * self.null * self.null
        effect = (b + math.sqrt(max(0.0, b * b - a * (c - squared * self.share)))) / a
        if effect > self.share:
            b += squared / 2.0
            effect = (b + math.sqrt(b * b - a * c)) / a
        return effect

    def cases(self) -> int | None:
        """Return how many cases find the target."""
        if not self.null < self.target <= 1.0:
            return None
        changed = max(self.share, self.target)
        beyond = self.target - self.null
        sd = math.sqrt(changed - self.target**2)
        sd_at_null = sd
        if not self.null:
            sd_at_null = math.sqrt(changed)
        level, power = self.goal.quantiles
        sds = level * sd_at_null + power * sd
        root = sds / beyond
        fewest = self.goal.fewest(exact=self.is_exact)
        enough_gains = float(special.gammaincinv(fewest, self.goal.power)) / self.target
        return _whole(max(root * root, enough_gains))


def _of_rates(rate: float, sizes: tuple[int, int], width: float, goal: Goal) -> Detectable:
    """Return what is found between two shares of passes, of which the baseline's is given."""
    rates = _Rates(
        rate=rate,
        sizes=sizes,
        null=goal.null_delta / width,
        target=goal.target / width,
        goal=goal,
    )
    return _in_unit(width, rates.effect(), rates.cases())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    """
    The formula of two proportions, for arms whose cases pass or fail; ``rate`` is the baseline's.

    Where less than one case of the candidate would fail, Gaffke's bounds decide: they need about as many failures of
    the baseline as the exact test of pairs needs gains.
    """

    rate: float
    sizes: tuple[int, int]
    null: float
    target: float
    goal: Goal

    def effect(self) -> float | None:
        """Return the smallest rise of the rate that so many cases find; None if they find none."""
        n_b, n_c = self.sizes
        fewest = self.goal.fewest(exact=True)
        if n_b < fewest:
            return None
        # (effect - null)**2 = times * (rate * fails / n_b + (rate + effect) * (fails - effect) / n_c)
        fails = 1.0 - self.rate
        power = self.goal.quantiles[1]
        times = (t_upper_quantile(self.goal.alpha / 2, n_b + n_c - 2.0) + power) ** 2
        a = 1.0 + times / n_c
        b = self.null - times * (self.rate - fails) / (2.0 * n_c)
        c = self.null * self.null - times * self.rate * fails * (1.0 / n_b + 1.0 / n_c)
        squared = b * b - a * c
        if squared < 0.0:  # the test asks for more than there are failures
            return None
        effect = (b + math.sqrt(squared)) / a
        if n_c * (fails - effect) >= 1.0:
            return effect
        few = float(special.betaincinv(fewest, n_b - fewest + 1, self.goal.power)) + self.null
        return max(min(effect, fails), few)

    def cases(self) -> int | None:
        """Return how many cases in each arm find the target."""
        if not self.null < self.target <= 1.0:
            return None
        beyond = self.target - self.null
        after = min(1.0, self.rate + self.target)
        before = after - self.target
        variance = after * (1.0 - after) + before * (1.0 - after + self.target)
        level, power = self.goal.quantiles
        needed = ((level + power) / beyond) ** 2 * variance + level**2 / 4.0
        if needed * (1.0 - after) < 1.0:
            fewest = self.goal.fewest(exact=True)
            needed = max(needed, float(special.gammaincinv(fewest, self.goal.power)) / beyond)
        return _whole(needed)


def _in_unit(unit: float, effect: float | None, cases: int | None) -> Detectable:
    """Return what is found in the unit of the scores; an effect is a share of ``unit``, and at most all of it."""
    if effect and effect <= 1.0:
        return Detectable(effect=unit * effect, cases=cases)
    return Detectable(effect=None, cases=cases)


def _whole(cases: float) -> int | None:
    """Return a number of cases, from 2; None where there are not so many."""
    if cases < _MOST_CASES:
        return max(2, math.ceil(cases - 1e-9))
    return None
