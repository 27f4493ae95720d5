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

The result does not depend on the order of the differences; swapping the arms swaps the two p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal
from zlib import crc32

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
_LARGEST_DENOMINATOR: Final = 10_000
_LATTICE_WORK: Final = 600_000_000
# Sums are equal if they differ by less than this share of the largest difference, per case: a
# difference of two scores has their rounding errors, such as 0.3 - 0.2 = 0.09999999999999998.
_TIE: Final = 1e-12
_ESCALATED: Final = 99_999
_DOUBT: Final = 0.01
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
    shifted = [saturate(x - shift) for x in finite_floats(differences, "differences")]
    # Divided by the largest magnitude, so that _TIE fits any unit of the scores.
    top = max(map(abs, shifted), default=0.0) or 1.0
    shares = [x / top for x in shifted]
    observed = math.fsum(shares)
    # Sorted, so that the random patterns give the same p for any order of the cases.
    weights = np.sort(np.abs(np.array(shares, dtype=np.float64)))[::-1]
    patterns: int | None = None
    tails = _exact_tails(weights, observed)
    if tails is None:
        patterns = n_resamples
        tails = _monte_carlo_tails(weights, observed, patterns)
        if patterns < _ESCALATED and any(_in_doubt(p, patterns, alpha / 2) for p in tails):
            patterns = _ESCALATED
            tails = _monte_carlo_tails(weights, observed, patterns)
    upper, lower = tails
    if patterns is not None and (patterns + 1) * alpha < 2.0:
        upper = min(upper, _gaussian_bound(observed, weights))
    greater, less = (upper, lower) if observed > 0.0 else (lower, upper)
    return SignFlip(
        n=len(shares),
        p_greater=greater,
        p_less=less,
        p_two_sided=min(1.0, 2.0 * min(greater, less)),
        method="exact" if patterns is None else "monte_carlo",
        n_resamples=patterns,
        seed=None if patterns is None else _SEED,
    )


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
    sums = np.zeros((1, 2))
    if len(rows) <= _ENUMERATED_SUBSETS:
        for row in rows:
            sums = np.concatenate([sums, sums + row])
    else:
        sums = np.concatenate([sums, *_drawn_sums(rows, n_resamples)])
    rank = math.floor(len(sums) * alpha / 2 * (1.0 + _TIE))
    if rank < 1:  # no pattern is so rare; of those not drawn it is not known
        return (-math.inf, math.inf) if len(rows) <= _ENUMERATED else (math.inf, -math.inf)
    sums = sums[sums[:, 1] > 0.0]
    means = np.partition(sums[:, 0] / sums[:, 1], [rank - 1, len(sums) - rank])
    return float(means[rank - 1]), float(means[-rank])


def _drawn_sums(rows: Floats, size: int) -> Iterator[Floats]:
    """Yield the sums of both columns over random subsets of the rows, in blocks."""
    steps, exponent = _fixed_point(rows[:, 0])
    counts = rows[:, 1].astype(np.int64)
    for bits in _patterns(len(rows), size):
        yield np.stack([np.ldexp(bits @ steps, exponent), bits @ counts], axis=1)


def _gaussian_bound(observed: float, weights: Floats) -> float:
    tail = special.ndtr(-abs(observed) / math.sqrt(math.fsum(weights * weights)))
    return float(tail / (4.0 * special.ndtr(-math.sqrt(2.0))))


def _exact_tails(weights: Floats, observed: float) -> tuple[float, float] | None:
    r"""Return P(sum >= \\|observed\\|) and P(sum <= \\|observed\\|) over all signs, if feasible."""
    if len(weights) <= _ENUMERATED:
        return _enumerated_tails(weights, observed)
    steps = _lattice(weights)
    return None if steps is None else _lattice_tails(steps, observed, math.fsum(weights))


def _enumerated_tails(weights: Floats, observed: float) -> tuple[float, float]:
    # Sums of half of the weights, beside those of the others in order: all patterns in few steps.
    halves = [np.zeros(1), np.zeros(1)]
    for number, weight in enumerate(weights):
        half = halves[number % 2]
        halves[number % 2] = np.concatenate([half - weight, half + weight])
    rest, margin, patterns = np.sort(halves[1]), _TIE * len(weights), 2.0 ** len(weights)
    upper = len(rest) - np.searchsorted(rest, abs(observed) - margin - halves[0])
    lower = np.searchsorted(rest, abs(observed) + margin - halves[0], side="right")
    return float(upper.sum()) / patterns, float(lower.sum()) / patterns


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


def _lattice_tails(steps: Sequence[int], observed: float, total: float) -> tuple[float, float]:
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
    unit = width / total if total else 1.0
    up = (width + round(abs(observed) * unit)) // 2
    return min(1.0, math.fsum(probability[up:])), min(1.0, math.fsum(probability[: up + 1]))


def _monte_carlo_tails(weights: Floats, observed: float, size: int) -> tuple[float, float]:
    steps, exponent = _fixed_point(weights)
    total = steps.sum()
    margin = _TIE * len(weights)
    upper = lower = 1
    for bits in _patterns(len(weights), size):
        sums = np.ldexp(2 * (bits @ steps) - total, exponent)
        upper += int(np.count_nonzero(sums >= abs(observed) - margin))
        lower += int(np.count_nonzero(sums <= abs(observed) + margin))
    if abs(observed) <= margin:
        # At a difference of 0 the two must be equal, else swapping the arms would change them.
        upper = lower = max(upper, lower)
    return upper / (size + 1), lower / (size + 1)


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


def _in_doubt(p: float, size: int, level: float) -> bool:
    hits = round(p * (size + 1)) - 1
    low = special.betaincinv(hits, size - hits + 1, _DOUBT / 2) if hits else 0.0
    high = special.betaincinv(hits + 1, size - hits, 1 - _DOUBT / 2) if hits < size else 1.0
    return bool(low <= level <= high)
