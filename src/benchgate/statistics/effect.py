"""Standardised effect sizes: a difference of means in units of the standard deviation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.statistics.numerics import special
from benchgate.statistics.summary import saturate, scale, summarize
from benchgate.statistics.welch import mean_difference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.statistics.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSize:
    """Difference of means in pooled standard deviations; positive if the candidate is better."""

    pooled_sd: float | None
    """In the unit of the scores; 0.0 iff both arms are constant; None below two values in one."""
    cohens_d: float | None
    """delta / pooled_sd; None (undefined), not 0, where pooled_sd is None or 0."""
    hedges_g: float | None
    """Cohen's d times :func:`hedges_correction`; nearly unbiased also at small n."""


def effect_size(baseline: Iterable[float], candidate: Iterable[float]) -> EffectSize:
    """
    Return Cohen's d and Hedges' g (Hedges 1981) of candidate - baseline.

    Use g to compare effects between benches whose scores have different units or spreads.

    :raises ValueError: if a value is not a finite real number.
    """
    b = summarize(baseline, "baseline")
    c = summarize(candidate, "candidate")
    delta = mean_difference(b, c)
    if b.scaled_variance is None or c.scaled_variance is None or delta is None:
        return EffectSize(pooled_sd=None, cohens_d=None, hedges_g=None)
    exponent = max((arm.exponent for arm in (b, c) if arm.scaled_variance), default=0)
    df = b.n + c.n - 2
    pooled = math.sqrt((_sum_of_squares(b, exponent) + _sum_of_squares(c, exponent)) / df)
    if pooled == 0.0:
        return EffectSize(pooled_sd=0.0, cohens_d=None, hedges_g=None)
    d = saturate(scale(delta, -exponent) / pooled)
    return EffectSize(
        pooled_sd=scale(pooled, exponent), cohens_d=d, hedges_g=d * hedges_correction(df)
    )


def hedges_correction(df: int) -> float:
    """
    Return the factor that removes the bias of Cohen's d (Hedges 1981), in (0.56, 1).

    J(m) = Gamma(m/2) / (sqrt(m/2) Gamma((m - 1)/2))

    :param df: m = n_baseline + n_candidate - 2, at least 2.
    """
    # The beta function gives the ratio without cancellation between two log-gamma values.
    return math.sqrt(2.0 * math.pi / df) / float(special.beta((df - 1) / 2, 0.5))


def _sum_of_squares(arm: Summary, exponent: int) -> float:
    return scale((arm.scaled_variance or 0.0) * (arm.n - 1), 2 * (arm.exponent - exponent))
