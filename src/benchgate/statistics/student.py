"""p-values and intervals from Student's t, shared by the Welch and the paired test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.statistics.numerics import special
from benchgate.statistics.summary import saturate, scale

if TYPE_CHECKING:
    from benchgate.statistics.clusters import Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class TFigures:
    """The figures of a t test of a mean difference ``delta``; None where undefined."""

    se: float | None = None
    """Standard error of ``delta``; 0.0 iff nothing varies."""
    t: float | None = None
    """(delta - null_delta) / se, at most the largest float."""
    df: float | None = None
    p_two_sided: float | None = None
    p_greater: float | None = None
    """One-sided p for "the candidate is better than the baseline by more than null_delta"."""
    p_less: float | None = None
    ci_low: float | None = None
    """Lower end of the two-sided 1 - alpha interval of the unshifted ``delta``."""
    ci_high: float | None = None


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


def t_figures(
    spread: Spread | None, delta: float | None, *, null_delta: float, alpha: float
) -> TFigures:
    """
    Test ``delta`` against ``null_delta``, and compute the interval of ``delta``.

    :param spread: None if it is not known.
    :param alpha: 1 - confidence of the two-sided interval.
    :raises ValueError: if alpha is outside (0, 1) or null_delta is not finite.
    """
    check_fraction(alpha, "alpha")
    shift = check_finite(null_delta, "null_delta")
    if spread is None or delta is None:
        return TFigures()
    if not spread.squared_se:
        return TFigures(se=0.0)
    se, df = math.sqrt(spread.squared_se), spread.df
    t = saturate(scale(saturate(delta - shift), -spread.exponent) / se)
    tail = float(special.stdtr(df, -abs(t)))
    real_se = scale(se, spread.exponent)
    half = t_upper_quantile(alpha / 2, df) * real_se
    return TFigures(
        se=real_se,
        t=t,
        df=df,
        p_two_sided=min(1.0, 2.0 * tail),
        p_greater=tail if t > 0 else 1.0 - tail,
        p_less=tail if t < 0 else 1.0 - tail,
        ci_low=saturate(delta - half),
        ci_high=saturate(delta + half),
    )
