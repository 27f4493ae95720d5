"""Gauss-Legendre rules for the distributions that scipy.special does not have."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from benchgate.statistics.numerics import np, special

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
