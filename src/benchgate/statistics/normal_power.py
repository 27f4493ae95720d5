"""
Power of the tests on normal scores whose standard deviation is itself an estimate.

Planned as if the estimate were right, an effect that is promised at 80% is found in 70% of the runs
of 10 cases, because it is too small wherever the estimate is.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from benchgate.statistics.draws import uniforms
from benchgate.statistics.numerics import np, special
from benchgate.statistics.quadrature import sd_rule
from benchgate.statistics.roots import increasing_root
from benchgate.statistics.student import t_upper_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SMALL = 25
"""Sign patterns at most as extreme as alpha / 2: with fewer, the steps of the test matter."""
_ALL_PATTERNS = 14
_ROWS, _WORK, _BLOCK = 4000, 1 << 24, 1 << 21


@lru_cache(maxsize=256)
def estimated_noncentrality(df: float, seen: float, alpha: float, power: float) -> float:
    """
    Return the effect, in estimated standard errors, that a t test finds with ``power``.

    :param seen: degrees of freedom of the standard deviation that the effect is planned with.
    """

    def excess(delta: float) -> float:
        return estimated_power(delta, df, seen, alpha) - power

    high = 4.0
    while excess(high) < 0.0:
        high *= 2.0
    return increasing_root(excess, 0.0, high, tolerance=1e-7 * high)


def estimated_power(delta: float, df: float, seen: float, alpha: float) -> float:
    """Return the power for an effect, in estimated standard errors; see :func:`estimated_noncentrality`."""
    return power_of_sds(delta, t_upper_quantile(alpha / 2, df), sd_rule(df), sd_rule(seen))


def power_of_sds(
    delta: float, critical: float, tested: tuple[Floats, Floats], planned: tuple[Floats, Floats]
) -> float:
    """
    Return the power where the standard deviations that are tested and planned with have these distributions.

    :param critical: value of t; each distribution is nodes, as shares of the true one, and their probabilities.
    """
    (sd, chances), (seen, weights) = tested, planned
    return float(chances @ special.ndtr(delta * seen - critical * sd[:, None]) @ weights)


@lru_cache(maxsize=256)
def sign_flip_effect(n: int, seen: float, alpha: float, power: float) -> float:
    """
    Return the mean of n normal differences, in estimated sds, that t and sign-flip find with ``power``.

    :param seen: as :func:`estimated_noncentrality`.
    :returns: infinity if there are too few differences for any pattern of signs to be significant.
    """
    extreme = _extreme(n, alpha)
    if extreme < 1.0:
        return math.inf
    if extreme > _SMALL or n > _ALL_PATTERNS:
        return estimated_noncentrality(n - 1, seen, alpha, power) / math.sqrt(n)
    least = _least_shifts(n, alpha, int(extreme))
    sd = np.sqrt(special.gammaincinv(seen / 2, uniforms(len(least), "sd")) * 2.0 / seen)
    return float(np.quantile(least / sd, power))


def sign_flip_finds(effect: float, n: int, seen: float, alpha: float, power: float) -> bool:
    """Return whether :func:`sign_flip_effect` is at most ``effect``; without looking for it, where that takes long."""
    extreme = _extreme(n, alpha)
    if extreme > _SMALL or (extreme >= 1.0 and n > _ALL_PATTERNS):
        return estimated_power(effect * math.sqrt(n), n - 1, seen, alpha) >= power
    return sign_flip_effect(n, seen, alpha, power) <= effect


def _extreme(n: int, alpha: float) -> float:
    """Return how many sign patterns of n differences are alpha / 2 of all."""
    return 2.0 ** min(n, 60) * alpha / 2 * (1.0 + 1e-12)


@lru_cache(maxsize=32)
def _least_shifts(n: int, alpha: float, extreme: int) -> Floats:
    """
    Return the shift from which on both tests are passed, for seeded samples of n normal values.

    A pattern of signs gives a sum as large as the observed one until the shift exceeds minus the
    mean of the values that it flips; at most ``extreme`` patterns may, one of which flips none.
    """
    flipped = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    rows = min(_ROWS, _WORK >> n)
    values = special.ndtri(uniforms(rows * n, "shifts")).reshape(rows, n)
    weights = (flipped / flipped.sum(axis=1, keepdims=True)).T
    step = max(1, _BLOCK >> n)
    signs = np.concatenate(
        [
            np.partition(-block @ weights, -extreme, axis=1)[:, -extreme]
            for block in (values[at : at + step] for at in range(0, rows, step))
        ]
    )
    t = t_upper_quantile(alpha / 2, n - 1) * values.std(axis=1, ddof=1) / math.sqrt(n)
    least: Floats = np.maximum(signs, t - values.mean(axis=1))
    return least
