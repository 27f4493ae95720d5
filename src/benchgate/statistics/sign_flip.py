"""
Sign-flip (paired permutation) test of a mean difference; on +1/0/-1 it is the exact McNemar test.

Fisher (1935): under the null hypothesis each difference is as likely as its negative. The
one-sided p is the share of the 2**n sign patterns whose sum is at least the observed one. They are
counted in the first of these ways that is feasible:

* up to 20 differences: all patterns;
* multiples of one step (scores of 0/1, halves, percent...): dynamic programming over the sums;
* otherwise B random patterns with a fixed seed: (1 + hits) / (B + 1), which is a valid p-value too
  (Phipson and Smyth 2010). It is never below 1 / (B + 1); at a level below that, a bound of the
  share of patterns decides: c * P(Z >= observed / root of the sum of squares), Z standard normal
  and c = 1 / (4 P(Z >= sqrt(2))) = 3.18 (Bentkus and Dzindzalieta 2015).

That p counts every pattern with the observed sum. Where scores come in steps there are many, and a level of 2.5 % is
rarely used up. So the gate decides by a p in which ties count half, but for the observed pattern itself:

    P(T > t) + P(T = t) / 2 + 2**-(k + 1)

T is the sum over all patterns, t the observed one, and k the number of differences that are not 0. Without the last
term it is the mid-p of Lancaster (1961), which five gains and no loss would pass; with it the smallest p stays 2**-k.
It never rises as a difference rises: each pattern counts less or the same then, and where a loss becomes 0, so that k
falls, the patterns that tie now make up for the last term. It is not exact: where the magnitudes of the differences are
given, a level of 2.5 % may be 3.8 %.

The result does not depend on the order of the differences; swapping the arms swaps the two p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal
from zlib import crc32

from benchgate.statistics.bounds import share_interval
from benchgate.statistics.numerics import np, special
from benchgate.statistics.student import check_finite, check_fraction
from benchgate.statistics.summary import finite_floats, saturate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_ENUMERATED: Final = 20
_ENUMERATED_SUBSETS: Final = 16
_LARGEST_DENOMINATOR: Final = 10_000  # of scores that are multiples of one step
_LATTICE_WORK: Final = 600_000_000  # additions
# Sums are equal if they differ by less than this share of the largest difference, per case: a
# difference of two scores has their rounding errors, such as 0.3 - 0.2 = 0.09999999999999998.
_TIE: Final = 1e-12
_ESCALATED: Final = 99_999  # patterns where a first draw leaves the decision in doubt
_DOUBT: Final = 0.01  # 1 - confidence of the interval that says so
_SEED: Final = 0
_BLOCK: Final = 1 << 22  # random bits at a time, to limit memory
# Of the 63 bits of an int64: a sum over signs is the doubled sum of a subset, less the total.
_FIXED_BITS: Final = 62


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlip:
    """One-sided and two-sided p of the sign-flip test, and how they were computed."""

    n: int
    p_greater: float
    """For "the mean difference is greater than null_delta"; in (0, 1], 1.0 without data."""
    p_less: float
    p_two_sided: float
    """min(1, 2 * min(p_greater, p_less))."""
    half_ties_greater: float
    """The p that decides, with ties as halves: for "the mean difference is greater than null_delta"."""
    half_ties_less: float
    method: Literal["exact", "monte_carlo"]
    n_resamples: int | None
    """Number of random sign patterns; None if exact."""
    seed: int | None
    """Seed of the random patterns; None if exact."""


def sign_flip(
    differences: Iterable[float],
    *,
    null_delta: float = 0.0,
    alpha: float = 0.05,
    n_resamples: int = 9999,
) -> SignFlip:
    """
    Test whether the mean of paired differences (candidate - baseline) is null_delta.

    Unlike a t test it does not assume normal differences, only symmetric ones.

    :param null_delta: subtracted from each difference before the flips.
    :param alpha: two-sided level of the decision. If alpha / 2 is within the 99% Clopper-Pearson
        interval of a Monte Carlo p, both p are recomputed with 99,999 patterns.
    :param n_resamples: random sign patterns of the Monte Carlo estimate, at least 1: bits of
        PCG64(SeedSequence([0, crc32("sign_flip")])), which numpy keeps stable across versions.
    :raises ValueError: for a value that is not a finite real number, or an argument out of range.
    """
    check_fraction(alpha, "alpha")
    shift = check_finite(null_delta, "null_delta")
    if n_resamples < 1:
        message = f"n_resamples is {n_resamples!r}; expected at least 1"
        raise ValueError(message)
    shifted = above(finite_floats(differences, "differences"), shift)
    # Divided by the largest magnitude, so that _TIE fits any unit of the scores.
    top = max(map(abs, shifted), default=0.0)
    if top == 0.0:
        top = 1.0
    shares = [x / top for x in shifted]
    # The flip of a difference of 0 changes no sum. The total of a cluster may be a rounding error instead of 0: it is
    # left out of the observed sum as well, or not even the pattern that was observed would reach that.
    kept = [share for share in shares if 2.0 * abs(share) > _TIE * len(shares)]
    observed = math.fsum(kept)
    # Sorted, so that the random patterns give the same p for any order of the cases.
    weights = np.sort(np.abs(np.array(kept, dtype=np.float64)))[::-1]
    tails = _exact_tails(weights, abs(observed))
    if tails is None:
        tails = _drawn_tails(weights, abs(observed), n_resamples, alpha)
    if observed <= 0.0:
        tails = tails.mirrored()
    method: Literal["exact", "monte_carlo"] = "exact"
    seed = None
    if tails.drawn is not None:
        method = "monte_carlo"
        seed = _SEED
    return SignFlip(
        n=len(shares),
        p_greater=tails.upper,
        p_less=tails.lower,
        p_two_sided=min(1.0, 2.0 * min(tails.upper, tails.lower)),
        half_ties_greater=tails.upper_half,
        half_ties_less=tails.lower_half,
        method=method,
        n_resamples=tails.drawn,
        seed=seed,
    )


def above(values: Sequence[float], null_delta: float) -> list[float]:
    """Return by how much each value is above the null hypothesis; 0.0 where only rounding separates them."""
    # A difference of 1/3 is rounded to 13 digits: it is neither a gain nor a loss against 0.3333333333333333.
    noise = _TIE * max(map(abs, [null_delta, *values]))
    result: list[float] = []
    for value in values:
        distance = saturate(value - null_delta)
        if abs(distance) <= noise:
            distance = 0.0
        result.append(distance)
    return result


def flip_interval(
    totals: Sequence[float], sizes: Sequence[int], *, alpha: float = 0.05, n_resamples: int = 9999
) -> tuple[float, float]:
    """
    Return the means of all cases that the test does not reject at alpha; infinite where it rejects none.

    A pattern counts against a mean iff the cases that it flips have at most that mean: the ends are order statistics
    of the means of all subsets (Hartigan 1969), drawn above 16 cases; with too small an alpha for these, nothing is in.

    :param totals: sum of the cases of each cluster; ``sizes`` is their number.
    """
    cases = zip(totals, sizes, strict=True)
    # By size of the total: then swapping the arms swaps the ends, whatever is drawn.
    rows = np.array(sorted(cases, key=lambda case: (abs(case[0]), case[1])), dtype=np.float64)
    sums = _subset_sums(rows, n_resamples)
    rank = math.floor(len(sums) * alpha / 2 * (1.0 + _TIE))
    if rank < 1 and len(rows) <= _ENUMERATED:
        # No pattern is so rare that the test would reject a mean.
        return -math.inf, math.inf
    if rank < 1:
        # There may be such patterns, but none was drawn: no mean is known to pass.
        return math.inf, -math.inf
    sums = sums[sums[:, 1] > 0.0]
    means = np.partition(sums[:, 0] / sums[:, 1], [rank - 1, len(sums) - rank])
    return float(means[rank - 1]), float(means[-rank])


def _subset_sums(rows: Floats, size: int) -> Floats:
    """Return the sums of both columns over all subsets of the rows; of many rows over so many random subsets."""
    sums = np.zeros((1, 2))
    if len(rows) > _ENUMERATED_SUBSETS:
        return np.concatenate([sums, *_drawn_sums(rows, size)])
    for row in rows:
        sums = np.concatenate([sums, sums + row])
    return sums


def _drawn_sums(rows: Floats, size: int) -> Iterator[Floats]:
    """Yield the sums of both columns over random subsets of the rows, in blocks."""
    steps, exponent = _fixed_point(rows[:, 0])
    counts = rows[:, 1].astype(np.int64)
    is_single = counts.max() == 1
    for bits in _patterns(len(rows), size):
        if is_single:
            # No case shares a cluster, and numpy counts them in a third of the time.
            sizes = np.count_nonzero(bits, axis=1)
        else:
            sizes = bits @ counts
        yield np.stack([np.ldexp(bits @ steps, exponent), sizes], axis=1)


@dataclass(frozen=True, slots=True)
class _Tails:
    """Shares of the sign patterns whose sum is at least some value that is not negative, and at most that value."""

    upper: float
    lower: float
    upper_half: float
    """The share of patterns above the value, of those at it by half, but in full of the one that has it by itself."""
    lower_half: float
    drawn: int | None = None
    """Number of random patterns; None if all were counted."""

    @classmethod
    def counted(cls, upper: float, lower: float, tied: float, differences: int) -> _Tails:
        """
        Return the shares of all patterns of so many differences.

        :param tied: the share at the value itself.
        """
        own = math.ldexp(1.0, -differences - 1)
        return cls(
            upper=upper,
            lower=lower,
            upper_half=min(1.0, upper - tied / 2.0 + own),
            lower_half=min(1.0, lower - tied / 2.0 + own),
        )

    def mirrored(self) -> _Tails:
        """Return the shares at the negative of the value."""
        return replace(
            self,
            upper=self.lower,
            lower=self.upper,
            upper_half=self.lower_half,
            lower_half=self.upper_half,
        )


def _exact_tails(weights: Floats, value: float) -> _Tails | None:
    """Return the shares of all patterns at a value; None if they are too many to count."""
    if len(weights) <= _ENUMERATED:
        return _enumerated_tails(weights, value)
    steps = _lattice(weights)
    if steps is None:
        return None
    return _lattice_tails(steps, value, weights)


def _enumerated_tails(weights: Floats, value: float) -> _Tails:
    # Sums of half of the weights, beside those of the others in order: all patterns in few steps.
    halves = [np.zeros(1), np.zeros(1)]
    for number, weight in enumerate(weights):
        half = halves[number % 2]
        halves[number % 2] = np.concatenate([half - weight, half + weight])
    rest = np.sort(halves[1])
    margin = _TIE * len(weights)
    at_least = len(rest) - np.searchsorted(rest, value - margin - halves[0])
    at_most = np.searchsorted(rest, value + margin - halves[0], side="right")
    patterns = 2.0 ** len(weights)
    upper = float(at_least.sum())
    lower = float(at_most.sum())
    tied = upper + lower - patterns
    return _Tails.counted(upper / patterns, lower / patterns, tied / patterns, len(weights))


def _lattice(weights: Floats) -> list[int] | None:
    """Return small integers proportional to the weights (of which the largest is 1), if there are."""
    levels, counts = np.unique(weights, return_counts=True)
    total = math.fsum(weights)
    fractions: list[Fraction] = []
    common = 1
    for level in levels.tolist():
        fraction = Fraction(level).limit_denominator(_LARGEST_DENOMINATOR)
        common = math.lcm(common, fraction.denominator)
        work = len(weights) * total * common
        if abs(level - float(fraction)) > _TIE or work > _LATTICE_WORK:
            return None
        fractions.append(fraction)
    steps: list[int] = []
    for fraction, count in zip(fractions, counts.tolist(), strict=True):
        steps += [int(fraction * common)] * count
    return [step for step in steps if step]


def _lattice_tails(steps: Sequence[int], value: float, weights: Floats) -> _Tails:
    """Compute the distribution of the sum step by step; adding positives and halving lose no digits."""
    width = sum(steps)
    # Indexed by the sum of the positive steps: the sum of all is 2 * index - width.
    probability = np.zeros(width + 1)
    probability[0] = 1.0
    reach = 0
    with np.errstate(under="ignore"):
        for step in steps:
            half = probability[: reach + 1] * 0.5
            probability[: reach + 1] = half
            probability[step : reach + step + 1] += half
            reach += step
    total = math.fsum(weights)
    unit = 1.0
    if total:
        unit = width / total
    up = (width + round(value * unit)) // 2
    upper = math.fsum(probability[up:])
    lower = math.fsum(probability[: up + 1])
    return _Tails.counted(min(1.0, upper), min(1.0, lower), float(probability[up]), len(weights))


def _drawn_tails(weights: Floats, value: float, size: int, alpha: float) -> _Tails:
    """Return the shares among so many random patterns; among more if these leave the decision in doubt."""
    tails = _monte_carlo_tails(weights, value, size)
    if size < _ESCALATED and _is_in_doubt(tails, size, alpha / 2):
        size = _ESCALATED
        tails = _monte_carlo_tails(weights, value, size)
    if (size + 1) * alpha < 2.0:
        # So few patterns cannot show a p of alpha / 2.
        bound = _gaussian_bound(weights, value)
        return replace(
            tails, upper=min(tails.upper, bound), upper_half=min(tails.upper_half, bound)
        )
    return tails


def _monte_carlo_tails(weights: Floats, value: float, size: int) -> _Tails:
    steps, exponent = _fixed_point(weights)
    total = steps.sum()
    margin = _TIE * len(weights)
    upper = 0
    lower = 0
    for bits in _patterns(len(weights), size):
        sums = np.ldexp(2 * (bits @ steps) - total, exponent)
        upper += int(np.count_nonzero(sums >= value - margin))
        lower += int(np.count_nonzero(sums <= value + margin))
    tied = upper + lower - size
    if value <= margin:
        # At a difference of 0 the two must be equal, else swapping the arms would change them.
        upper = max(upper, lower)
        lower = upper
    # The observed pattern is one of them (Phipson and Smyth 2010), and counts in full.
    return _Tails(
        upper=(1 + upper) / (size + 1),
        lower=(1 + lower) / (size + 1),
        upper_half=(1 + upper - tied / 2.0) / (size + 1),
        lower_half=(1 + lower - tied / 2.0) / (size + 1),
        drawn=size,
    )


def _gaussian_bound(weights: Floats, value: float) -> float:
    """Return the bound of Bentkus and Dzindzalieta; see the module."""
    tail = special.ndtr(-value / math.sqrt(math.fsum(weights * weights)))
    return float(tail / (4.0 * special.ndtr(-math.sqrt(2.0))))


def _is_in_doubt(tails: _Tails, size: int, level: float) -> bool:
    """Say whether further patterns could put one of the shares on the other side of the level."""
    for share in (tails.upper, tails.lower, tails.upper_half, tails.lower_half):
        hits = round(share * (size + 1)) - 1
        low, high = share_interval(hits, size, _DOUBT)
        if low <= level <= high:
            return True
    return False


def _fixed_point(values: Floats) -> tuple[Ints, int]:
    """
    Return the values as multiples of a power of two, and its exponent; no signed sum of them overflows.

    A matrix product adds floats in the order of the processor's BLAS kernel, and another order has other last
    digits. Whole numbers have the same sum in any order, and numpy adds them without BLAS. The step is 2**-48 of
    the largest value at 10,000 of them, far below what counts as a tie.
    """
    largest = float(np.max(np.abs(values)))
    exponent = math.frexp(largest)[1] + len(values).bit_length() - _FIXED_BITS
    return np.rint(np.ldexp(values, -exponent)).astype(np.int64), exponent


def _patterns(n: int, size: int) -> Iterator[NDArray[np.uint8]]:
    """Yield so many random patterns in blocks, one a row."""
    words = -(-n // 64)
    generator = np.random.PCG64(np.random.SeedSequence([_SEED, crc32(b"sign_flip")]))
    rows = max(1, _BLOCK // (64 * words))
    for start in range(0, size, rows):
        count = min(rows, size - start)
        raw = np.asarray(generator.random_raw(count * words), dtype="<u8").reshape(count, words)
        yield np.unpackbits(raw.view(np.uint8), axis=1, count=n)
