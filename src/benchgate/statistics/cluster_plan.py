"""
What a comparison of cases in clusters detects, and how many further clusters a bound takes.

The standard error and degrees of freedom are those of :mod:`benchgate.statistics.clusters`, which
the tests use too: of clusters that differ in size, a few large ones decide, and a plan that counted
all of them alike would be found in 30% of runs instead of 80%. Further clusters are taken to have
the sizes of those that there are.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import cycle
from typing import TYPE_CHECKING

from benchgate.statistics.clusters import grouped, pooled
from benchgate.statistics.detectable import Detectable, check_plan, of_effect
from benchgate.statistics.draws import uniforms
from benchgate.statistics.normal_power import power_of_sds, sign_flip_effect
from benchgate.statistics.numerics import np, special
from benchgate.statistics.quadrature import sd_rule
from benchgate.statistics.roots import increasing_root
from benchgate.statistics.student import check_fraction, t_upper_quantile
from benchgate.statistics.summary import finite_floats, scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchgate.statistics.clusters import Labels

    Floats = NDArray[np.float64]

_SIGN_FLIP = 14
"""Clusters up to which the steps of the sign-flip test matter."""
_MOST_ROUNDS = 1e9
_DRAWS, _WORK, _NODES = 4000, 1 << 21, 200


def clustered_detectable(
    samples: Sequence[tuple[Sequence[float], Labels]],
    *,
    target: float,
    null_delta: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Detectable:
    """
    Return what the clustered tests detect where values are spread as these, as normal ones.

    :param samples: values and their clusters: of the paired test its differences, of Welch's both arms.
        Others as :func:`~benchgate.statistics.detectable.paired_detectable`.
    :returns: ``cases`` are whole clusters of the average size; nothing is known if no cluster's mean differs.
    :raises ValueError: as there, and for another number of labels.
    """
    check_plan(target, null_delta, alpha, power)
    arms = [grouped(finite_floats(values), labels) for values, labels in samples]
    spread = pooled(arms)
    if spread is None or not spread.squared_se:
        return Detectable(effect=None, cases=None)
    se, seen = scale(math.sqrt(spread.squared_se), spread.exponent), spread.df
    there, is_paired = min(map(len, arms)), len(arms) == 1
    sizes = tuple(tuple(len(group) for group in arm) for arm in arms)
    size = max(len(values) / len(arm) for (values, _), arm in zip(samples, arms, strict=True))

    def signs(number: int) -> float:
        """Return the effect, in standard errors, that the sign-flip test needs; 0 if the t test needs more."""
        if not is_paired or number > _SIGN_FLIP:
            return 0.0
        return math.sqrt(number) * sign_flip_effect(number, seen, alpha, power)

    def enough(number: int) -> bool:
        times = number / there
        effect = (target - null_delta) / se * math.sqrt(times)
        df = max(1.0, (seen + 1.0) * times - 1.0)
        critical = t_upper_quantile(alpha / 2, df)
        found = power_of_sds(effect, critical, sd_rule(df), _sds(sizes))
        return signs(number) <= effect and found >= power

    needed = max(signs(there), _noncentrality(sizes, seen, alpha, power))
    found = of_effect(null_delta + se * needed, enough, target=target - null_delta)
    cases = None if found.cases is None else math.ceil(found.cases * size)
    return Detectable(effect=found.effect, cases=cases)


def constant_cases_needed(
    excess: float, clusters: Labels, *, room: float, confidence: float = 0.95
) -> int | None:
    """
    Return how many cases of one and the same value put Gaffke's lower bound of the mean above a limit.

    The bound exceeds it iff ``prod(1 + size / largest * excess / room) > 1 / (1 - confidence)``, over the
    clusters: the sum of exponential variables, weighted so, must seldom be below one of weight 1.

    :param excess: of the value over the limit.
    :param clusters: the cluster of each case there is; further ones have these sizes in turn.
    :param room: of the limit over the lowest possible value, greater than 0.
    :returns: whole clusters; None if the value does not exceed the limit, or hardly, and without a case.
    """
    sizes = [len(group) for group in grouped(clusters, clusters)]
    wanted = -math.log1p(-check_fraction(confidence, "confidence"))
    if excess <= 0.0 or not sizes:
        return None
    if room <= 0.0:
        return sizes[0]
    worth = [math.log1p(size / max(sizes) * excess / room) for size in sizes]
    if math.fsum(worth) * _MOST_ROUNDS < wanted:
        return None
    rounds = math.floor(wanted / math.fsum(worth))
    cases, reached = rounds * sum(sizes), rounds * math.fsum(worth)
    for size, value in cycle(zip(sizes, worth, strict=True)):
        if reached > wanted:
            break
        cases, reached = cases + size, reached + value
    return cases


@lru_cache(maxsize=64)
def _noncentrality(
    sizes: tuple[tuple[int, ...], ...], df: float, alpha: float, power: float
) -> float:
    """Return the effect, in estimated standard errors, that the t test finds with ``power``."""
    critical, sds = t_upper_quantile(alpha / 2, df), _sds(sizes)

    def excess(effect: float) -> float:
        return power_of_sds(effect, critical, sds, sds) - power

    return increasing_root(excess, 0.0, 100.0 * critical, tolerance=1e-6)


@lru_cache(maxsize=64)
def _sds(arms: tuple[tuple[int, ...], ...]) -> tuple[Floats, Floats]:
    """
    Return nodes and probabilities of the estimated standard error over the true one, from seeded draws.

    One large cluster among many is far from any chi distribution. The cases of a cluster are taken as equal.

    :param arms: the sizes of the clusters of each arm.
    """
    squares, true = 0.0, 0.0
    for number, arm in enumerate(arms):
        sizes, n = np.array(arm, dtype=np.float64), float(sum(arm))
        rows = max(_NODES, min(_DRAWS, _WORK // max(map(len, arms))))
        draws = special.ndtri(uniforms(rows * len(arm), f"clusters {number}"))
        totals = draws.reshape(rows, -1) * sizes
        rests = totals - sizes * totals.sum(axis=1, keepdims=True) / n
        squares = squares + (rests * rests / (1.0 - sizes / n)).sum(axis=1) / n**2
        true += float(sizes @ sizes) / n**2
    nodes = np.quantile(np.sqrt(squares / true), (np.arange(_NODES) + 0.5) / _NODES)
    return nodes, np.full(_NODES, 1.0 / _NODES)
