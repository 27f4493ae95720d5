"""Largest value of a polynomial on an interval, with a proof instead of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.statistics.numerics import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_TOLERANCE = 1e-6
_HALVINGS = 40


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
    row, n = pieces, pieces.shape[1]
    left, right = np.empty_like(pieces), np.empty_like(pieces)
    for step in range(n):
        left[:, step], right[:, n - 1 - step] = row[:, 0], row[:, -1]
        row = (1.0 - at) * row[:, :-1] + at * row[:, 1:]
    return left, right
