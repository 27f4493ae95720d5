"""Shares in percent with their intervals, and tables of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy import special

if TYPE_CHECKING:
    from collections.abc import Iterable


def percent(count: int, repetitions: int, digits: int) -> str:
    """Return a share in percent, with as many digits as its table shows."""
    return f"{100 * count / repetitions:.{digits}f}"


def interval(count: int, repetitions: int) -> tuple[float, float]:
    """Return the 95 % interval of Clopper and Pearson of a simulated share."""
    low = special.betaincinv(count, repetitions - count + 1, 0.025) if count else 0.0
    full = count == repetitions
    high = 1.0 if full else special.betaincinv(count + 1, repetitions - count, 0.975)
    return float(low), float(high)


def simulated(count: int, repetitions: int) -> str:
    """Return a share in percent with its interval."""
    low, high = interval(count, repetitions)
    return f"{percent(count, repetitions, 1)} ({100 * low:.1f}-{100 * high:.1f})"


def table_of(labels: list[str], columns: list[str], rows: Iterable[list[str]]) -> str:
    """Return a table: ``labels`` head what names a row, ``columns`` what was measured."""
    rule = ["---"] * len(labels) + ["---:"] * len(columns)
    lines = [f"| {' | '.join([*labels, *columns])} |", f"|{'|'.join(rule)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
