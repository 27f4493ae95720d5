"""How many cases of one and the same value Gaffke's bound of the mean takes, in clusters as there are."""

from __future__ import annotations

import math
from itertools import cycle
from typing import TYPE_CHECKING

from benchgate.statistics.student import check_fraction
from benchgate.statistics.summary import grouped

if TYPE_CHECKING:
    from benchgate.statistics.clusters import Labels

_MOST_ROUNDS = 1e9


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
    log_risk = -math.log1p(-check_fraction(confidence, "confidence"))
    if excess <= 0.0 or not sizes:
        return None
    if room <= 0.0:
        return sizes[0]
    worth = [math.log1p(size / max(sizes) * excess / room) for size in sizes]
    if math.fsum(worth) * _MOST_ROUNDS < log_risk:
        return None
    rounds = math.floor(log_risk / math.fsum(worth))
    cases, reached = rounds * sum(sizes), rounds * math.fsum(worth)
    for size, value in cycle(zip(sizes, worth, strict=True)):
        if reached > log_risk:
            break
        cases, reached = cases + size, reached + value
    return cases
