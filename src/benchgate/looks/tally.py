"""The number of a look: how many different results one thing was compared with before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.gates.looks import LookNumber
from benchgate.wire.canonical import digest
from benchgate.wire.model import Sha256, WireModel

if TYPE_CHECKING:
    from typing import Any


class Looked(WireModel):
    """
    What was looked at, see :func:`digest_of_look`, and the digests of the results of both sides.

    :param looks: how alpha is divided, if by ``spend:K``: the first look of a series says so for all.
    """

    at: Sha256
    results: tuple[Sha256, Sha256]
    looks: str | None = None


def digest_of_look(cases: Any, rubric: str | None, baseline: str | None) -> str:
    """Return the digest of what is looked at: cases, what scores them, and a baseline, by its results or its name."""
    return digest([cases, rubric, baseline])


class Tally:
    """
    Counts looks in their order.

    :param unknown: looks of which nothing is known; they count for everything that is looked at.
    """

    def __init__(self) -> None:
        self.unknown = 0
        self._seen: dict[str, dict[tuple[str, str], int]] = {}
        self._declared: dict[str, str | None] = {}

    def number(self, looked: Looked) -> LookNumber:
        """Return the number that a look has or would have; results that were seen have that of the first time."""
        seen = self._seen.get(looked.at, {})
        number = LookNumber(seen.get(looked.results, len(seen) + 1 + self.unknown))
        first = self._declared.get(looked.at, looked.looks)
        if first != looked.looks:
            number.otherwise = first or "count or spend"
        return number

    def has(self, looked: Looked) -> bool:
        """Whether these results were seen."""
        return looked.results in self._seen.get(looked.at, {})

    def add(self, looked: Looked) -> LookNumber:
        """Count a look, and return its number."""
        number = self.number(looked)
        self._declared.setdefault(looked.at, looked.looks)
        self._seen.setdefault(looked.at, {})[looked.results] = number
        return number
