"""Welch's t test for two independent samples; degenerate input gives None, not an error."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benchgate.statistics.student import (
    TFigures,
    check_finite,
    check_fraction,
    t_figures,
)
from benchgate.statistics.summary import Summary, saturate, scale, summarize

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class WelchTest(TFigures):
    """
    Difference of two means, candidate - baseline, in the unit of the scores; df is Welch-Satterthwaite's.

    A figure is None where it is undefined: an arm with fewer than two values has no variance, and
    two constant arms have no t, df, p or interval.
    """

    baseline_mean: float | None
    candidate_mean: float | None
    delta: float | None
    """Mean difference, unshifted; None if an arm is empty."""


def welch_test(
    baseline: Iterable[float],
    candidate: Iterable[float],
    *,
    alpha: float = 0.05,
    null_delta: float = 0.0,
) -> WelchTest:
    """
    Compare two independent samples without assuming equal variances.

    Use it where the cases of the two arms cannot be paired. Welch (1947), Satterthwaite (1946).
    The order of the values does not matter. Swapping the arms negates ``delta`` and swaps the
    one-sided p. Multiplying all scores by a power of two changes neither t nor p. If one arm is
    constant, df is the other arm's n - 1.

    :param alpha: 1 - confidence of the interval, in (0, 1).
    :param null_delta: the difference under the null hypothesis, in the unit of the scores.
    :raises ValueError: if a value is not a finite real number, or alpha is outside (0, 1).
    """
    check_fraction(alpha, "alpha")
    b, c = summarize(baseline, "baseline"), summarize(candidate, "candidate")
    delta = mean_difference(b, c)
    figures = _figures(b, c, delta, alpha, check_finite(null_delta, "null_delta"))
    return WelchTest(baseline_mean=b.mean, candidate_mean=c.mean, delta=delta, **asdict(figures))


def mean_difference(baseline: Summary, candidate: Summary) -> float | None:
    """Return candidate mean - baseline mean, accurate also where the means are nearly equal."""
    if baseline.mean is None or candidate.mean is None:
        return None
    tails = candidate.mean_tail - baseline.mean_tail
    return saturate(candidate.mean - baseline.mean + tails)


def welch_df(baseline: float, n_baseline: int, candidate: float, n_candidate: int) -> float:
    """
    Return the Welch-Satterthwaite degrees of freedom.

    Computed from shares of the total, so that squares neither underflow nor overflow.

    :param baseline: squared standard error of the baseline's mean (variance / n).
    :param candidate: that of the candidate's, in the same unit; not both may be zero.
    """
    total = baseline + candidate
    b, c = n_baseline - 1, n_candidate - 1
    return b * c / ((candidate / total) ** 2 * b + (baseline / total) ** 2 * c)


def _figures(
    baseline: Summary, candidate: Summary, delta: float | None, alpha: float, null_delta: float
) -> TFigures:
    if baseline.scaled_variance is None or candidate.scaled_variance is None or delta is None:
        return TFigures()
    varying = [arm.exponent for arm in (baseline, candidate) if arm.scaled_variance]
    if not varying:
        return TFigures(se=0.0)
    exponent = max(varying)
    b = _squared_se(baseline.scaled_variance, baseline, exponent)
    c = _squared_se(candidate.scaled_variance, candidate, exponent)
    return t_figures(
        delta=delta,
        null_delta=null_delta,
        se=math.sqrt(b + c),
        exponent=exponent,
        df=welch_df(b, baseline.n, c, candidate.n),
        alpha=alpha,
    )


def _squared_se(variance: float, arm: Summary, exponent: int) -> float:
    return scale(variance / arm.n, 2 * (arm.exponent - exponent))
