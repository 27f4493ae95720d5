"""
Reproducibility bands: whether repeated runs, and parts of the cases, give the same result.

A band allows as much difference as sampling noise explains. So a reproducible policy passes with a
probability of about ``level``, whatever the number of cases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from benchgate.statistics.numerics import np, special
from benchgate.statistics.student import check_fraction
from benchgate.statistics.summary import finite_floats, mean, saturate, scale, summarize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# A share of the scores' size: smaller differences between runs are rounding errors of the means.
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedBand:
    """Whether runs of the same cases agree up to noise."""

    deltas: tuple[float, ...]
    """Mean difference of each run, in the unit of the scores."""
    delta_range: float
    """max - min of ``deltas``."""
    max_delta_range: float
    """The studentized range quantile, times the standard error of what neither case nor run explains."""
    within_band: bool
    """delta_range <= max_delta_range, up to rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixPoint:
    """Mean difference of the first cases, compared with that of all cases."""

    cases: int
    delta: float
    z: float | None
    """(delta - delta of all) / (sd * sqrt(1/m - 1/n)); None of all cases, and if all differences are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSizeBand:
    """Whether the mean difference drifts along the cases in the order given."""

    points: tuple[PrefixPoint, ...]
    """Prefixes of n/4, n/2 and 3n/4 cases, then all of them."""
    max_z: float
    """Largest |z| allowed, with Bonferroni correction for three prefixes: 2.94 at level .99."""
    within_band: bool


def seed_band(table: Sequence[Sequence[float]], *, level: float = 0.99) -> SeedBand | None:
    """
    Compare runs with Tukey's range test (1953); cases are the blocks of a two-way layout.

    :param table: one row per run (seed), one column per case: the difference candidate - baseline
        of that case in that run. Cases in the same order in each row.
    :param level: probability, in (0, 1), that a policy passes whose runs differ only by noise.
    :returns: None below two runs or two cases.
    :raises ValueError: for rows of different lengths, a value that is not a finite real number, or
        level outside (0, 1).
    """
    check_fraction(level, "level")
    rows = [finite_floats(row, f"table[{index}]") for index, row in enumerate(table)]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        message = f"rows of {sorted(lengths)} cases; expected the same cases in each run"
        raise ValueError(message)
    k = len(rows)
    n = max(lengths, default=0)
    if k < 2 or n < 2:
        return None
    units, exponent = _scaled(rows)
    deltas = [mean(row) for row in units]
    df = (n - 1) * (k - 1)
    residual_sd = math.hypot(*_residuals(units, deltas)) / math.sqrt(df)
    limit = _range_quantile(level, k, df) * residual_sd / math.sqrt(n)
    spread = max(deltas) - min(deltas)
    return SeedBand(
        deltas=tuple(scale(delta, exponent) for delta in deltas),
        delta_range=scale(spread, exponent),
        max_delta_range=scale(limit, exponent),
        within_band=spread <= limit + _ROUNDING,
    )


def sample_size_band(differences: Iterable[float], *, level: float = 0.99) -> SampleSizeBand | None:
    """
    Compare the mean of the first n/4, n/2 and 3n/4 cases with that of all.

    A result that depends on which cases came first is not to be trusted at this number of cases.

    :param differences: candidate - baseline by case, in an order that was fixed before the scores
        were known (never sorted by score).
    :param level: probability, in (0, 1), that cases in random order pass.
    :returns: None below four cases.
    :raises ValueError: for a value that is not a finite real number, or level outside (0, 1).
    """
    check_fraction(level, "level")
    d = finite_floats(differences, "differences")
    n = len(d)
    whole = summarize(d)
    if n < 4 or whole.mean is None or whole.sd is None:
        return None
    parts = tuple(_prefix(d[: n * part // 4], n, whole.mean, whole.sd) for part in (1, 2, 3))
    limit = -float(special.ndtri((1.0 - level) / (2 * len(parts))))
    return SampleSizeBand(
        points=(*parts, PrefixPoint(cases=n, delta=whole.mean, z=None)),
        max_z=limit,
        within_band=all(point.z is None or abs(point.z) <= limit for point in parts),
    )


@cache
def _range_quantile(level: float, groups: int, df: int) -> float:
    """Return q with P(Q <= q) = level, Q being the range of some normal values over an independent sd."""
    from scipy.stats import studentized_range  # imports for a second: only several runs need it

    with np.errstate(all="ignore"):
        quantile = float(studentized_range.ppf(level, groups, df))
    # Rounded: further digits differ between processors, by their vector instructions.
    return round(quantile, 7)


def _scaled(rows: Sequence[Sequence[float]]) -> tuple[list[list[float]], int]:
    """Return the rows divided by 2**exponent, which is exact: then squares neither underflow nor overflow."""
    exponent = math.frexp(max(abs(x) for row in rows for x in row))[1]
    return [[math.ldexp(x, -exponent) for x in row] for row in rows], exponent


def _residuals(rows: Sequence[Sequence[float]], deltas: Sequence[float]) -> list[float]:
    cases = [mean(column) for column in zip(*rows, strict=True)]
    grand = mean(deltas)
    return [
        x - case - (delta - grand)
        for row, delta in zip(rows, deltas, strict=True)
        for x, case in zip(row, cases, strict=True)
    ]


def _prefix(first: Sequence[float], n: int, delta: float, sd: float) -> PrefixPoint:
    m = len(first)
    part = mean(first)
    z = None
    if sd:
        z = saturate(part - delta) / sd / math.sqrt(1.0 / m - 1.0 / n)
    return PrefixPoint(cases=m, delta=part, z=z)
