"""What is wrong with a bench, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.errors import MAX_PROBLEMS, excerpt, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.errors import LocatedError


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """
    One violation of the contract of a bench.

    :param line: 1-based; 1 where there is none.
    :param message: what is wrong, and what was expected.
    """

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return printable(f"{self.path}:{self.line}: {' '.join(self.message.split())}")


def located(error: LocatedError) -> Iterator[Problem]:
    """Yield the first problems of an error, each at its line of its file; the rest is counted."""
    where = Path(error.path)
    for line, key, message in error.faults[:MAX_PROBLEMS]:
        yield Problem(where, line or 1, excerpt(f"{key}: {message}" if key else message))
    more = len(error.faults[MAX_PROBLEMS:])
    if more:
        yield Problem(where, error.faults[MAX_PROBLEMS][0] or 1, f"... and {more} more")
