"""
The four absolute limits of Tau's benchmark reports, kept as an alternative to the scaled bands.

They compare spreads with fixed numbers, whatever the noise: at 100 cases they fail four sound
candidates in five, and a p-value near 0 "reproduces" for a disaster too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from benchgate.statistics.summary import finite_floats

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_SEED_P_VALUE_RANGE = 0.05
MAX_SEED_DELTA_RANGE = 0.05
MAX_SAMPLE_P_VALUE_DRIFT = 0.04
MAX_SAMPLE_DELTA_DRIFT = 0.08


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamBand:
    """Two spreads against two absolute limits."""

    p_value_spread: float
    delta_spread: float
    max_p_value_spread: float
    max_delta_spread: float
    within_band: bool


def upstream_seed_band(p_values: Sequence[float], deltas: Sequence[float]) -> UpstreamBand | None:
    """
    Judge the ranges over runs: p by at most .05 and delta by at most .05.

    :param p_values: two-sided p of each run; ``deltas``: its mean difference.
    :returns: None below two runs.
    :raises ValueError: for unequal lengths or a value that is not a finite real number.
    """
    p, d = _observations(p_values, deltas)
    if len(p) < 2:
        return None
    return _upstream(max(p) - min(p), max(d) - min(d), MAX_SEED_P_VALUE_RANGE, MAX_SEED_DELTA_RANGE)


def upstream_sample_band(p_values: Sequence[float], deltas: Sequence[float]) -> UpstreamBand | None:
    """
    Judge the largest step between one sample size and the next: p .04 and delta .08.

    :param p_values: two-sided p by growing sample size; ``deltas``: the mean differences.
    :returns: None below two sizes.
    :raises ValueError: as :func:`upstream_seed_band`.
    """
    p, d = _observations(p_values, deltas)
    if len(p) < 2:
        return None
    p_drift, d_drift = (max(abs(b - a) for a, b in pairwise(series)) for series in (p, d))
    return _upstream(p_drift, d_drift, MAX_SAMPLE_P_VALUE_DRIFT, MAX_SAMPLE_DELTA_DRIFT)


def _observations(p_values: Iterable[float], deltas: Iterable[float]) -> tuple[list[float], ...]:
    p, d = finite_floats(p_values, "p_values"), finite_floats(deltas, "deltas")
    if len(p) != len(d):
        message = f"{len(p)} p-values and {len(d)} deltas; expected one of each per run"
        raise ValueError(message)
    return p, d


def _upstream(p: float, delta: float, max_p: float, max_delta: float) -> UpstreamBand:
    return UpstreamBand(
        p_value_spread=p,
        delta_spread=delta,
        max_p_value_spread=max_p,
        max_delta_spread=max_delta,
        within_band=p <= max_p and delta <= max_delta,
    )
