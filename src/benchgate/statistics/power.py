"""
Minimum detectable effects, and the number of cases needed to detect a given effect.

The minimum detectable effect is the true difference at which the two-sided test is significant, in
the right direction, with probability ``power``. It is computed from the noncentral t distribution,
which is exact for normal scores. The textbook formula (z[1 - alpha/2] + z[power]) * se (Miller
2024, section 5) gives 11% too little at 10 pairs; with t quantiles it is still too small below 10
pairs or at a strict alpha.

No function here takes the observed difference: power computed from it only restates the p-value.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.numerics import np, special
from benchgate.statistics.quadrature import interval_rule, sd_rule
from benchgate.statistics.roots import increasing_root
from benchgate.statistics.student import check_finite, check_fraction, t_upper_quantile
from benchgate.statistics.summary import saturate
from benchgate.statistics.welch import welch_df

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_CASES = 2**53


def welch_mde(
    *,
    baseline_variance: float,
    n_baseline: int,
    candidate_variance: float,
    n_candidate: int,
    alpha: float = 0.05,
    power: float = 0.8,
    width: float | None = None,
) -> float | None:
    """
    Return the difference of means that a two-sided Welch test of this size finds with ``power``.

    A constant sample does not mean that all scores are equal. Given ``width``, the variance of a
    constant arm is therefore taken as psi * (1 - psi) * width**2. There psi = 1 - .05**(1/n), at
    most 1/2, is the largest share of cases at the other end of the range that is plausible (95%)
    after n equal cases; see :func:`~benchgate.statistics.bounds.unseen_failure_ucb`.

    :param baseline_variance: unbiased variance of the baseline's scores, at least 0.
    :param candidate_variance: the same of the candidate's scores.
    :param alpha: two-sided level of the test, in (0, 1).
    :param power: probability of finding the effect, above alpha / 2 and below 1.
    :param width: length of the score range (1.0 for [0, 1]); None if unbounded.
    :returns: the effect in the unit of the scores, greater than 0; above ``width`` no effect is
        detectable. None below two cases in an arm, and where both variances are 0 and the range is
        unknown.
    :raises ValueError: for a negative or non-finite variance, width <= 0, alpha or power out of
        range.
    """
    if min(n_baseline, n_candidate) < 2:
        return None
    b = arm_variance(baseline_variance, n_baseline, width) / n_baseline
    c = arm_variance(candidate_variance, n_candidate, width) / n_candidate
    if b + c == 0.0:
        return None
    return _effect(math.sqrt(b + c), welch_df(b, n_baseline, c, n_candidate), alpha, power)


def paired_mde(
    *, sd: float, n: int, alpha: float = 0.05, power: float = 0.8, width: float | None = None
) -> float | None:
    """
    Return the mean difference that a two-sided paired t test of n pairs finds with ``power``.

    If all differences are equal (sd = 0), it is plausible (95%) that a share psi = 1 - .05**(1/n)
    of other pairs differs by the whole range; the variance is then taken as psi * width**2.

    :param sd: standard deviation of the paired differences, at least 0.
    :param width: length of the score range (1.0 for [0, 1]); None if unbounded.
    :returns: as :func:`welch_mde`.
    :raises ValueError: as :func:`welch_mde`.
    """
    if n < 2:
        return None
    spread = _not_negative(sd, "sd")
    if spread == 0.0 and width is not None:
        spread = math.sqrt(unseen_failure_ucb(n)) * _positive(width, "width")
    return _effect(spread / math.sqrt(n), n - 1, alpha, power) if spread else None


def welch_cases_needed(
    target: float,
    *,
    baseline_variance: float,
    candidate_variance: float,
    alpha: float = 0.05,
    power: float = 0.8,
    width: float | None = None,
) -> int | None:
    """
    Return the smallest n per arm at which :func:`welch_mde` is at most ``target``.

    :param target: effect to find, in the unit of the scores, greater than 0.
    :returns: cases per arm, at least 2; None where the effect is not defined (zero variance,
        unknown range) or no number of cases below 2**53 is enough.
    :raises ValueError: if target is not positive, or as :func:`welch_mde`.
    """

    def effect(n: int) -> float | None:
        return welch_mde(
            baseline_variance=baseline_variance,
            n_baseline=n,
            candidate_variance=candidate_variance,
            n_candidate=n,
            alpha=alpha,
            power=power,
            width=width,
        )

    return _first_enough(target, effect)


def paired_cases_needed(
    target: float, *, sd: float, alpha: float = 0.05, power: float = 0.8, width: float | None = None
) -> int | None:
    """
    Return the smallest number of pairs at which :func:`paired_mde` is at most ``target``.

    :returns: pairs, at least 2; None as :func:`welch_cases_needed`.
    :raises ValueError: if target is not positive, or as :func:`paired_mde`.
    """
    return _first_enough(
        target, lambda n: paired_mde(sd=sd, n=n, alpha=alpha, power=power, width=width)
    )


def pass_fail_mde(*, changed: int, n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """
    Return the net gain that :func:`~benchgate.statistics.pass_fail.pass_fail_test` finds with ``power``.

    Connor (1987), for a share of changed cases as observed, or as plausible (95%) if none changed.
    Enumerated power at the result is at most 1 point below ``power`` from 20 cases on, and above it
    by up to 8 points where hardly any change is a loss.

    :param changed: how many of the n cases were gained or lost.
    :returns: the gain; above the share of changed cases none is detectable at this size.
    :raises ValueError: if 0 <= changed <= n does not hold, n < 4, or alpha or power is out of range.
    """
    if not 0 <= changed <= n or n < 4:
        message = f"{changed!r} changes of {n!r} cases; expected counts, n >= 4"
        raise ValueError(message)
    share = changed / n or unseen_failure_ucb(n)
    level, found = _normal_quantiles(alpha, power)
    rest = math.sqrt(n + found**2 - level**2) if n + found**2 > level**2 else 0.0
    return math.sqrt(share) * (math.sqrt(n) * level + found * rest) / (n + found**2)


def pass_fail_cases_needed(
    target: float, *, share: float, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """
    Return the number of cases at which :func:`pass_fail_mde` is at most ``target``.

    :param share: of changed cases, in (0, 1].
    :returns: cases; None if the target exceeds the share, so that no gain can be as large.
    :raises ValueError: if target or share is not positive, or alpha or power is out of range.
    """
    if _positive(target, "target") > _positive(share, "share"):
        return None
    level, found = _normal_quantiles(alpha, power)
    root = level * math.sqrt(share) + found * math.sqrt(share - target**2)
    return max(4, math.ceil((root / target) ** 2))


def _normal_quantiles(alpha: float, power: float) -> tuple[float, float]:
    level = -float(special.ndtri(check_fraction(alpha, "alpha") / 2))
    return level, float(special.ndtri(check_fraction(power, "power")))


def _effect(se: float, df: float, alpha: float, power: float) -> float:
    check_fraction(alpha, "alpha")
    if check_fraction(power, "power") <= alpha / 2:
        message = f"power is {power!r}; expected more than alpha / 2 = {alpha / 2!r}"
        raise ValueError(message)
    return saturate(_noncentrality(df, alpha, power) * se)


@lru_cache(maxsize=64)
def _noncentrality(df: float, alpha: float, power: float) -> float:
    """Return the delta with P(Z + delta > critical * s) = power; Z normal, s a sample sd of 1."""
    critical = t_upper_quantile(alpha / 2, df)

    def excess(delta: float) -> float:
        return t_power(delta, critical, df) - power

    high = 4.0
    while excess(high) < 0.0:
        high *= 2.0
    return increasing_root(excess, 0.0, high, tolerance=1e-12 * high)


def t_power(delta: float, critical: float, df: float) -> float:
    """Return P(Z + delta > critical * s) for a normal Z and an independent sample sd s of 1."""
    # The order of integration whose inner distribution is smoother needs fewer nodes.
    if df > 50.0:
        sd, mass = sd_rule(df)
        return float(special.ndtr(delta - critical * sd) @ mass)
    z, weights = interval_rule(max(-8.5, -delta), 8.5, 160)
    below = special.gammainc(df / 2.0, df / 2.0 * ((delta + z) / critical) ** 2)
    return float((below * np.exp(-0.5 * z * z)) @ weights) / math.sqrt(2.0 * math.pi)


def arm_variance(variance: float, n: int, width: float | None) -> float:
    """Return the variance to plan with: of a constant sample what is plausible; see :func:`welch_mde`."""
    if _not_negative(variance, "variance") > 0.0 or width is None:
        return variance
    share = min(0.5, unseen_failure_ucb(n))
    return saturate(share * (1.0 - share) * _positive(width, "width") * width)


def _not_negative(value: float, name: str) -> float:
    if check_finite(value, name) < 0.0:
        message = f"{name} is {value!r}; expected at least 0"
        raise ValueError(message)
    return value


def _positive(value: float, name: str) -> float:
    if check_finite(value, name) <= 0.0:
        message = f"{name} is {value!r}; expected more than 0"
        raise ValueError(message)
    return value


def _first_enough(target: float, effect: Callable[[int], float | None]) -> int | None:
    _positive(target, "target")

    def enough(n: int) -> bool:
        detectable = effect(n)
        return detectable is not None and detectable <= target

    return smallest_n(enough)


def smallest_n(enough: Callable[[int], bool]) -> int | None:
    """Return the first number of cases, from 2, that is enough if all larger are; None from 2**53."""
    low, high = 1, 2
    while not enough(high):
        if high >= _MOST_CASES:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
