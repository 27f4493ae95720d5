"""Which cases of a class a part of a run has, when several machines share the run."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Shard(NamedTuple):
    """Part ``number`` of ``total``, from 1."""

    number: int
    total: int

    def of(self, case_ids: Iterable[str]) -> set[str]:
        """
        Return the cases of this part: every ``total``-th in the order of the SHA-256 of their ids.

        Each case is in exactly one part, and the same one on every machine. Ids that were given in order, such as those
        of one difficulty, spread evenly.
        """
        ordered = sorted(set(case_ids), key=lambda case_id: sha256(case_id.encode()).digest())
        return set(ordered[self.number - 1 :: self.total])

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"
