"""
Power of the gate's tests on scores that only pass or fail, by adding up every possible outcome.

On such scores the t tests of :mod:`benchgate.statistics.student` promise too much: the paired test
needs the exact sign-flip test too, which cannot use its whole level on a few changed cases.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from benchgate.statistics.numerics import np, special
from benchgate.statistics.pass_fail import LEFT_OUT, pass_fail_p, score
from benchgate.statistics.student import check_fraction, t_upper_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Outcomes = NDArray[np.bool_]

_EQUAL = 1.0 + 1e-12
"""Probabilities that differ by less than this factor are equal up to rounding."""
_ASKED = 64


@lru_cache(maxsize=256)
def sign_flip_and_t_gains(
    n: int, alpha: float = 0.05, size: float = 1.0, null_delta: float = 0.0
) -> Counts:
    """
    Return what the paired test needs on pairs that each gain, lose or keep the same amount.

    It is passed if both the exact sign-flip test, here McNemar's, and Student's t test are, at
    alpha / 2 each.

    :param n: pairs, at least 2.
    :param alpha: two-sided level, in (0, 1).
    :param size: the amount, as a share of the score range; 1 for 0/1 scores.
    :param null_delta: difference under the null hypothesis, as a share of the amount, in [0, 1). The
        sign-flip test of 0 stands for that of more, which needs as much at least.
    :returns: by number of changed cases, 0 to n: the least number of gains among them that passes;
        one more than there are changed cases if none does.
    """
    return _frozen(np.maximum(sign_flip_gains(n, alpha), t_gains(n, alpha, size, null_delta)))


def sign_flip_gains(n: int, alpha: float = 0.05) -> Counts:
    """Return what the exact sign-flip test alone needs, up to n changed cases."""
    return _signs(np.arange(n + 1), check_fraction(alpha, "alpha") / 2)


def _signs(changed: Counts, level: float) -> Counts:
    # The least g with P(Binomial(changed, 1/2) >= g) <= level.
    gains = np.floor(special.bdtrik(1.0 - level, changed, 0.5)) + 1.0
    gains = np.where(changed == 0, 1.0, gains)
    too_likely = (gains <= changed) & (_at_least(gains, changed, 0.5) > level * _EQUAL)
    not_least = (gains > 1) & (_at_least(gains - 1.0, changed, 0.5) <= level * _EQUAL)
    gains = gains + too_likely.astype(float) - not_least
    return np.asarray(np.minimum(gains, changed + 1.0), dtype=np.int64)


def t_gains(n: int, alpha: float = 0.05, size: float = 1.0, null_delta: float = 0.0) -> Counts:
    """
    Return what Student's t test needs; as :func:`sign_flip_and_t_gains`.

    Where every case gained there is no t, and Gaffke's bound of the mean must exceed ``null_delta``.
    """
    level = check_fraction(alpha, "alpha") / 2
    changed = np.arange(n + 1)
    # t >= q solved for the mean beyond the null: the sum of squares of the differences is the number changed.
    q2 = t_upper_quantile(level, n - 1) ** 2
    lead, shift = n - 1 + q2, q2 * null_delta
    root = np.sqrt(np.maximum(shift**2 - lead * q2 * (null_delta**2 - changed / n), 0.0))
    mean = null_delta + np.maximum(root - shift, 0.0) / lead
    gains = np.ceil((changed + n * mean) / 2 - 1e-9)
    least: Counts = np.clip(gains, 1, changed + 1).astype(np.int64)
    if level ** (1.0 / n) * (1.0 + size) <= 1.0 + null_delta * size:
        least[n] = n + 1
    return least


@lru_cache(maxsize=256)
def pass_fail_gains(
    n: int, alpha: float = 0.05, _size: float = 1.0, null_delta: float = 0.0
) -> Counts:
    """
    Return what :func:`~benchgate.statistics.pass_fail.pass_fail_test` needs; as :func:`sign_flip_and_t_gains`.

    It is passed where the score that orders its outcomes reaches the quantile of alpha / 2, and by all gains
    together only where that is rare by itself. For a ``null_delta`` above 0 the quantile is corrected for
    the skewness of few changes (Cornish and Fisher 1938), at the smallest share of changed cases that the
    test reckons with, and up to 64 cases the test itself is asked. Elsewhere, for a few numbers of
    changed cases this is one gain off.
    """
    level = check_fraction(alpha, "alpha") / 2
    changed, z = np.arange(n + 1), -float(special.ndtri(level))
    if not null_delta:  # solved at once: the score is (gains - losses) / sqrt(changed + 0.5)
        gains = np.ceil((changed + z * np.sqrt(changed + 0.5)) / 2 - 1e-9)
        least: Counts = np.clip(gains, 1, changed + 1).astype(np.int64)
        least[n] = max(least[n], _signs(np.array([n]), level)[0])
        return _frozen(least)
    least_share = special.betaincinv(np.maximum(changed, 1), n - changed + 1, LEFT_OUT * alpha / 2)
    share = np.maximum(null_delta, least_share)
    third = null_delta - 3.0 * null_delta * share + 2.0 * null_delta**3
    skewness = third / np.sqrt(n) / (share - null_delta**2) ** 1.5
    limit = z + skewness * (z * z - 1.0) / 6.0
    low, high = np.zeros_like(changed), changed + 1
    while np.any(low < high):
        middle = (low + high) // 2
        enough = score(middle, changed - middle, n, null_delta) >= limit - 1e-9
        low, high = (
            np.where(enough, low, np.minimum(middle + 1, high)),
            np.where(enough, middle, high),
        )
    if null_delta and n <= _ASKED:
        asked = [_asked(n, k, int(high[k]), alpha, null_delta) for k in range(n + 1)]
        return _frozen(np.array(asked, dtype=np.int64))
    gains = np.arange(n + 2.0)
    rare = _at_least(gains, np.full(n + 2, n), (1.0 + null_delta) / 2.0) <= level * _EQUAL
    high[n] = max(high[n], int(np.argmax(rare)))
    return _frozen(high)


def _frozen(least: Counts) -> Counts:
    """Make an array that is kept for the next caller read-only."""
    least.setflags(write=False)
    return least


def _asked(n: int, changed: int, gains: int, alpha: float, null_delta: float) -> int:
    """Return the fewest gains that pass, searched from a guess on."""

    def passes(count: int) -> bool:
        p = pass_fail_p(count, changed - count, n, alpha=alpha, null_delta=null_delta)
        return p <= alpha / 2

    while gains <= changed and not passes(gains):
        gains += 1
    while gains > 0 and passes(gains - 1):
        gains -= 1
    return gains


def paired_binary_power(share_changed: float, gain: float, region: Sequence[int] | Counts) -> float:
    """
    Return the probability that a paired test on 0/1 scores is passed.

    :param share_changed: share of all cases, in [0, 1], that pass on one side only.
    :param gain: share that passes on the candidate's side only, minus share that passes on the
        baseline's only; at most ``share_changed``.
    :param region: least gains by number of changed cases, 0 to n.
    :raises ValueError: for shares that no population has.
    """
    if not abs(gain) <= share_changed <= 1.0:
        message = (
            f"gain is {gain!r}, share_changed {share_changed!r}; expected |gain| <= share <= 1"
        )
        raise ValueError(message)
    gains = np.asarray(region, dtype=np.float64)
    changed = np.arange(len(gains))
    up = min(1.0, (1.0 + gain / share_changed) / 2) if share_changed else 0.0
    with np.errstate(under="ignore"):
        passed = _at_least(gains, changed, up)
        return min(1.0, float(binomial(len(gains) - 1, share_changed) @ passed))


def welch_binary_region(
    n_baseline: int,
    n_candidate: int,
    alpha: float = 0.05,
    *,
    null_delta: float = 0.0,
    bounded: bool = True,
) -> Outcomes:
    """
    Return whether the gate's Welch test is passed, by number of passes ``[baseline, candidate]``.

    :param null_delta: difference under the null hypothesis, in [0, 1).
    :param bounded: the range of the scores is declared as [0, 1], so that the bound of two samples
        can decide where an arm is constant; otherwise such outcomes are not passed.
    """
    level = check_fraction(alpha, "alpha") / 2
    x, y = np.arange(n_baseline + 1.0)[:, None], np.arange(n_candidate + 1.0)[None, :]
    b, c = x / n_baseline, y / n_candidate
    var_b, var_c = b * (1 - b) / (n_baseline - 1), c * (1 - c) / (n_candidate - 1)
    with np.errstate(all="ignore"):
        df = (var_b + var_c) ** 2 / (var_b**2 / (n_baseline - 1) + var_c**2 / (n_candidate - 1))
        tail = special.stdtr(df, (b - c + null_delta) / np.sqrt(var_b + var_c))
    sizeless = (var_b == 0) & (var_c == 0)
    passed = (c - b > null_delta) & (sizeless | (tail <= level * _EQUAL))
    low_c = _clopper_pearson(y, n_candidate, level)
    high_b = 1.0 - _clopper_pearson(n_baseline - x, n_baseline, level)
    exceeds = c - b - np.hypot(c - low_c, high_b - b) > null_delta
    found: Outcomes = passed & (((var_b > 0) & (var_c > 0)) | (exceeds & bounded))
    return found


def welch_binary_power(baseline: float, candidate: float, region: Outcomes) -> float:
    """
    Return the probability that a test of two samples of 0/1 scores is passed.

    :param baseline: share of all the baseline's cases that pass; ``candidate`` likewise.
    :param region: whether the test is passed, by number of passes ``[baseline, candidate]``.
    """
    x, y = (
        binomial(size - 1, share)
        for size, share in zip(region.shape, (baseline, candidate), strict=True)
    )
    return min(1.0, float(x @ region @ y))


def binomial(n: int, p: float) -> Floats:
    """Return the probability of each count from 0 to n."""
    k = np.arange(n + 1.0)
    ways = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
    return np.asarray(np.exp(ways + special.xlogy(k, p) + special.xlog1py(n - k, -p)))


def _at_least(count: Floats, n: Counts, p: float) -> Floats:
    """Return P(Binomial(n, p) >= count); ``count`` from 0 to n + 1."""
    tail = special.bdtrc(np.clip(count - 1.0, 0.0, n), n, p)
    return np.where(count < 1.0, 1.0, np.where(count > n, 0.0, tail))


def _clopper_pearson(passes: Floats, n: int, level: float) -> Floats:
    found = special.betaincinv(np.maximum(passes, 1.0), n - passes + 1.0, level)
    return np.where(passes == 0.0, 0.0, found)
