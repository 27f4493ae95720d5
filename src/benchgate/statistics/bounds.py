"""
Confidence bounds of the mean of scores with a known range, for any number of cases.

Gaffke (2005), Learned-Miller and Thomas (2019): the lower bound is a quantile of the Bayesian
bootstrap with one extra case at the lowest possible score. For scores of only 0 and 1 it is the
Clopper-Pearson bound, whose coverage is proved; for others no counterexample is known. Unlike a t
interval it does not collapse when all scores are equal.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import cycle
from typing import TYPE_CHECKING

from benchgate.statistics.numerics import np, special
from benchgate.statistics.roots import increasing_root
from benchgate.statistics.student import check_finite, check_fraction
from benchgate.statistics.summary import finite_floats, grouped, mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from benchgate.statistics.clusters import Labels

    Floats = NDArray[np.float64]
    Complex = tuple[Floats, Floats]

_TOLERANCE = 1e-13
_TOLERANCE_OF_GROUPS = 1e-7  # each step of the search computes a whole bound
_BLOCK = 256  # levels whose powers are in memory at once; each takes as much as all nodes
_MOST_ROUNDS = 1e9  # of all clusters there are: nobody writes so many cases


def unseen_failure_ucb(n: int, confidence: float = 0.95) -> float:
    """
    Return the largest rate of an event that is still plausible after n cases without it.

    The upper Clopper-Pearson bound for 0 out of n, 1 - (1 - confidence)**(1/n): 0.259 at n = 10,
    0.095 at 30, 0.030 at 100.

    :raises ValueError: if n < 1 or confidence is outside (0, 1).
    """
    if n < 1:
        message = f"n is {n!r}; expected at least 1"
        raise ValueError(message)
    return -math.expm1(math.log1p(-check_fraction(confidence, "confidence")) / n)


def share_interval(hits: int, n: int, risk: float) -> tuple[float, float]:
    """
    Return the two-sided interval of a probability after some hits in n tries (Clopper and Pearson 1934).

    :param risk: 1 - confidence, half of it at each end.
    """
    low = 0.0
    high = 1.0
    if hits > 0:
        low = float(special.betaincinv(hits, n - hits + 1, risk / 2))
    if hits < n:
        high = float(special.betaincinv(hits + 1, n - hits, 1.0 - risk / 2))
    return low, high


def gaffke_lower(
    values: Iterable[float],
    clusters: Labels | None = None,
    *,
    confidence: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> float:
    """
    Return Gaffke's one-sided lower confidence bound of the mean; see the module.

    It is the (1 - confidence) quantile of ``sum(D_i x_i) + D_0 low`` with D uniform on the simplex,
    computed without random numbers. The error of 1 - confidence is at most 1e-10 up to 500 cases
    and 2e-5 up to 10,000, for confidence up to 1 - 1e-9. If all scores are c on [0, 1], it is
    c * (1 - confidence)**(1/n).

    :param values: scores within [low, high], in any order.
    :param clusters: of each score, as :mod:`benchgate.statistics.clusters` has it; None if they are independent.
    :param low: lowest possible score. The bound depends on it, but not on ``high``.
    :param high: highest possible score; only checked.
    :returns: a number in [low, max(values)]; ``low`` if there are no values.
    :raises ValueError: for a value that is not finite or out of range, a range that is empty or
        too wide for a float, confidence outside (0, 1), or another number of labels.
    """
    alpha = 1.0 - check_fraction(confidence, "confidence")
    x = within(values, low, high)
    groups = grouped(x, clusters)
    if len(groups) < len(x):
        return _of_groups(groups, confidence, low, high)
    top = max(x, default=low)
    if top == low:
        return float(low)
    if min(x) == top and alpha <= 0.5:
        # The same digits as of the Beta quantile below, and neither numpy nor scipy is loaded.
        return min(top, max(low, low + math.pow(alpha, 1.0 / len(x)) * (top - low)))
    levels, counts = np.unique((np.array(x) - low) / (top - low), return_counts=True)
    quantile = _simplex_quantile(levels, counts.astype(np.float64), alpha)
    return min(top, max(low, low + quantile * (top - low)))


def _of_groups(
    groups: Sequence[Sequence[float]], confidence: float, low: float, high: float
) -> float:
    """
    Return the bound of the mean over cases that come in clusters.

    It is the largest m at which the mean of a cluster's sum of (x - m) is bounded above 0; for
    clusters of one size, the bound of their means. It takes for granted that no cluster of the
    population is larger than the largest here.
    """
    largest = max(map(len, groups))

    def excess(m: float) -> float:
        sums = [math.fsum(x - m for x in group) / largest for group in groups]
        # Rounding must not put a sum out of the range.
        inside = [min(high - m, max(low - m, total)) for total in sums]
        return -gaffke_lower(inside, confidence=confidence, low=low - m, high=high - m)

    tolerance = _TOLERANCE_OF_GROUPS * (high - low)
    center = mean(x for group in groups for x in group)
    return max(low, increasing_root(excess, low, center, tolerance=tolerance) - tolerance)


def gaffke_upper(
    values: Iterable[float],
    clusters: Labels | None = None,
    *,
    confidence: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> float:
    """
    Return the upper bound: the negated lower bound of the negated scores.

    :raises ValueError: as :func:`gaffke_lower`.
    """
    mirrored = [-x for x in finite_floats(values)]
    return -gaffke_lower(mirrored, clusters, confidence=confidence, low=-high, high=-low)


def mover_gaffke(
    baseline: Sequence[float],
    candidate: Sequence[float],
    clusters: tuple[Labels | None, Labels | None] = (None, None),
    *,
    confidence: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> tuple[float, float]:
    """
    Bound the difference of two independent means by Gaffke's bounds of each: MOVER (Zou and Donner 2008).

    lower = delta - sqrt((c - L_c)**2 + (U_b - b)**2) and upper = delta + sqrt((U_c - c)**2 +
    (b - L_b)**2). Unlike a t bound it keeps its level when an arm is constant.

    :returns: the lower limit of the difference and the upper one, each at the confidence.
    :raises ValueError: as :func:`gaffke_lower`, and if an arm is empty.
    """
    labels_b, labels_c = clusters
    lower_b = gaffke_lower(baseline, labels_b, confidence=confidence, low=low, high=high)
    lower_c = gaffke_lower(candidate, labels_c, confidence=confidence, low=low, high=high)
    upper_b = gaffke_upper(baseline, labels_b, confidence=confidence, low=low, high=high)
    upper_c = gaffke_upper(candidate, labels_c, confidence=confidence, low=low, high=high)
    b = mean(baseline)
    c = mean(candidate)
    lower = c - b - math.hypot(c - lower_c, upper_b - b)
    upper = c - b + math.hypot(upper_c - c, b - lower_b)
    return lower, upper


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
    largest = max(sizes)
    worth = [math.log1p(size / largest * excess / room) for size in sizes]
    if math.fsum(worth) * _MOST_ROUNDS < log_risk:
        return None
    # Whole rounds of all clusters are counted at once, and those of the last round one by one.
    rounds = math.floor(log_risk / math.fsum(worth))
    cases = rounds * sum(sizes)
    reached = rounds * math.fsum(worth)
    for size, value in cycle(zip(sizes, worth, strict=True)):
        if reached > log_risk:
            break
        cases += size
        reached += value
    return cases


def within(values: Iterable[float], low: float, high: float) -> Sequence[float]:
    """
    Return a sample as floats.

    :raises ValueError: if one is not a finite real number in [low, high], or that range is no range.
    """
    if not 0.0 < check_finite(high, "high") - check_finite(low, "low") < math.inf:
        message = f"range [{low!r}, {high!r}]; expected low < high, a finite distance apart"
        raise ValueError(message)
    numbers = finite_floats(values)
    for index, number in enumerate(numbers):
        if not low <= number <= high:
            message = f"values[{index}] is {number!r}; expected a number in [{low!r}, {high!r}]"
            raise ValueError(message)
    return numbers


def _simplex_quantile(levels: Floats, counts: Floats, alpha: float) -> float:
    """Return the alpha quantile of the weighted mean; levels increase to 1, the extra case is at 0."""
    if len(levels) == 1 or (len(levels) == 2 and levels[0] == 0.0):
        # With the values 0 and 1 only, the weight of the ones has exactly a Beta distribution.
        above = float(counts[-1])
        return float(special.betaincinv(above, float(counts.sum()) - above + 1.0, alpha))
    points = np.append(0.0, levels)
    weights = np.append(1.0, counts)
    return increasing_root(
        lambda t: _simplex_cdf(points, weights, t) - alpha, 0.0, 1.0, tolerance=_TOLERANCE
    )


def _simplex_cdf(levels: Floats, counts: Floats, t: float) -> float:
    """
    Return P(sum(D_i x_i) <= t) for D uniform on the simplex and x_i in [0, 1].

    D_i is E_i / sum(E) with exponential E, so this is P(sum((x_i - t) E_i) <= 0). The formula of
    Imhof (1961) with w_i = x_i - t, in any unit, gives it as
    1/2 - 1/pi * integral of sin(sum atan(u w_i)) / (u prod sqrt(1 + u**2 w_i**2)) over u > 0.
    """
    if t <= 0.0:
        return 0.0
    if t >= 1.0:
        return 1.0
    w = levels - t
    w /= math.sqrt(math.fsum(counts * w * w))
    nodes, node_weights = _half_line_rule(_rule_size(w, counts))
    integral = math.fsum(_integrand(nodes, w, counts) * node_weights)
    return min(1.0, max(0.0, 0.5 - integral / math.pi))


def _integrand(u: Floats, w: Floats, counts: Floats) -> Floats:
    """
    Return sin(sum c_i atan(u w_i)) / (u prod sqrt(1 + u**2 w_i**2)**c_i), c being the counts.

    The fraction without u is Im(P) / abs(P)**2, where P is the product of all (1 + i u w)**c. Additions,
    multiplications and divisions have the same digits on every processor. numpy's arctan, log1p, sin, exp and
    complex products do not: their last digits depend on the vector instructions that numpy finds.
    """
    product = (np.ones_like(u), np.zeros_like(u))
    # Every factor has a size of at least 1, so a product that overflows belongs to a term that is as good as 0.
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(w), _BLOCK):
            block = slice(start, start + _BLOCK)
            product = _times_factors(product, u, w[block], counts[block])
        real, imaginary = product
        terms = imaginary / (real * real + imaginary * imaginary) / u
    return np.where(np.isfinite(terms), terms, 0.0)


def _times_factors(product: Complex, u: Floats, w: Floats, counts: Floats) -> Complex:
    """Multiply a product by all (1 + i u w)**c, one after the other: in another order the digits are others."""
    real, imaginary = product
    exponents = counts.astype(int).tolist()
    powers = _powers(u, w, exponents)
    for place, weight in enumerate(w.tolist()):
        if exponents[place] == 1:
            # As _times() has it, without the products with the real part, which is 1.
            factor = u * weight
            real, imaginary = real - imaginary * factor, real * factor + imaginary
        else:
            real, imaginary = _times((real, imaginary), powers[place])
    return real, imaginary


def _powers(u: Floats, w: Floats, exponents: list[int]) -> dict[int, Complex]:
    """Return (1 + i u w)**c by the place of w, for each c above 1; those of one c at once, which is faster."""
    powers: dict[int, Complex] = {}
    for exponent in {*exponents} - {1}:
        places = [place for place, other in enumerate(exponents) if other == exponent]
        factors = w[places].reshape(-1, 1) * u
        rows = zip(*_power((np.ones_like(factors), factors), exponent), strict=True)
        powers.update(zip(places, rows, strict=True))
    return powers


def _power(factor: Complex, exponent: int) -> Complex:
    """Return a power of complex numbers by repeated squaring; the exponent is at least 1."""
    power = factor
    for digit in f"{exponent:b}"[1:]:
        power = _times(power, power)
        if digit == "1":
            power = _times(power, factor)
    return power


def _times(a: Complex, b: Complex) -> Complex:
    """Multiply complex numbers, each a pair of the real and the imaginary parts."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _rule_size(w: Floats, counts: Floats) -> int:
    """Return how many nodes the integral needs: 160, doubled up to three times."""
    # If one weight is much larger than all others, the integrand oscillates until far out.
    rest = max(1e-3, 1.0 - float(np.max(w * w)))
    doublings = math.ceil(math.log2(0.5 / math.sqrt(rest)))
    if counts.sum() > 100:
        doublings = max(doublings, 1)
    return 160 << min(3, max(doublings, 0))


