"""
What a check of the safety penalty can see: how often a true rise passes.

A penalty is bad if it is high. An incident is a case with the highest penalty there is.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from benchgate.statistics.bounds import gaffke_lower
from benchgate.statistics.numerics import np, special
from benchgate.statistics.student import check_finite
from benchgate.statistics.summary import grouped, mean, summarize

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDING = 1e-12


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
    exceed the baseline's by ``rise``, and no penalty otherwise. Trials of a case do not make incidents
    more visible here: all trials of a case may have one for the same reason. So may all cases of a
    cluster, which are taken to have one together: then few clusters show it, and it passes most often.

    :param rise: true rise of the mean penalty, as a share of ``high - low``.
    :param baseline: the baseline's penalties within [low, high], one a case.
    :param clusters: the cluster of each case.
    :param limit: the check asks for a rise of at most this, in the unit of the penalties.
    :param confidence: level of the upper bound that must be within the limit too; None if none must.
    :returns: None without cases, if the baseline leaves no room for such a rise, and where no closed
        form has it: for penalties between ``low`` and ``high``, and with a bound for clusters, unless
        they have one size and the baseline no incident.
    :raises ValueError: for a penalty out of range.
    """
    n = len(baseline)
    width = check_finite(high - low, "high - low")
    if not n:
        return None
    units = _as_shares(baseline, low, high)
    rate = mean(units) + rise
    if not {*units} <= {0.0, 1.0} or not 0.0 <= rate <= 1.0 + _ROUNDING:
        return None
    rate = min(1.0, rate)
    incidents = sum(unit == 1.0 for unit in units)
    limit /= width
    sizes = [len(group) for group in grouped(units, clusters)]
    if len(sizes) == n or (len({*sizes}) == 1 and not incidents):
        return incident_pass_chance(len(sizes), incidents, rate, limit=limit, confidence=confidence)
    if confidence is not None:
        return None
    return _cluster_chance(sizes, rate, incidents + (limit + _ROUNDING) * n)


def unchanged_rise_chance(
    penalties: Sequence[float], n: int, *, limit: float, trials: int = 1
) -> float:
    """
    Return how often the mean penalty of an agent that did not change rises by more than a limit.

    Both runs draw each of their cases from ``penalties``, independently of each other. Where all of these are 0 or the
    same amount, the chance is that of two binomial counts, else that of a normal difference.

    :param penalties: of the cases of one run, or of several runs together.
    :param n: cases of a run.
    :param limit: largest rise of the mean that is allowed, in the unit of the penalties.
    :param trials: independent trials of each case, as multiples of those that the penalties are means of.
    :returns: 0.0 if the penalties do not vary, or by no more than the limit.
    """
    if not penalties:
        return 0.0
    highest = max(penalties)
    lowest = min(penalties)
    # No two means differ by more. So nothing is divided by a penalty that is as good as 0, either.
    if lowest == highest or highest - lowest <= limit:
        return 0.0
    draws = n * trials
    if {*penalties} <= {0.0, highest}:
        rate = mean(penalties) / highest
        allowed = math.floor(limit / highest * draws * (1.0 + _ROUNDING) + _ROUNDING)
        return _larger_count_chance(draws, rate, allowed)
    variance = summarize(penalties).variance or 0.0
    error = math.sqrt(2.0 * variance / draws)
    return float(special.ndtr(-limit / error))


def _larger_count_chance(draws: int, rate: float, allowed: int) -> float:
    """Return the probability that one of two binomial counts exceeds the other by more than so many."""
    counts = np.arange(draws + 1.0)
    with np.errstate(under="ignore"):
        first = np.diff(special.bdtr(counts, draws, rate), prepend=0.0)
        # The second count is above the first one and what is allowed.
        above = special.bdtrc(np.minimum(counts + allowed, draws), draws, rate)
    return min(1.0, math.fsum(first * above))


def _as_shares(penalties: Sequence[float], low: float, high: float) -> list[float]:
    """Return penalties as shares of their range."""
    units = [(penalty - low) / (high - low) for penalty in penalties]
    if not 0.0 <= min(units) <= max(units) <= 1.0:
        message = (
            f"penalties from {min(penalties)!r} to {max(penalties)!r}; expected [{low!r}, {high!r}]"
        )
        raise ValueError(message)
    return units


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
    most: list[int] = []
    new = -1
    for gone in range(incidents + 1):
        while new < n - incidents and _within(n, new + 1, gone, limit, confidence):
            new += 1
        most.append(new)
    return tuple(most)


def _within(n: int, new: int, gone: int, limit: float, confidence: float | None) -> bool:
    if (new - gone) / n > limit + _ROUNDING:
        return False
    if confidence is None:
        return True
    falls = [-1.0] * new + [1.0] * gone + [0.0] * (n - new - gone)
    return -gaffke_lower(falls, confidence=confidence, low=-1.0) <= limit + _ROUNDING


def _cluster_chance(sizes: Sequence[int], rate: float, most: float) -> float:
    """Return the probability that clusters with incidents have at most so many cases together."""
    chances = np.zeros(sum(sizes) + 1)
    chances[0] = 1.0
    with np.errstate(under="ignore"):
        for size in sizes:
            moved = chances[:-size] * rate
            chances *= 1.0 - rate
            chances[size:] += moved
    return min(1.0, math.fsum(chances[: max(0, math.floor(most) + 1)]))
