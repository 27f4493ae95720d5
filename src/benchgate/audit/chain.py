"""
The chain of a class's run records: each has the SHA-256 of the one before it.

A record that was edited, exchanged or lost breaks the chain. The chain alone cannot show that its newest records were
removed or that all of it was rewritten: keep the newest hash, the head, elsewhere, and give it to ``benchgate verify``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import AwareDatetime

from benchgate.artifacts.run_kinds import Head
from benchgate.errors import ArtifactError, Unreadable
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.model import SCHEMA_VERSION, Artifact, Count, Sha256
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import model_bytes, write_file

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


class ChainLink(Artifact):
    """The fields of a record that the chain needs."""

    seq: Count
    prev_hash: Sha256
    finished_at: AwareDatetime
    clock_regressed: bool


GENESIS: Final = "0" * 64
HEAD_FILE: Final = "HEAD.json"
RECORD_FILE: Final = "record.json"
PLAN_FILE: Final = "plan.json"
FOLDER_NAME: Final = re.compile(r"([0-9]{8,15})-\d{8}T\d{6}Z-[0-9a-f]{8}")
UNFINISHED: Final = "incomplete-"
STAMP: Final = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEnd:
    """The newest record of a chain, which the next one follows; zeros and ``None`` if there is none yet."""

    seq: int
    sha256: str
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A record as it is on disk, valid or not; ``stated`` is ``None`` if it cannot be read."""

    seq: int
    path: Path
    sha256: str | None
    stated: ChainLink | None
    fault: str | None


def record_folder(seq: int, finished: datetime, run_id: str) -> str:
    """Return the name of a record's folder."""
    return f"{seq:08d}-{finished:{STAMP}}-{run_id[:8]}"


def numbered(runs: Path) -> list[tuple[int, Path]]:
    """Return number and folder of each record in ``runs/<class>/``, in the order of the chain."""
    found = ((FOLDER_NAME.fullmatch(folder.name), folder) for folder in runs.iterdir())
    return sorted((int(name[1]), folder) for name, folder in found if name and folder.is_dir())


def read_end(runs: Path) -> ChainEnd:
    """
    Return the end of the chain in ``runs/<class>/``, checked against the newest record's bytes.

    If the last process died after it wrote its record but before it updated ``HEAD.json``, that is done now.
    Call it under the folder's lock.

    :raises ArtifactError: head and records do not agree; nothing may be appended.
    """
    newest = max(numbered(runs), default=None)
    head_path = runs / HEAD_FILE
    if not head_path.exists():
        if newest is not None and newest[0] != 1:
            raise ArtifactError(head_path, f"missing, though there is a record {newest[0]}")
        head = Head(schema_version=SCHEMA_VERSION, seq=0, sha256=GENESIS)
    else:
        head = read_head(runs)
    if newest is None and head.seq == 0:
        return ChainEnd(seq=0, sha256=GENESIS, finished_at=None)
    if newest is None or newest[0] < head.seq:
        raise ArtifactError(head_path, f"names record {head.seq}, which is not there")
    return _checked_end(runs, head, *newest)


def _checked_end(runs: Path, head: Head, seq: int, folder: Path) -> ChainEnd:
    path = folder / RECORD_FILE
    data = _bytes(path)
    record, sha256 = ChainLink.parse(path, data, "record"), sha256_hex(data)
    if record.seq != seq:
        raise ArtifactError(path, f"says it is record {record.seq}; its folder says {seq}")
    if seq == head.seq + 1 and record.prev_hash == head.sha256:
        write_head(runs, seq, sha256)
    elif seq != head.seq or sha256 != head.sha256:
        raise ArtifactError(
            path, f"is not the record that {HEAD_FILE} names: edited, or added by hand"
        )
    return ChainEnd(seq=seq, sha256=sha256, finished_at=record.finished_at)


def _bytes(path: Path) -> bytes:
    if path.is_symlink():
        raise Unreadable(path, "is a symlink; a record must have its files in its own folder")
    return read_bytes(path, limit=MAX_JSON_BYTES)


def read_head(runs: Path) -> Head:
    """
    Read ``HEAD.json``.

    :raises Unreadable: it is damaged, or a link to another folder.
    """
    return Head.parse(runs / HEAD_FILE, _bytes(runs / HEAD_FILE), "head")


def write_head(runs: Path, seq: int, sha256: str) -> None:
    """Enter the newest record into ``HEAD.json``."""
    head = Head(schema_version=SCHEMA_VERSION, seq=seq, sha256=sha256)
    write_file(runs / HEAD_FILE, model_bytes(head))


def unentered(runs: Path) -> int | None:
    """
    Return the number of the newest record if it follows the head but is not entered in ``HEAD.json``.

    Its process died before it did that, or is about to do it; the next run enters the record.
    """
    try:
        head = read_head(runs)
    except Unreadable:
        head = Head(schema_version=SCHEMA_VERSION, seq=0, sha256=GENESIS)
    newest = max(numbered(runs), default=None)
    if newest is None or newest[0] != head.seq + 1:
        return None
    stated = link_at(newest[0], newest[1] / RECORD_FILE).stated
    return newest[0] if stated is not None and stated.prev_hash == head.sha256 else None


def link_at(seq: int, path: Path) -> Link:
    """Return a record as it is on disk. An error becomes its ``fault``, so that the other records are checked too."""
    sha256, stated, fault = None, None, None
    try:
        data = _bytes(path)
        sha256 = sha256_hex(data)
        stated = ChainLink.parse(path, data, "record")
    except Unreadable as error:
        fault = error.why
    if stated is not None and stated.seq != seq:
        fault = f"says it is record {stated.seq}; its folder says {seq}"
    return Link(seq=seq, path=path, sha256=sha256, stated=stated, fault=fault)
