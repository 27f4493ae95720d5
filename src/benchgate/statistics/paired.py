"""Tests of paired differences, for a baseline and a candidate that ran the same cases."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benchgate.statistics.sign_flip import SignFlip, sign_flip
from benchgate.statistics.student import TFigures, check_finite, check_fraction, t_figures
from benchgate.statistics.summary import summarize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedT(TFigures):
    """One-sample t test of the differences; undefined (None) below two pairs or if all are equal."""

    n: int
    """Number of pairs."""
    delta: float | None
    """Mean difference, unshifted, in the unit of the scores; None without pairs."""
    sd: float | None
    """Standard deviation of the differences; 0.0 iff they are all the same float."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """
    The paired test that the gate uses: significant only if both t and sign-flip are.

    The p-values are None where t is undefined. For constant differences use a bound of their mean
    instead, :func:`benchgate.statistics.bounds.gaffke_lower`.
    """

    t: PairedT
    sign_flip: SignFlip
    p_greater: float | None
    """The larger of the two tests' one-sided p; ``p_less`` likewise."""
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
    digits = 12 - math.floor(math.log10(top)) if top else 0
    return [round(c - b, digits) for b, c in zip(baseline, candidate, strict=True)]


def paired_t(
    differences: Iterable[float], *, alpha: float = 0.05, null_delta: float = 0.0
) -> PairedT:
    """
    Test the mean of paired differences (candidate - baseline) with Student's t (1908).

    :param alpha: 1 - confidence of the interval, in (0, 1).
    :param null_delta: the mean under the null hypothesis, in the unit of the scores.
    :raises ValueError: if a value is not a finite real number, or alpha is outside (0, 1).
    """
    check_fraction(alpha, "alpha")
    check_finite(null_delta, "null_delta")
    d = summarize(differences, "differences")
    figures = TFigures(se=0.0 if d.scaled_variance == 0.0 else None)
    if d.scaled_variance and d.mean is not None:
        figures = t_figures(
            delta=d.mean,
            null_delta=null_delta,
            se=math.sqrt(d.scaled_variance / d.n),
            exponent=d.exponent,
            df=float(d.n - 1),
            alpha=alpha,
        )
    return PairedT(n=d.n, delta=d.mean, sd=d.sd, **asdict(figures))


def paired_test(
    differences: Iterable[float],
    *,
    alpha: float = 0.05,
    null_delta: float = 0.0,
    n_resamples: int = 9999,
) -> PairedTest:
    """
    Run :func:`paired_t` and :func:`sign_flip` and take the larger p of each side.

    The t test alone assumes normal differences, which few cases cannot show.

    :raises ValueError: as the two tests.
    """
    values = list(differences)
    t = paired_t(values, alpha=alpha, null_delta=null_delta)
    flip = sign_flip(values, null_delta=null_delta, alpha=alpha, n_resamples=n_resamples)
    return combined(t, flip)


def combined(t: PairedT, flip: SignFlip) -> PairedTest:
    """Take the larger p of each side; undefined where t is."""
    if t.p_greater is None or t.p_less is None:
        return PairedTest(t=t, sign_flip=flip, p_greater=None, p_less=None, p_two_sided=None)
    greater, less = max(t.p_greater, flip.p_greater), max(t.p_less, flip.p_less)
    return PairedTest(
        t=t,
        sign_flip=flip,
        p_greater=greater,
        p_less=less,
        p_two_sided=min(1.0, 2.0 * min(greater, less)),
    )
