"""
The spread of a mean over cases of which some share a source (a project, a package, a document).

Such cases resemble each other, so the clusters are the sample, not the cases. The estimate stays
the mean over the cases. Its variance comes from the clusters' totals. For samples it is CR2 of Bell
and McCaffrey (2002), with their Satterthwaite degrees of freedom under independent and under equal
cases of a cluster, whichever are fewer; for clusters of one size these are G - 1 for G clusters.

Where no two cases share a cluster, every figure is exactly that of independent cases. Labels are
compared as they are; None is a cluster of its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from benchgate.statistics.summary import finite_floats, grouped, mean, summarize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Labels = Sequence[str | None]

# Cluster means closer than this, as a share of the largest score, differ by rounding only.
_ROUNDING = 1e-12


class Spread(NamedTuple):
    """The squared standard error of a mean, or of the difference of two, and its degrees of freedom."""

    squared_se: float  # divided by 4**exponent
    exponent: int
    df: float
    third: float = 0.0  # the third cumulant, divided by 8**exponent

    @property
    def skewness(self) -> float:
        """Of the estimate; samples show less than there is, hence the factor of benchmarks/calibration/skew.py."""
        enlarged = self.third * (1.0 + 3.0 / (self.df + 1.0))
        cubed = self.squared_se * math.sqrt(self.squared_se)
        if not cubed:
            return 0.0
        return enlarged / cubed


def effective_cases(values: Iterable[float], clusters: Labels) -> float | None:
    """
    Return how many independent cases would give the mean as exactly as these: n / design effect.

    :returns: at most n; None below two clusters, and where no cluster's mean differs.
    :raises ValueError: for a value that is not a finite real number, or another number of labels.
    """
    numbers = finite_floats(values)
    whole = summarize(numbers)
    spread = _spread(grouped(numbers, clusters))
    if not spread or not spread.squared_se or not whole.scaled_variance:
        return None
    return min(float(whole.n), whole.scaled_variance / spread.squared_se)


def is_constant(values: Iterable[float], clusters: Labels) -> bool:
    """
    Say whether the means of the clusters differ by rounding only, so that they have no variance.

    :raises ValueError: as :func:`effective_cases`.
    """
    groups = grouped(finite_floats(values), clusters)
    if len(groups) < 2:
        return True
    _, means = _centered(groups)
    return _are_alike(means)


def pooled(arms: Sequence[Sequence[Sequence[float]]]) -> Spread | None:
    """
    Return the spread of the difference of the arms' means, or of the only one's mean; None below two clusters.

    :param arms: the values of each arm, in clusters.
    """
    spreads: list[Spread] = []
    for groups in arms:
        spread = _spread(groups)
        if spread is None:
            return None
        spreads.append(spread)
    exponent = max(spread.exponent for spread in spreads)
    shares = [math.ldexp(s.squared_se, 2 * (s.exponent - exponent)) for s in spreads]
    total = sum(shares)
    if not total or len(spreads) == 1:
        return Spread(total, exponent, spreads[0].df)
    df = 1.0 / sum((v / total) ** 2 / s.df for v, s in zip(shares, spreads, strict=True))
    baseline, candidate = (math.ldexp(s.third, 3 * (s.exponent - exponent)) for s in spreads)
    return Spread(total, exponent, df, candidate - baseline)


def spread_of_totals(groups: Sequence[Sequence[float]]) -> Spread | None:
    """Return the spread of the mean over all cases, G - 1 degrees of freedom; None below two clusters."""
    return _spread(groups, by_size=False)


def _spread(groups: Sequence[Sequence[float]], *, by_size: bool = True) -> Spread | None:
    """
    Return the spread of the mean over all cases; None below two clusters.

    :param by_size: a residual counts for more by its cluster's size; False if all count alike, with G - 1 degrees of
        freedom.
    """
    if len(groups) < 2:
        return None
    exponent, means = _centered(groups)
    count = len(groups)
    if _are_alike(means):
        return Spread(0.0, exponent, count - 1.0)
    sizes = [len(group) for group in groups]
    n = sum(sizes)
    totals = [m * size for m, size in zip(means, sizes, strict=True)]
    shares = [1.0 / count] * count
    if by_size:
        shares = [size / n for size in sizes]
    squares = math.fsum(t * t / (1.0 - share) for t, share in zip(totals, shares, strict=True))
    df = count - 1.0
    if by_size and max(sizes) > 1:
        df = min(_df(sizes, sizes), _df(sizes, [size * size for size in sizes]), df)
    return Spread(squares / n**2, exponent, df, _third_cumulant(totals, n))


def _are_alike(means: Sequence[float]) -> bool:
    """Say whether centered means differ by rounding only."""
    return max(means) - min(means) <= _ROUNDING


def _third_cumulant(totals: Sequence[float], n: int) -> float:
    """Return that of the mean over n cases: unbiased for independent cases, and 0 where two clusters do not show it."""
    count = len(totals)
    unbiased = 0.0
    if count > 2:
        unbiased = count * count / ((count - 1) * (count - 2))
    return math.fsum(t**3 for t in totals) / n**3 * unbiased


def _centered(groups: Sequence[Sequence[float]]) -> tuple[int, list[float]]:
    """Return an exponent, and how far the mean of each group is from that of all, divided by 2**exponent."""
    whole = summarize(x for group in groups for x in group)
    unit = -whole.exponent
    center = math.ldexp(whole.mean or 0.0, unit)
    means: list[float] = []
    for group in groups:
        scaled = [math.ldexp(x, unit) - center for x in group]
        if len(scaled) == 1:  # its mean, without the cost of computing it
            means.append(scaled[0])
        else:
            means.append(mean(scaled))
    return whole.exponent, means


def _df(sizes: Sequence[int], variances: Sequence[int]) -> float:
    """
    Return (trace W)**2 / trace W**2, W being the covariance of the clusters' adjusted residuals.

    :param variances: of the clusters' totals in the working model, in any unit.
    """
    n = sum(sizes)
    total = sum(variances)
    rows = [(1.0 / (1.0 - s / n), s / n, v) for s, v in zip(sizes, variances, strict=True)]
    # The residual of g is T_g - w_g sum(T), so its covariance with that of h is -(w_h x_g + w_g x_h).
    terms = [(c, w, v - w * total / 2, v) for c, w, v in rows]
    diagonal = [c * (v - 2.0 * w * x) for c, w, x, v in terms]
    ww = math.fsum(c * w * w for c, w, _, _ in terms)
    xx = math.fsum(c * x * x for c, _, x, _ in terms)
    wx = math.fsum(c * w * x for c, w, x, _ in terms)
    own = math.fsum(4.0 * (c * w * x) ** 2 for c, w, x, _ in terms)
    squared = math.fsum(d * d for d in diagonal) + 2.0 * (ww * xx + wx * wx) - own
    return math.fsum(diagonal) ** 2 / squared
