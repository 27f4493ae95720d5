"""Root of an increasing function on an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class _Point(NamedTuple):
    x: float
    y: float


def increasing_root(
    f: Callable[[float], float], low: float, high: float, *, tolerance: float
) -> float:
    """
    Return x in [low, high] with f(x) = 0, by the method of Chandrupatla (1997).

    It interpolates where that is safe and halves the interval elsewhere, which takes about ten
    evaluations where bisection takes forty.

    :param f: continuous and increasing; if it does not cross zero, the nearer end is returned.
    :param tolerance: absolute error of x, positive.
    """
    newest = _Point(low, f(low))
    other = _Point(high, f(high))
    if newest.y >= 0.0:
        return low
    if other.y <= 0.0:
        return high
    step = 0.5
    while True:
        x = newest.x + step * (other.x - newest.x)
        point = _Point(x, f(x))
        # The root stays between the newest point and the other one.
        dropped = newest
        if (point.y > 0.0) != (newest.y > 0.0):
            dropped = other
            other = newest
        newest = point
        least = 1.0
        if other.x != newest.x:
            least = tolerance / abs(other.x - newest.x)
        if newest.y == 0.0 or least > 0.5:
            return min(other, newest, key=lambda point: abs(point.y)).x
        step = min(max(_step(newest, other, dropped), least), 1.0 - least)


def _step(newest: _Point, other: _Point, dropped: _Point) -> float:
    """Return where to try next, as a share of the way from the newest point to the other."""
    a, fa = newest
    b, fb = other
    c, fc = dropped
    xi = (a - b) / (c - b)
    phi = (fa - fb) / (fc - fb)
    if phi**2 >= xi or (1.0 - phi) ** 2 >= 1.0 - xi:
        # A parabola through the three points would not be safe.
        return 0.5
    return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
