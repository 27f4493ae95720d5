"""
Unconditional exact test and bounds of the paired difference of pass/fail scores.

Each of n cases was gained (+1), lost (-1) or unchanged (0). The cases are taken as a random sample,
so the counts are trinomial; under ``P(gain) - P(loss) <= null_delta`` the share of changed cases
remains unknown. The p-value is the largest probability, over all shares within a confidence set
(Berger and Boos 1994), of an outcome that speaks at least as much for the candidate. Outcomes are
ordered by the lower score limit of the difference (Tango 1998), with half a case added to its
variance: plain scores let 4 gains and no loss pass, which is not safe where cases are not a random
sample but fixed. One order for all null hypotheses makes test and bounds agree (Buehler 1957).

McNemar's exact test looks at the changed cases only, and finds less: a number of changes that is
itself random leaves part of its 2.5% unused (Lloyd 2008).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from benchgate.statistics.bounds import share_interval
from benchgate.statistics.numerics import np, special
from benchgate.statistics.roots import increasing_root
from benchgate.statistics.student import Tails, check_finite, check_fraction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

LEFT_OUT = 1 / 500
"""The confidence set of the share of changed cases leaves out this share of alpha, the least p-value there is."""
_VARIANCE = 0.5  # the half case that is added, see the module
_TIE = 1e-7  # scores that differ by less are equal but for rounding
_TOLERANCE = 1e-6
_HALVINGS = 40  # far more than it takes to agree to a share of _TOLERANCE


def changes(baseline: Iterable[float], candidate: Iterable[float]) -> tuple[int, int, int] | None:
    """
    Count gains, losses and cases; None if a score is neither 0 nor 1.

    :raises ValueError: if the sequences differ in length.
    """
    pairs = list(zip(baseline, candidate, strict=True))
    if any(score not in (0.0, 1.0) for pair in pairs for score in pair):
        return None
    return sum(b < c for b, c in pairs), sum(b > c for b, c in pairs), len(pairs)


@lru_cache(maxsize=1024)
def pass_fail_test(
    gains: int, losses: int, n: int, *, alpha: float = 0.05, null_delta: float = 0.0
) -> Tails[float]:
    """
    Test and bound P(gain) - P(loss); see the module. A p is at least alpha / 500.

    :param alpha: two-sided level, in (0, 1): of the interval, and of the order of the outcomes.
    :param null_delta: difference under the null hypothesis, in (-1, 1): -margin for "not worse".
    :raises ValueError: if the counts do not fit n >= 1, or an argument is out of range.
    """
    up = _Evidence(gains, losses, n, alpha)
    down = _Evidence(losses, gains, n, alpha)
    shift = check_finite(null_delta, "null_delta")
    greater = up.p_value(shift)
    less = down.p_value(-shift)
    return Tails(
        p_greater=greater,
        p_less=less,
        p_two_sided=min(1.0, 2.0 * min(greater, less)),
        ci_low=up.lower_bound(),
        ci_high=-down.lower_bound(),
    )


@lru_cache(maxsize=1024)
def pass_fail_p(
    gains: int, losses: int, n: int, *, alpha: float = 0.05, null_delta: float = 0.0
) -> float:
    """
    Return ``p_greater`` of :func:`pass_fail_test` alone, which takes a tenth of the time.

    :raises ValueError: as :func:`pass_fail_test`.
    """
    return _Evidence(gains, losses, n, alpha).p_value(check_finite(null_delta, "null_delta"))


def smallest_margin(n: int, *, alpha: float = 0.05) -> float:
    """
    Return the smallest margin that n cases without any change can show: 0.150 at 23 cases.

    :raises ValueError: as :func:`pass_fail_test`.
    """
    return -_Evidence(0, 0, n, alpha).lower_bound()


def cases_for_margin(margin: float, most: int, *, alpha: float = 0.05) -> int | None:
    """
    Return how many cases without any change show "not worse by ``margin``": 36 for 0.10, 17 for 0.20.

    :param most: number up to which is searched; time and memory grow with its square.
    :returns: None if it takes more than ``most``.
    :raises ValueError: if margin or alpha is outside (0, 1).
    """
    check_fraction(margin, "margin")
    # Not below the answer for losses alone, which needs (1 - margin)**n <= alpha / 2.
    least = math.ceil(math.log(check_fraction(alpha, "alpha") / 2) / math.log1p(-margin))
    for n in range(least, most + 1):
        if pass_fail_p(0, 0, n, alpha=alpha, null_delta=-margin) <= alpha / 2:
            return n
    return None


class _Evidence:
    """One outcome, and all that speak at least as much for a gain."""

    def __init__(self, gains: int, losses: int, n: int, alpha: float) -> None:
        if min(gains, losses) < 0 or n < 1 or gains + losses > n:
            message = f"{gains!r} gains and {losses!r} losses of {n!r} cases; expected counts of n"
            raise ValueError(message)
        self.n = n
        self.alpha = check_fraction(alpha, "alpha")
        self.delta = (gains - losses) / n
        self.left_out = alpha * LEFT_OUT
        self.least, self.most = share_interval(gains + losses, n, self.left_out)
        # At [b]: the fewest gains that count as much, if b are lost; n + 1 if none do.
        self.fewest = _as_strong(gains, losses, n, -float(special.ndtri(alpha / 2)))

    def p_value(self, null_delta: float) -> float:
        if not -1.0 < null_delta < 1.0:
            message = f"null_delta is {null_delta!r}; expected a number in (-1, 1)"
            raise ValueError(message)
        # A gain in place of a loss never leaves the region: the worst case is at null_delta
        # itself, or as near to it as the share of changed cases allows.
        shift = min(null_delta, self.most)
        forced = abs(shift)
        if forced > self.most:
            return self.left_out
        # The share of open cases among those that are not forced to change.
        low = max(0.0, (self.least - forced) / (1.0 - forced))
        high = max(0.0, (self.most - forced) / (1.0 - forced))
        worst = largest_value(given_open(self.fewest, shift), low, min(1.0, high))
        return min(1.0, self.left_out + worst)

    def lower_bound(self) -> float:
        edge = 1.0 - _TOLERANCE

        def excess(shift: float) -> float:
            return math.log(self.p_value(shift) / (self.alpha / 2))

        highest = min(edge, max(self.delta, -edge))
        root = increasing_root(excess, -edge, highest, tolerance=_TOLERANCE)
        return max(-1.0, root - _TOLERANCE)


def given_open(fewest: Ints, shift: float) -> Floats:
    """
    Return the probability of a region of outcomes, given that k = 0...n cases were open to change.

    Each case is forced, with probability abs(shift), to be lost (gained if shift is positive). If
    it is not, and if it is open, a coin decides. This makes all trinomial laws of this shift, and
    the probability a polynomial in the share of open cases, in Bernstein form.

    :param fewest: at [b], the fewest gains in the region if b cases are lost; never decreasing.
    :param shift: P(gain) - P(loss), in (-1, 1).
    """
    counts = np.arange(len(fewest))
    n = len(fewest) - 1
    size = abs(shift)
    # The most forced cases at [x], x being those that the coin decides against the force.
    most = np.searchsorted(fewest, counts, side="right") - 1
    if shift > 0.0:
        most = fewest - 1
    free = binomial_masses(n, (1.0 - size) / 2.0)
    forced = np.cumsum(binomial_masses(n, size), axis=1)
    k = counts[:, None]
    x = counts[None, :]
    room = most[None, :] - (k - x)
    below = np.where(room < 0, 0.0, forced[n - k, np.clip(room, 0, n)])
    # cumsum adds one after the other; the order in which sum adds is numpy's own.
    share = np.clip(np.cumsum(free * below, axis=1)[:, -1], 0.0, 1.0)
    if shift > 0.0:
        # What was counted are the outcomes outside the region.
        share = 1.0 - share
    return np.asarray(share)


def binomial_masses(n: int, p: float) -> Floats:
    """Return P(X = x) for X ~ Binomial(k, p), at [k, x], for all k up to n."""
    mass = np.zeros((n + 1, n + 1))
    mass[0, 0] = 1.0
    # One trial more at a time: gamma functions would be no faster, and numpy's exp has other last digits with other
    # vector instructions. All terms are positive, so nothing cancels.
    with np.errstate(under="ignore"):
        for k in range(n):
            mass[k + 1] = mass[k] * (1.0 - p)
            mass[k + 1, 1:] += mass[k, :-1] * p
    return mass


def _as_strong(gains: int, losses: int, n: int, z: float) -> Ints:
    """Return, at [b], the fewest gains that with b losses count as much as an outcome; n + 1 if none do."""

    def excess(shift: float) -> float:
        return z - float(score(np.array([gains]), np.array([losses]), n, shift)[0])

    limit = increasing_root(excess, -1.0, (gains - losses) / n, tolerance=1e-13)
    a = np.arange(n + 1)[:, None]
    b = np.arange(n + 1)[None, :]
    strong = (a + b <= n) & (score(a, b, n, limit) >= min(z, z - excess(limit)) - _TIE)
    # A further gain, or a loss less, must count as much too.
    fewest = np.where(strong.any(axis=0), strong.argmax(axis=0), n + 1)
    return np.minimum.accumulate(fewest[::-1])[::-1]


def score(gains: Ints, losses: Ints, n: int, shift: float) -> Floats:
    """Return Tango's score statistic of the difference minus ``shift``; see the module."""
    changed = gains + losses
    linear = 2.0 * n * shift - changed - shift * (gains - losses)
    constant = losses * shift * (1.0 - shift)
    # The likeliest share of losses under the null hypothesis, root of 2n q**2 + linear q - constant.
    root = np.sqrt(np.maximum(linear * linear + 8.0 * n * constant, 0.0))
    lost = (root - linear) / (4.0 * n)
    variance = np.maximum(n * (2.0 * lost + shift - shift * shift), 0.0) + _VARIANCE
    return np.asarray((gains - losses - n * shift) / np.sqrt(variance))


