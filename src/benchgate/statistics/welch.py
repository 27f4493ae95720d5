"""Welch's t test for two independent samples; degenerate input gives None, not an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.statistics.clusters import Spread, pooled
from benchgate.statistics.student import t_test
from benchgate.statistics.summary import finite_floats, grouped, saturate, scale, summarize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.statistics.clusters import Labels
    from benchgate.statistics.student import TTest
    from benchgate.statistics.summary import Summary


def welch_test(
    baseline: Iterable[float],
    candidate: Iterable[float],
    clusters: tuple[Labels, Labels] | None = None,
    *,
    alpha: float = 0.05,
    null_delta: float = 0.0,
    is_skewed: bool = False,
) -> TTest:
    """
    Compare two independent samples without assuming equal variances.

    Use it where the cases of the two arms cannot be paired. Welch (1947); df are those of Satterthwaite (1946).
    The order of the values does not matter. Swapping the arms negates ``delta`` and swaps the
    one-sided p. Multiplying all scores by a power of two changes neither t nor p. If one arm is
    constant, df is the other arm's n - 1. Arms that share sources count as independent, which is
    conservative, as it is for pairs.

    :param clusters: of the baseline's cases, and of the candidate's, as :mod:`benchgate.statistics.clusters` has
        them; None if the cases are independent.
    :param alpha: 1 - confidence of the interval, in (0, 1).
    :param null_delta: the difference under the null hypothesis, in the unit of the scores.
    :param is_skewed: p and interval allow for the skewness of the difference too.
    :raises ValueError: if a value is not a finite real number, alpha is outside (0, 1), or labels are missing.
    """
    arms = finite_floats(baseline, "baseline"), finite_floats(candidate, "candidate")
    b, c = map(summarize, arms)
    groups = [grouped(*side) for side in zip(arms, clusters or (None, None), strict=True)]
    shares_clusters = [len(side) for side in groups] != [b.n, c.n]
    of_groups = None
    if is_skewed or shares_clusters:
        of_groups = pooled(groups)
    spread = of_groups
    if not shares_clusters:
        spread = _apart(b, c)
    skews = [0.0]
    if is_skewed and of_groups:
        skews.append(of_groups.skewness)
    delta = mean_difference(b, c)
    return t_test(spread, delta, null_delta=null_delta, alpha=alpha, skews=skews)


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
    b = n_baseline - 1
    c = n_candidate - 1
    return b * c / ((candidate / total) ** 2 * b + (baseline / total) ** 2 * c)


def _apart(b: Summary, c: Summary) -> Spread | None:
    """Return the spread of the difference of two means of independent cases."""
    if b.scaled_variance is None or c.scaled_variance is None:
        return None
    varying = [arm.exponent for arm in (b, c) if arm.scaled_variance]
    if not varying:
        return Spread(0.0, 0, 1.0)
    exponent = max(varying)
    v_b, v_c = (
        scale((arm.scaled_variance or 0.0) / arm.n, 2 * (arm.exponent - exponent)) for arm in (b, c)
    )
    return Spread(v_b + v_c, exponent, welch_df(v_b, b.n, v_c, c.n))
