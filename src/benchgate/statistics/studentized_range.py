"""Quantile of Tukey's studentized range, which scipy.special does not have."""

from __future__ import annotations

from functools import lru_cache

from benchgate.statistics.numerics import np, special
from benchgate.statistics.quadrature import interval_rule, sd_rule
from benchgate.statistics.roots import increasing_root


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
    return increasing_root(excess, 0.0, high, tolerance=1e-11 * high)


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