def largest_value(coefficients: Floats, low: float, high: float) -> float:
    """
    Bound f(s) = sum c_k C(n, k) s**k (1 - s)**(n - k) on [low, high] from above.

    A polynomial in Bernstein form lies below its largest coefficient, and its first and last ones
    are values of it (Farouki 2012). So the interval is halved (de Casteljau) until coefficients
    and values agree.

    :param coefficients: c_0 to c_n, not negative.
    :param low: from 0.
    :param high: to 1, at least ``low``.
    :returns: at least the maximum, and above it by at most a share of 1e-6.
    """
    pieces = coefficients[None, :]
    if high < 1.0:
        pieces = _split(pieces, high)[0]
    if low > 0.0:
        pieces = _split(pieces, min(1.0, low / high))[1]
    best = 0.0
    for _ in range(_HALVINGS):
        best = max(best, float(pieces[:, 0].max()), float(pieces[:, -1].max()))
        pieces = pieces[pieces.max(axis=1) > best * (1.0 + _TOLERANCE)]
        if not len(pieces):
            return best * (1.0 + _TOLERANCE)
        pieces = np.concatenate(_split(pieces, 0.5))
    return float(pieces.max())


def _split(pieces: Floats, at: float) -> tuple[Floats, Floats]:
    """Return the coefficients on the two parts of each piece's interval."""
    n = pieces.shape[1]
    left = np.empty_like(pieces)
    right = np.empty_like(pieces)
    row = pieces
    for step in range(n):
        left[:, step] = row[:, 0]
        right[:, n - 1 - step] = row[:, -1]
        row = (1.0 - at) * row[:, :-1] + at * row[:, 1:]
    return left, right
