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
from dataclasses import dataclass
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
        for name, value in (("target", self.target), ("null_delta", self.null_delta)):
            if check_finite(value, name) < 0.0 or value == self.target == 0.0:
                message = f"{name} is {value!r}; expected more than 0"
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
    width = score_range[1] - score_range[0] if score_range else None
    if len(sizes) > 1 and not all(is_constant(*sample) for sample in samples):
        spread = pooled(arms)
        if spread is None or (len(arms) == 1 and len(arms[0]) < goal.fewest(exact=False)):
            return NOTHING
        reach, size = _of_spread(spread, max(len(x) for x, _ in samples), goal), 1
    else:
        # The means of clusters of one size are a sample like any other.
        means, size = [[mean(group) for group in arm] for arm in arms], max(sizes, default=1)
        if len(means) == 1:
            reach = paired_detectable(means[0], goal, width=width, exact=exact)
        else:
            reach = welch_detectable(means[0], means[1], goal, score_range=score_range)
    return Detectable(
        effect=None if reach.effect is None or reach.effect > (width or math.inf) else reach.effect,
        cases=None if reach.cases is None else reach.cases * size,
    )


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
    n, spread = len(d), summarize(d)
    if n < 2 or (spread.constant and width is None):
        return NOTHING
    amounts = [abs(x) for x in d if x]
    if spread.constant:
        changes = _of_changes(n, width or 0.0, unseen_failure_ucb(n), goal, exact=exact)
        return Detectable(effect=changes.effect, cases=None)
    if max(amounts) <= min(amounts) * _ONE_AMOUNT or 2 * len(amounts) <= n:
        amount = math.hypot(*amounts) / math.sqrt(len(amounts))
        return _of_changes(n, amount, len(amounts) / n, goal, exact=exact)
    patterns = 2.0 ** min(n, 60)  # of signs: of few not just any share can be extreme
    level = math.floor(patterns * goal.alpha / 2 * _ONE_AMOUNT) / patterns
    of_mean = spread_of_totals([[x] for x in d])
    seen = (n - 1) / _THICK_TAILS
    return _of_spread(of_mean, n, goal, level=level, seen=seen) if of_mean and level else NOTHING


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
    b, c = summarize(baseline, "baseline"), summarize(candidate, "candidate")
    if b.mean is None or min(b.n, c.n) < 2:
        return NOTHING
    low, high = score_range or (0.0, 0.0)
    unseen = [min(0.5, unseen_failure_ucb(arm.n)) if arm.constant else 0.0 for arm in (b, c)]
    if score_range and {*baseline, *candidate} <= {low, high}:
        rate = min(1.0 - unseen[0], max(unseen[0], (b.mean - low) / (high - low)))
        reach = _of_rates(rate, (b.n, c.n), high - low, goal)
    else:
        v_b, v_c = (
            ((arm.variance or 0.0) + share * (1.0 - share) * (high - low) ** 2) / arm.n
            for arm, share in zip((b, c), unseen, strict=True)
        )
        if not 0.0 < v_b + v_c < math.inf:
            return NOTHING
        spread = Spread(v_b + v_c, 0, welch_df(v_b, b.n, v_c, c.n))
        reach = _of_spread(spread, 2.0 / (1.0 / b.n + 1.0 / c.n), goal)
    return Detectable(effect=reach.effect, cases=None if b.constant and c.constant else reach.cases)


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
    error, planned = scale(math.sqrt(spread.squared_se), spread.exponent), seen or spread.df
    shift = _shift(goal, level or goal.alpha / 2, spread.df, planned, spread.skewness)
    beyond, cases = goal.target - goal.null_delta, None
    if beyond > 0.0:
        # Guenther (1981): t asks for about z**2 / 2 cases more than a known variance would.
        more = goal.quantiles[0] ** 2 / 2.0 * n / (spread.df + 1.0)
        ratio = _shift(goal, goal.alpha / 2, math.inf, planned) * error / beyond
        cases = _whole(n * ratio * ratio + more)
    effect = saturate(goal.null_delta + error * shift) if math.isfinite(shift) else None
    return Detectable(effect=effect, cases=cases)


