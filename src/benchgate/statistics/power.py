"""What the figures of :mod:`benchgate.statistics.detectable` are computed from: the power of t, and searches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.numerics import np, special
from benchgate.statistics.quadrature import interval_rule, sd_rule
from benchgate.statistics.summary import saturate

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_CASES = 2**53


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
    """
    Return the variance to plan with.

    A constant sample does not mean that all scores are equal. Given ``width``, its variance is taken as
    psi * (1 - psi) * width**2: psi = 1 - .05**(1/n), at most 1/2, is the largest share of cases at the other end of
    the range that is plausible (95%) after n equal cases.
    """
    if variance > 0.0 or width is None:
        return variance
    share = min(0.5, unseen_failure_ucb(n))
    return saturate(share * (1.0 - share) * width * width)


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
