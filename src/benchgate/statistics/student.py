"""What a test of a difference answers; p-values and intervals from Student's t, for Welch's and the paired test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from benchgate.statistics.numerics import special
from benchgate.statistics.summary import saturate, scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.statistics.clusters import Spread


Figure = TypeVar("Figure", float, float | None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tails(Generic[Figure]):
    """Answers of a test of a difference: a p is at most alpha / 2 iff its end of the interval excludes null_delta."""

    p_greater: Figure
    """One-sided p for "the candidate is better than the baseline by more than null_delta"."""
    p_less: Figure
    p_two_sided: Figure
    """min(1, 2 * min(p_greater, p_less))."""
    ci_low: Figure
    """Lower end of the two-sided 1 - alpha interval of the unshifted difference."""
    ci_high: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class TTest(Tails[float | None]):
    """
    A t test of a mean difference, candidate - baseline, in the unit of the scores.

    A figure is None where it is undefined: a sample with fewer than two values has no variance, and where nothing
    varies there are no t, df, p and interval.
    """

    delta: float | None
    """Mean difference, unshifted; None if a sample is empty."""
    se: float | None
    """Standard error of ``delta``; 0.0 iff nothing varies."""
    t: float | None
    """(delta - null_delta) / se, at most the largest float."""
    df: float | None


def check_fraction(value: float, name: str) -> float:
    """
    Return a probability strictly between 0 and 1.

    :raises ValueError: for anything else, NaN included.
    """
    if isinstance(value, bool) or not 0.0 < value < 1.0:
        message = f"{name} is {value!r}; expected a number strictly between 0 and 1"
        raise ValueError(message)
    return float(value)


def check_finite(value: float, name: str) -> float:
    """
    Return a finite number as a float.

    :raises ValueError: for NaN and the infinities.
    """
    if isinstance(value, bool) or not math.isfinite(value):
        message = f"{name} is {value!r}; expected a finite number"
        raise ValueError(message)
    return float(value)


def t_upper_quantile(tail: float, df: float) -> float:
    """Return q with P(T > q) = ``tail``; accurate also for a tiny ``tail``, unlike 1 - ``tail``."""
    return -float(special.stdtrit(df, tail))


def t_test(
    spread: Spread | None,
    delta: float | None,
    *,
    null_delta: float,
    alpha: float,
    skews: Sequence[float] = (0.0,),
) -> TTest:
    """
    Test ``delta`` against ``null_delta``, and compute the interval of ``delta``.

    :param spread: None if it is not known.
    :param skews: skewness of the estimate: p and interval allow for each (Johnson 1978, with Hall's cubic of 1992:
        without its last term a larger gain can have a larger p); t itself is Student's.
    :param alpha: 1 - confidence of the two-sided interval.
    :raises ValueError: if alpha is outside (0, 1) or null_delta is not finite.
    """
    check_fraction(alpha, "alpha")
    shift = check_finite(null_delta, "null_delta")
    if spread is None or delta is None:
        return _undefined(delta, se=None)
    if not spread.squared_se:
        return _undefined(delta, se=0.0)
    se = math.sqrt(spread.squared_se)
    df = spread.df
    t = saturate(scale(saturate(delta - shift), -spread.exponent) / se)
    evens = [_evened(t, skew) for skew in skews]
    greater = max(float(special.stdtr(df, -even)) for even in evens)
    less = max(float(special.stdtr(df, even)) for even in evens)
    quantile = t_upper_quantile(alpha / 2, df)
    real_se = scale(se, spread.exponent)
    return TTest(
        delta=delta,
        se=real_se,
        t=t,
        df=df,
        p_two_sided=min(1.0, 2.0 * min(greater, less)),
        p_greater=greater,
        p_less=less,
        ci_low=saturate(delta - max(uneven(quantile, skew) for skew in skews) * real_se),
        ci_high=saturate(delta - min(uneven(-quantile, skew) for skew in skews) * real_se),
    )


def _undefined(delta: float | None, *, se: float | None) -> TTest:
    return TTest(
        delta=delta,
        se=se,
        t=None,
        df=None,
        p_two_sided=None,
        p_greater=None,
        p_less=None,
        ci_low=None,
        ci_high=None,
    )


def _evened(t: float, skew: float) -> float:
    """Return what is distributed as t is without skewness; increases with t."""
    share = skew * t / 3.0
    return saturate(t * (1.0 + share + share * share / 3.0) + skew / 6.0)


def uneven(even: float, skew: float) -> float:
    """Return the t of which :func:`_evened` makes this."""
    if not skew:
        return even
    # The cubic root of 1 + x, less 1.
    x = skew * (even - skew / 6.0)
    if x > -1.0:
        root = math.expm1(math.log1p(x) / 3.0)
    else:
        root = -((-1.0 - x) ** (1.0 / 3.0)) - 1.0
    return 3.0 / skew * root