@cache
def _half_line_rule(size: int) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights, mapped to (0, inf) by u = 4 v / (1 - v)."""
    nodes, weights = _gauss_legendre(size)
    v = (nodes + 1.0) / 2.0
    return 4.0 * v / (1.0 - v), 2.0 * weights / (1.0 - v) ** 2


def _gauss_legendre(size: int) -> tuple[Floats, Floats]:
    """
    Return nodes and weights on (-1, 1), from Newton's method; ``size`` is even.

    numpy's and scipy's rules come from eigenvalues, whose last digits depend on the LAPACK of the processor.
    """
    angles = math.pi * (np.arange(size // 2) + 0.75) / (size + 0.5)
    x = np.ones_like(angles)
    # The cosine by its series: that of the C library may differ between machines. From there four steps suffice.
    for k in range(20, 0, -2):
        x = 1.0 - angles * angles / (k * (k - 1)) * x
    for _ in range(4):
        value, slope = _legendre(size, x)
        x = x - value / slope
    slope = _legendre(size, x)[1]
    weights = 2.0 / ((1.0 - x * x) * slope * slope)
    return np.concatenate([-x, x[::-1]]), np.concatenate([weights, weights[::-1]])


def _legendre(n: int, x: Floats) -> tuple[Floats, Floats]:
    """Return the Legendre polynomial of degree n and its derivative."""
    before = np.ones_like(x)
    value = x
    for k in range(2, n + 1):
        following = ((2 * k - 1) * x * value - (k - 1) * before) / k
        before = value
        value = following
    return value, n * (x * value - before) / (x * x - 1.0)
