"""Gauss-Legendre rules for distributions that scipy.special does not have, and Tukey's studentized range by them."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from benchgate.statistics.numerics import np, special
from benchgate.statistics.roots import increasing_root

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_EDGE = 1e-13


def interval_rule(low: float, high: float, size: int) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights on [low, high]."""
    nodes, weights = _unit_rule(size)
    half = (high - low) / 2.0
    return low + half * (nodes + 1.0), half * weights


@cache
def half_line_rule(size: int) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights, mapped to (0, inf) by u = 4 v / (1 - v)."""
    nodes, weights = _unit_rule(size)
    v = (nodes + 1.0) / 2.0
    return 4.0 * v / (1.0 - v), 2.0 * weights / (1.0 - v) ** 2


@lru_cache(maxsize=64)
def sd_rule(df: float) -> tuple[Floats, Floats]:
    """
    Return nodes and probabilities of s = chi / sqrt(df): a sample's standard deviation over the true one.

    :param df: degrees of freedom of the standard deviation, at least 1; need not be whole.
    """
    low = 0.5 * math.log(2.0 * float(special.gammaincinv(df / 2.0, _EDGE)) / df)
    high = 0.5 * math.log(2.0 * float(special.gammainccinv(df / 2.0, _EDGE)) / df)
    # In log s, because at one or two degrees of freedom a ratio's far tails come from tiny s.
    y, weights = interval_rule(low, high, 160)
    # log of density * s up to a constant: df * (y - (s**2 - 1) / 2), without cancellation.
    mass = np.exp(df * (y - 0.5 * np.expm1(2.0 * y))) * weights
    return np.exp(y), mass / mass.sum()


@cache
def _unit_rule(size: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(size)


@lru_cache(maxsize=64)
def studentized_range_quantile(level: float, groups: int, df: float) -> float:
    """
    Return q with P(Q <= q) = level, Q being the range of k normal values over an independent sd.

    :param level: in (0, 1).
    :param groups: k, at least 2.
    :param df: degrees of freedom of the standard deviation, at least 1.
    """

    def excess(q: float) -> float:
        return studentized_range_cdf(q, groups, df) - level

    high = 8.0
    while excess(high) < 0.0:
        high *= 2.0
    # Rounded: further digits differ between processors, by their vector instructions.
    return round(increasing_root(excess, 0.0, high, tolerance=1e-11 * high), 9)


def studentized_range_cdf(q: float, groups: int, df: float) -> float:
    """
    Return P(Q <= q) by two nested Gauss-Legendre quadratures (Tukey 1953).

    The inner one is the distribution of the range of k normal values at r = q s,
    P(R <= r) = k * integral phi(z) (Phi(z) - Phi(z - r))**(k - 1) dz. The outer one integrates it
    over the standard deviation s, which has the density of chi / sqrt(df).
    """
    sd, sd_weights = sd_rule(df)
    z, z_weights = interval_rule(-8.5, 8.5, 96)
    between = special.ndtr(z) - special.ndtr(z - q * sd[:, None])
    density = np.exp(-0.5 * z * z) * z_weights
    # Normalised by the sum of the weights: the closed-form constants lose digits at large df.
    inner = groups * (between ** (groups - 1)) @ density / float(density.sum())
    return float(inner @ sd_weights)
