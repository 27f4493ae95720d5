"""Mean and variance of a sample, accurate to the last digit or so, for floats of any magnitude."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import chain, repeat
from numbers import Real
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")
LARGEST = sys.float_info.max
SMALLEST = math.ulp(0.0)
# A sum of values scaled down by 2**64 cannot overflow with less than 2**64 values.
_HEADROOM = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """
    Count, mean and spread of one sample of finite numbers.

    The variance is stored as ``scaled_variance * 4**exponent``: for scores around 1e300 a plain
    variance would be infinite, around 1e-300 zero.
    """

    n: int
    mean: float | None
    """Arithmetic mean in the unit of the data, correctly rounded; None for an empty sample."""
    mean_tail: float
    """Rounding error of ``mean``: ``mean + mean_tail`` is accurate to about 32 digits."""
    constant: bool
    """Whether all values are the same float, which a variance of 0 would not prove."""
    scaled_variance: float | None
    """Unbiased variance (divisor n - 1) divided by ``4**exponent``; None below two values."""
    exponent: int

    @property
    def variance(self) -> float | None:
        """Unbiased variance, 0.0 iff constant, clipped to the float range; None below two values."""
        if self.scaled_variance is None:
            return None
        return scale(self.scaled_variance, 2 * self.exponent)

    @property
    def sd(self) -> float | None:
        """Standard deviation in the unit of the data, 0.0 iff constant; None below two values."""
        if self.scaled_variance is None:
            return None
        return scale(math.sqrt(self.scaled_variance), self.exponent)


def saturate(value: float) -> float:
    """Replace an infinity by the largest float of its sign, so that results stay finite."""
    return min(LARGEST, max(-LARGEST, value))


def scale(value: float, exponent: int) -> float:
    """Multiply by ``2**exponent``, clipped: never infinite, and zero only if ``value`` is."""
    try:
        result = math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(LARGEST, value)
    if value and not result:
        return math.copysign(SMALLEST, value)
    return result


def finite_floats(values: Iterable[float], name: str = "values") -> list[float]:
    """
    Return a sample as a list of floats.

    :param values: ints or floats (numpy scalars too); no bool, no str, no NaN, no infinity.
    :param name: name of the sample in the error.
    :raises ValueError: for the first wrong element; the message has its index and value.
    """
    numbers = list(values)
    # Samples are floats almost always, and are checked many times in one comparison.
    if {*map(type, numbers)} <= {float} and all(map(math.isfinite, numbers)):
        return numbers
    result: list[float] = []
    for index, value in enumerate(numbers):
        number = _as_float(value)
        if number is None or not math.isfinite(number):
            message = f"{name}[{index}] is {value!r}; expected a finite real number"
            raise ValueError(message)
        result.append(number)
    return result


def _as_float(value: object) -> float | None:
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def mean(values: Iterable[float]) -> float:
    """
    Return the correctly rounded arithmetic mean; the order of the values does not matter.

    :raises ValueError: if there are none, or one is not a finite real number.
    """
    numbers = finite_floats(values)
    if not numbers:
        message = "the mean of no values is undefined"
        raise ValueError(message)
    return _mean_and_tail(numbers)[0]


def grouped(values: Sequence[T], clusters: Sequence[str | None] | None) -> list[list[T]]:
    """
    Return the values of each cluster.

    :param clusters: None if no two values share one.
    :raises ValueError: for another number of labels.
    """
    if clusters is None or (len(clusters) == len(values) and {*clusters} <= {None}):
        return [[value] for value in values]
    groups: dict[object, list[T]] = {}
    for index, (value, label) in enumerate(zip(values, clusters, strict=True)):
        key: object = label
        if label is None:
            # Its place is a key that no label has, for labels are texts.
            key = index
        groups.setdefault(key, []).append(value)
    return list(groups.values())


def summarize(values: Iterable[float], name: str = "values") -> Summary:
    """
    Summarise a sample; the order of the values does not matter.

    The variance is computed in two passes with the correction of Chan, Golub and LeVeque (1983),
    on values that were scaled by a power of two, which is exact.

    :raises ValueError: if a value is not a finite real number.
    """
    numbers = finite_floats(values, name)
    if not numbers:
        return Summary(
            n=0, mean=None, mean_tail=0.0, constant=True, scaled_variance=None, exponent=0
        )
    low = min(numbers)
    high = max(numbers)
    exponent = math.frexp(max(-low, high))[1]
    center, tail = _mean_and_tail(numbers)
    variance = None
    if len(numbers) > 1:
        variance = _scaled_variance(numbers, center, exponent)
    return Summary(
        n=len(numbers),
        mean=center,
        mean_tail=tail,
        constant=low == high,
        scaled_variance=variance,
        exponent=exponent,
    )


def _mean_and_tail(numbers: Sequence[float]) -> tuple[float, float]:
    n = len(numbers)
    try:
        first = math.fsum(numbers) / n
        # fsum and the division each round; without a correction n copies of c may not average to c.
        correction = math.fsum(chain(numbers, repeat(-first, n))) / n
    except OverflowError:
        small, tail = _mean_and_tail([math.ldexp(x, -_HEADROOM) for x in numbers])
        return scale(small, _HEADROOM), math.ldexp(tail, _HEADROOM)
    center = first + correction
    return center, (first - center) + correction


def _scaled_variance(numbers: Sequence[float], center: float, exponent: int) -> float:
    if min(numbers) == max(numbers):
        return 0.0
    pivot = math.ldexp(center, -exponent)
    deviations = [math.ldexp(x, -exponent) - pivot for x in numbers]
    squares = math.fsum(d * d for d in deviations)
    return (squares - math.fsum(deviations) ** 2 / len(numbers)) / (len(numbers) - 1)
