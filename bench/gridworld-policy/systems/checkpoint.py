"""Checkpoint files: a :class:`~benchgate.training_types.CheckpointRecord` and the policy's table in one JSON object."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchgate.training_types import CheckpointRecord, read_checkpoint
from benchgate.wire.canonical import digest

FOLDER: Final = Path(__file__).resolve().parent.parent / "checkpoints"


class DamagedCheckpoint(ValueError):
    """The table of a checkpoint is not the one that its record names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """
    A policy with its record.

    :param table: for each cell the value of each action, in discounted return.
    :param sha256: of the whole file.
    """

    record: CheckpointRecord
    table: tuple[tuple[float, ...], ...]
    sha256: str

    def action(self, cell: int) -> int:
        """Return the best action; the first of equal ones."""
        values = self.table[cell]
        return values.index(max(values))

    def value(self, cell: int) -> float:
        """Return the value of the best action."""
        return max(self.table[cell])


def table_digest(table: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a table; a record names it in ``metadata.policy_sha256``."""
    return digest(table)


def load(path: Path) -> Checkpoint:
    """
    Read a checkpoint's file.

    :raises DamagedCheckpoint: the table was changed.
    """
    data = path.read_bytes()
    table = json.loads(data)["q_table"]
    record = read_checkpoint(path)
    expected, found = record.metadata.get("policy_sha256"), table_digest(table)
    if found != expected:
        msg = f"{path.name}: the table has {found}; its record says {expected}"
        raise DamagedCheckpoint(msg)
    return Checkpoint(
        record=record,
        table=tuple(tuple(row) for row in table),
        sha256=hashlib.sha256(data).hexdigest(),
    )
