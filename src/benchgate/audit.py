"""The chain of a class's run records: each names the SHA-256 of the one before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import AwareDatetime

from benchgate.artifacts.run_kinds import Head
from benchgate.artifacts.writer import model_bytes, write_file
from benchgate.canonical import sha256_hex
from benchgate.errors import ArtifactError
from benchgate.files import read_regular
from benchgate.wire import SCHEMA_VERSION, Count, Sha256, Version, WireModel, first_fault

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


class ChainLink(WireModel):
    """What the chain needs of a record: less than all of it, so that records of an older version still hold."""

    schema_version: Version
    seq: Count
    prev_hash: Sha256
    finished_at: AwareDatetime


Model = TypeVar("Model", Head, ChainLink)

GENESIS: Final = "0" * 64
HEAD_FILE: Final = "HEAD.json"
RECORD_FILE: Final = "record.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEnd:
    """Where the next record goes: after ``seq``, naming ``sha256``; ``finished_at`` is the last one's."""

    seq: int
    sha256: str
    finished_at: datetime | None


def read_end(runs: Path) -> ChainEnd:
    """
    Return the end of the chain in ``runs/<class>/``, checked against the newest record's bytes.

    A record that was written but not yet entered into ``HEAD.json`` when its process died is entered now.
    Call it under the folder's lock.

    :raises ArtifactError: head and records do not agree; nothing may be appended.
    """
    newest = _newest(runs)
    head_path = runs / HEAD_FILE
    if not head_path.exists():
        if newest is not None and newest[0] != 1:
            raise ArtifactError(head_path, f"missing, though there is a record {newest[0]}")
        head = Head(schema_version=SCHEMA_VERSION, seq=0, sha256=GENESIS)
    else:
        head = _read(head_path, Head)
    if newest is None and head.seq == 0:
        return ChainEnd(seq=0, sha256=GENESIS, finished_at=None)
    if newest is None or newest[0] < head.seq:
        raise ArtifactError(head_path, f"names record {head.seq}, which is not there")
    return _checked_end(runs, head, *newest)


def _newest(runs: Path) -> tuple[int, Path] | None:
    numbered = [
        (int(folder.name[:8]), folder)
        for folder in runs.iterdir()
        if folder.is_dir() and folder.name[:8].isdigit() and folder.name[8:9] == "-"
    ]
    return max(numbered, default=None)


def _checked_end(runs: Path, head: Head, seq: int, folder: Path) -> ChainEnd:
    path = folder / RECORD_FILE
    record = _read(path, ChainLink)
    sha256 = sha256_hex(read_regular(path))
    if record.seq != seq:
        raise ArtifactError(path, f"says it is record {record.seq}; its folder says {seq}")
    if seq == head.seq + 1 and record.prev_hash == head.sha256:
        write_head(runs, seq, sha256)
    elif seq != head.seq or sha256 != head.sha256:
        raise ArtifactError(
            path, f"is not the record that {HEAD_FILE} names: edited, or added by hand"
        )
    return ChainEnd(seq=seq, sha256=sha256, finished_at=record.finished_at)


def _read(path: Path, model: type[Model]) -> Model:
    try:
        return model.read_json(read_regular(path))
    except (OSError, ValueError) as error:
        message = error.strerror if isinstance(error, OSError) else first_fault(error)
        raise ArtifactError(path, f"damaged: {message}; nothing is appended after it") from error


def write_head(runs: Path, seq: int, sha256: str) -> None:
    """Enter the newest record into ``HEAD.json``."""
    head = Head(schema_version=SCHEMA_VERSION, seq=seq, sha256=sha256)
    write_file(runs / HEAD_FILE, model_bytes(head))
