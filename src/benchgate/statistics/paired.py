"""Tests of paired differences, for a baseline and a candidate that ran the same cases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.statistics.clusters import spread_of_totals
from benchgate.statistics.sign_flip import SignFlip, above, flip_interval, sign_flip
from benchgate.statistics.student import TTest, t_test
from benchgate.statistics.summary import finite_floats, grouped, summarize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchgate.statistics.clusters import Labels
    from benchgate.statistics.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """
    The paired test that the gate uses: significant only if the sign-flip test is, and its guard against skewness.

    The p-values are None where t is undefined. For constant differences use a bound of their mean
    instead, :func:`benchgate.statistics.bounds.gaffke_lower`.
    """

    differences: Summary
    """Unshifted; their sd is 0.0 iff they are all the same float."""
    t: TTest
    """Student's, with p and interval that allow for skewness."""
    sign_flip: SignFlip
    p_greater: float | None
    """The larger one-sided p: of t, or of the sign flip with ties as halves; ``p_less`` likewise."""
    p_less: float | None
    p_two_sided: float | None
    """min(1, 2 * min(p_greater, p_less)): at most alpha iff both tests agree at level alpha / 2."""


def paired_differences(baseline: Sequence[float], candidate: Sequence[float]) -> list[float]:
    """
    Return candidate - baseline by case, rounded to 13 digits of the largest score.

    Without the rounding, equal differences would vary in the last digit of a float, and a t test
    would take them for significant.

    :raises ValueError: if the sequences differ in length.
    """
    top = max((abs(x) for arm in (baseline, candidate) for x in arm), default=0.0)
    digits = 0
    if top:
        digits = 12 - math.floor(math.log10(top))
    return [round(c - b, digits) for b, c in zip(baseline, candidate, strict=True)]


def paired_t(
    differences: Iterable[float],
    clusters: Labels | None = None,
    *,
    alpha: float = 0.05,
    null_delta: float = 0.0,
    is_skewed: bool = True,
) -> TTest:
    """
    Test the mean of paired differences (candidate - baseline) with a t test that allows for their skewness.

    :param clusters: of each difference, as :mod:`benchgate.statistics.clusters` has it; None if they are independent.
    :param alpha: 1 - confidence of the interval, in (0, 1).
    :param null_delta: the mean under the null hypothesis, in the unit of the scores.
    :param is_skewed: False for the t test of Student (1908).
    :raises ValueError: if a value is not a finite real number, alpha is outside (0, 1), or labels are missing.
    """
    values = finite_floats(differences, "differences")
    delta = summarize(values).mean
    groups = grouped(values, clusters)
    return _t(groups, delta, alpha=alpha, null_delta=null_delta, is_skewed=is_skewed)


def _t(
    groups: Sequence[Sequence[float]],
    delta: float | None,
    *,
    alpha: float,
    null_delta: float,
    is_skewed: bool = True,
) -> TTest:
    spread = spread_of_totals(groups)
    skew = 0.0
    if is_skewed and spread:
        skew = spread.skewness
    return t_test(spread, delta, null_delta=null_delta, alpha=alpha, skews=[skew])


def paired_test(
    differences: Iterable[float],
    clusters: Labels | None = None,
    *,
    alpha: float = 0.05,
    null_delta: float = 0.0,
    n_resamples: int = 9999,
) -> PairedTest:
    """
    Run :func:`sign_flip` and :func:`paired_t`, and take the larger p of each side.

    The sign-flip test assumes symmetric differences; where they are skewed, the t test guards it. All
    differences of a cluster are flipped together, so five clusters or fewer never pass at alpha =
    0.05; ``differences`` are those of the pairs, ``sign_flip.n`` is the number of clusters.

    :param clusters: as :func:`paired_t`.
    :raises ValueError: as the two tests.
    """
    values = finite_floats(differences, "differences")
    groups = grouped(values, clusters)
    summary = summarize(values)
    t = _t(groups, summary.mean, alpha=alpha, null_delta=null_delta)
    if len(groups) < len(values):
        flip = sign_flip(_totals(groups, null_delta)[0], alpha=alpha, n_resamples=n_resamples)
    else:
        flip = sign_flip(values, null_delta=null_delta, alpha=alpha, n_resamples=n_resamples)
    greater = None
    less = None
    both = None
    if t.p_greater is not None and t.p_less is not None:
        greater = max(t.p_greater, flip.half_ties_greater)
        less = max(t.p_less, flip.half_ties_less)
        both = min(1.0, 2.0 * min(greater, less))
    return PairedTest(
        differences=summary,
        t=t,
        sign_flip=flip,
        p_greater=greater,
        p_less=less,
        p_two_sided=both,
    )


def paired_interval(
    differences: Iterable[float], clusters: Labels | None = None, *, alpha: float = 0.05
) -> tuple[float, float]:
    """Return the smallest interval that contains those of both tests of :func:`paired_test`; without t, infinite."""
    values = finite_floats(differences, "differences")
    t = paired_t(values, clusters, alpha=alpha)
    if t.ci_low is None or t.ci_high is None:
        return -math.inf, math.inf
    groups = grouped(values, clusters)
    totals, exponent = _totals(groups, 0.0)
    sizes = [len(group) for group in groups]
    low, high = flip_interval(totals, sizes, alpha=alpha)
    return min(t.ci_low, math.ldexp(low, exponent)), max(t.ci_high, math.ldexp(high, exponent))


def _totals(groups: Sequence[Sequence[float]], shift: float) -> tuple[list[float], int]:
    """Return the sums of x - shift of each group, divided by 2**exponent, so that they cannot overflow."""
    shifted = [above(group, shift) for group in groups]
    exponent = math.frexp(max(abs(x) for group in shifted for x in group))[1]
    return [math.fsum(math.ldexp(x, -exponent) for x in group) for group in shifted], exponent
