"""
What a check of the safety penalty can see: a bound of its rise, and how often a true rise passes.

A penalty is bad if it is high. An incident is a case with the highest penalty there is.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from benchgate.statistics.bounds import gaffke_level, gaffke_upper
from benchgate.statistics.clusters import clustered_gaffke_upper, grouped
from benchgate.statistics.draws import uniforms
from benchgate.statistics.numerics import np, special
from benchgate.statistics.paired import paired_differences
from benchgate.statistics.student import check_finite
from benchgate.statistics.summary import mean

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDING = 1e-12
_LEVEL = 1e-9
_DRAWS = 4000


def penalty_rise_upper(
    baseline: Sequence[float],
    candidate: Sequence[float],
    clusters: Sequence[str | None] | None = None,
    *,
    confidence: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> float:
    """
    Return a one-sided upper confidence bound of the rise of the mean penalty, case by case.

    Gaffke's bound of the differences; see :mod:`benchgate.statistics.bounds`. If no penalty fell and
    all are ``low`` or ``high``, it is the bound of Clopper and Pearson of the share of new incidents.

    :param baseline: penalties within [low, high], one a case; the candidate's in the same order.
    :param clusters: the cluster of each case; see :mod:`benchgate.statistics.clusters`.
    :returns: a number in [-(high - low), high - low]; with no penalty on either side,
        ``(high - low) * (1 - (1 - confidence)**(1/n))``.
    :raises ValueError: for different lengths, a penalty out of range, or confidence outside (0, 1).
    """
    for index, penalty in enumerate([*baseline, *candidate]):
        if not low <= penalty <= high:
            message = f"penalty {index} is {penalty!r}; expected a number in [{low!r}, {high!r}]"
            raise ValueError(message)
    rises = paired_differences(baseline, candidate)
    labels = clusters or (None,) * len(rises)
    return clustered_gaffke_upper(
        rises, labels, confidence=confidence, low=low - high, high=high - low
    )


def safety_pass_chance(
    rise: float,
    baseline: Sequence[float],
    clusters: Sequence[str | None] | None = None,
    *,
    limit: float,
    confidence: float | None = None,
    low: float = 0.0,
    high: float = 1.0,
) -> float | None:
    """
    Return the probability that a candidate that is truly worse would pass the check of its penalty.

    Each of its cases is an incident with the same probability, as often as makes the expected mean
    exceed the baseline's by ``rise``; other cases have the baseline's penalty, those that were an
    incident there ``low``. Trials of a case do not make incidents more visible here: all trials of a
    case may have one for the same reason. So may all cases of a cluster, which are taken to have
    one together: then few clusters show it, and it passes most often.

    :param rise: true rise of the mean penalty, as a share of ``high - low``.
    :param baseline: the baseline's penalties within [low, high], one a case.
    :param clusters: the cluster of each case.
    :param limit: the check asks for a rise of at most this, in the unit of the penalties.
    :param confidence: level of the upper bound that must be within the limit too; None if none must.
    :returns: exact if all penalties are ``low`` or ``high`` and no cases share a cluster (or none of
        clusters of one size has a penalty), else from 4000 seeded draws; None without cases or if
        the baseline leaves no room for such a rise.
    :raises ValueError: for a penalty out of range.
    """
    n, width = len(baseline), check_finite(high - low, "high - low")
    if not n:
        return None
    units = [(penalty - low) / width for penalty in baseline]
    if not 0.0 <= min(units) <= max(units) <= 1.0:
        message = (
            f"penalties from {min(baseline)!r} to {max(baseline)!r}; expected [{low!r}, {high!r}]"
        )
        raise ValueError(message)
    others = [0.0 if unit == 1.0 else unit for unit in units]
    rest = mean(others)
    rate = (mean(units) + rise - rest) / (1.0 - rest)
    if not 0.0 <= rate <= 1.0 + _ROUNDING:
        return None
    groups = grouped(range(n), clusters or (None,) * n)
    incidents = sum(unit == 1.0 for unit in units)
    if not any(others) and (
        len(groups) == n or (len(set(map(len, groups))) == 1 and not incidents)
    ):
        return incident_pass_chance(
            len(groups), incidents, min(1.0, rate), limit=limit / width, confidence=confidence
        )
    return _drawn_chance(units, groups, rate, limit=limit / width, confidence=confidence)


def incident_pass_chance(
    n: int, incidents: int, rate: float, *, limit: float, confidence: float | None = None
) -> float:
    """
    Return the probability that a candidate whose cases are incidents at some rate passes the check.

    :param n: cases; ``incidents`` of them were one in the baseline, and the others had no penalty.
    :param rate: probability of an incident in each of the candidate's cases.
    :param limit: largest rise of the share of incidents that the check allows.
    :param confidence: level of the upper bound that must be within the limit too; None if none must.
    """
    most = _most_new(n, incidents, limit, confidence)
    with np.errstate(under="ignore"):
        counts = np.arange(n + 1.0)
        new = special.bdtr(counts, n - incidents, rate)
        kept = np.diff(special.bdtr(counts[: incidents + 1], incidents, rate), prepend=0.0)
        chance = sum(
            kept[incidents - gone] * new[count] for gone, count in enumerate(most) if count >= 0
        )
    return min(1.0, float(chance))


@lru_cache(maxsize=256)
def _most_new(n: int, incidents: int, limit: float, confidence: float | None) -> tuple[int, ...]:
    """Return how many new incidents pass, by how many old ones are gone; -1 if none."""
    found: list[int] = []
    new = -1
    for gone in range(incidents + 1):
        while new < n - incidents and _within(n, new + 1, gone, limit, confidence):
            new += 1
        found.append(new)
    return tuple(found)


def _within(n: int, new: int, gone: int, limit: float, confidence: float | None) -> bool:
    if (new - gone) / n > limit + _ROUNDING:
        return False
    rises = [1.0] * new + [-1.0] * gone + [0.0] * (n - new - gone)
    if confidence is None:
        return True
    return gaffke_upper(rises, confidence=confidence, low=-1.0) <= limit + _ROUNDING


def _drawn_chance(
    before: Sequence[float],
    groups: Sequence[Sequence[int]],
    rate: float,
    *,
    limit: float,
    confidence: float | None,
) -> float:
    """
    Draw which clusters have an incident, and count the draws that pass.

    The bound is within the limit iff the limit's own level is: one probability instead of a search.
    """
    draws = uniforms(_DRAWS * len(groups), "safety").reshape(_DRAWS, -1)
    incident = draws < rate
    others = [0.0 if unit == 1.0 else unit for unit in before]
    sums, gains = (
        np.array([math.fsum(values[index] - before[index] for index in group) for group in groups])
        for values in (others, [1.0] * len(before))
    )
    sizes = np.array([len(group) for group in groups])
    rises = np.where(incident, gains, sums)
    rises = rises[rises.sum(axis=1) <= (limit + _ROUNDING) * len(before)]
    if confidence is None or not len(rises):
        return len(rises) / _DRAWS
    # Draws of the same sums, in any order of clusters, pass or fail together.
    rests = np.sort((limit - rises / sizes) * sizes / sizes.max(), axis=1).round(12)
    unlike, counts = np.unique(rests, axis=0, return_counts=True)
    passed = [
        gaffke_level(rest, lowest=limit - 1.0) <= 1.0 - confidence + _LEVEL for rest in unlike
    ]
    return float(counts[passed].sum()) / _DRAWS