def _shift(goal: Goal, level: float, df: float, seen: float, skew: float = 0.0) -> float:
    """
    Return the effect, in estimated standard errors, that a t test finds; infinity if none is sure enough.

    Root of ``effect - t = z_power * sqrt(1 + effect**2 / (2 seen) + q**2 / (2 df) + d**2)``: both deviations vary, and
    so does the skewness, for which the guard asks for t - d to t + d in place of the quantile q.
    """
    q, half = t_upper_quantile(level, df), goal.quantiles[1] ** 2 / 2.0
    t, d = ((uneven(q, -abs(skew)) + sign * uneven(q, abs(skew))) / 2.0 for sign in (1.0, -1.0))
    share, rest = 1.0 - half / seen, t * t - 2.0 * half * (1.0 + d * d) - half * q * q / df
    return math.inf if share <= 0.0 else (t + math.sqrt(max(0.0, t * t - share * rest))) / share


def _of_changes(n: int, amount: float, share: float, goal: Goal, *, exact: bool) -> Detectable:
    """Return what is found where a share of the cases changes by one amount, by McNemar's formula."""
    level, power = goal.quantiles
    fewest, null, target = goal.fewest(exact=exact), goal.null_delta / amount, goal.target / amount
    changed, effect, cases = max(share, target), None, None
    step = 0.0 if exact else 0.5  # of a case: the sign-flip test cannot use its whole level
    if null < 1.0 and n >= fewest:
        few = float(special.betaincinv(fewest, n - fewest + 1, goal.power))
        effect = max(few, _beyond(n, share, null, goal) if null else 0.0)
        if not null and few < share:
            # sqrt(n) * effect - least = power * sqrt(share - effect**2)
            least = level * math.sqrt(share) + step / math.sqrt(n)
            a, b = n + power * power, math.sqrt(n) * least
            root = math.sqrt(max(0.0, b * b - a * (least**2 - power**2 * share)))
            effect = max(few, (b + root) / a)
    if null < target <= 1.0:
        beyond, sd = target - null, math.sqrt(changed - target**2)
        sds = level * (sd if null else math.sqrt(changed)) + power * sd
        root = (sds + math.sqrt(sds * sds + 4.0 * beyond * step)) / (2.0 * beyond)
        cases = _whole(max(root * root, float(special.gammaincinv(fewest, goal.power)) / target))
    return _of_range(effect, cases, amount)


def _beyond(n: int, share: float, null: float, goal: Goal) -> float:
    """Solve ``n * (effect - null)**2 = z**2 * (changed - effect**2)``, where at least the effect changes."""
    squared = sum(goal.quantiles) ** 2
    a, b, c = n + squared, n * null, n * null * null
    effect = (b + math.sqrt(max(0.0, b * b - a * (c - squared * share)))) / a
    if effect > share:
        b += squared / 2.0
        effect = (b + math.sqrt(b * b - a * c)) / a
    return effect


def _of_rates(rate: float, sizes: tuple[int, int], width: float, goal: Goal) -> Detectable:
    """
    Return what is found between two shares of passes, of which the baseline's is given.

    Where less than one case of the candidate would fail, Gaffke's bounds decide: they need about as many failures of
    the baseline as the exact test of pairs needs gains.
    """
    (n_b, n_c), fails, (level, power) = sizes, 1.0 - rate, goal.quantiles
    fewest, null, target = goal.fewest(exact=True), goal.null_delta / width, goal.target / width
    effect, cases = None, None
    if n_b >= fewest:
        few = float(special.betaincinv(fewest, n_b - fewest + 1, goal.power)) + null
        # (effect - null)**2 = times * (rate * fails / n_b + (rate + effect) * (fails - effect) / n_c)
        times = (t_upper_quantile(goal.alpha / 2, n_b + n_c - 2.0) + power) ** 2
        a, b = 1.0 + times / n_c, null - times * (rate - fails) / (2.0 * n_c)
        c = null * null - times * rate * fails * (1.0 / n_b + 1.0 / n_c)
        effect = (b + math.sqrt(b * b - a * c)) / a
        if n_c * (fails - effect) < 1.0:
            effect = max(min(effect, fails), few)
    if null < target <= 1.0:
        after = min(1.0, rate + target)
        variance = after * (1.0 - after) + (after - target) * (1.0 - after + target)
        needed = ((level + power) / (target - null)) ** 2 * variance + level**2 / 4.0
        if needed * (1.0 - after) < 1.0:
            few = float(special.gammaincinv(fewest, goal.power)) / (target - null)
            needed = max(needed, few)
        cases = _whole(needed)
    return _of_range(effect, cases, width)


def _of_range(effect: float | None, cases: int | None, unit: float) -> Detectable:
    is_possible = effect is not None and effect <= 1.0
    return Detectable(effect=unit * effect if effect and is_possible else None, cases=cases)


def _whole(cases: float) -> int | None:
    """Return a number of cases, from 2; None where there are not so many."""
    return max(2, math.ceil(cases - 1e-9)) if cases < _MOST_CASES else None
