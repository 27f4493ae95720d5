"""
The chain of a class's run records: each has the SHA-256 of the one before it.

A record that was edited, exchanged or lost breaks the chain. The chain alone cannot show that its newest records were
removed or that all of it was rewritten: keep the newest hash, the head, elsewhere, and give it to ``benchgate verify``.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import AwareDatetime

from benchgate.artifacts.trial_kinds import Head
from benchgate.errors import ArtifactError, Unreadable
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.model import SCHEMA_VERSION, Artifact, Count, Sha256
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import model_bytes, write_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord


class ChainLink(Artifact):
    """The fields of a record that the chain needs."""

    seq: Count
    prev_hash: Sha256
    finished_at: AwareDatetime
    clock_regressed: bool


GENESIS: Final = "0" * 64
"""What the first record names as the hash of the one before it."""
# Not validated: that would build the model in every session, and most read no head.
FIRST: Final = Head.model_construct(schema_version=SCHEMA_VERSION, seq=0, sha256=GENESIS)
"""The head before there is a record."""
HEAD_FILE: Final = "HEAD.json"
RECORD_FILE: Final = "record.json"
PLAN_FILE: Final = "plan.json"
FOLDER_NAME: Final = re.compile(r"([0-9]{8,15})-\d{8}T\d{6}Z-[0-9a-f]{8}")
UNFINISHED: Final = "incomplete-"
LEFT_BY: Final = re.compile(r"incomplete-(gate|merge)-")
"""Begins the folder of a command that called no system: whoever types it again loses nothing."""
EXTENDING: Final = ".extends-{seq}-{stamp}"
"""Folder of an extension that is not whole yet. It begins with a dot: no run can be resumed from it."""
STAMP: Final = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """
    A record as it is on disk, valid or not.

    :param stated: what it says of itself, or all of it; ``None`` if it cannot be read, or for number 0, which the first
        one follows.
    """

    seq: int
    path: Path
    sha256: str | None
    stated: ChainLink | RunRecord | None
    fault: str | None


def record_folder(seq: int, finished: datetime, run_id: str) -> str:
    """Return the name of a record's folder."""
    return f"{seq:08d}-{finished:{STAMP}}-{run_id[:8]}"


def numbered(runs: Path) -> list[tuple[int, Path]]:
    """
    Return number and folder of each record in ``runs/<class>/``, in the order of the chain.

    :raises Unreadable: the folder cannot be listed.
    """
    try:
        names = os.listdir(runs)
    except OSError as error:
        raise Unreadable(runs, f"cannot be read: {error.strerror}") from error
    found = ((FOLDER_NAME.fullmatch(name), runs / name) for name in names)
    return sorted((int(name[1]), folder) for name, folder in found if name and folder.is_dir())


def next_number(runs: Path) -> int:
    """Return the number of the run that is recorded next in ``runs/<class>/``, which need not be there yet."""
    if not runs.is_dir():
        return 1
    return 1 + max((seq for seq, _ in numbered(runs)), default=0)


def read_end(runs: Path, copy: Callable[[Path], object]) -> Link:
    """
    Return the end of the chain in ``runs/<class>/``, checked against the newest record's bytes.

    If the last process died after it wrote its record but before it updated ``HEAD.json``, that is done now.
    Call it under the folder's lock.

    :param copy: finishes the copy of such a record's evidence, by its folder.
    :raises ArtifactError: head and records do not agree; nothing may be appended.
    """
    path = runs / HEAD_FILE
    end = _newest(runs)
    head = FIRST
    if path.exists():
        head = read_head(runs)
    if head is FIRST and end.seq > 1:
        raise ArtifactError(path, f"missing, though there is a record {end.seq}")
    if end.seq < head.seq:
        raise ArtifactError(path, f"names record {head.seq}, which is not there")
    if end.fault is not None:
        raise ArtifactError(end.path, end.fault)
    if _follows(end, head):
        copy(end.path.parent)
        write_head(runs, end.seq, str(end.sha256))
    elif end.seq != head.seq or end.sha256 != head.sha256:
        why = f"is not the record that {HEAD_FILE} names: edited, or added by hand"
        raise ArtifactError(end.path, why)
    return end


def _newest(runs: Path) -> Link:
    newest = max(numbered(runs), default=None)
    if newest is None:
        return Link(seq=0, path=runs, sha256=GENESIS, stated=None, fault=None)
    return link_at(newest[0], newest[1] / RECORD_FILE)


def _follows(link: Link, head: Head) -> bool:
    return (
        link.stated is not None
        and link.seq == head.seq + 1
        and link.stated.prev_hash == head.sha256
    )


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
        head = FIRST
    last = max((seq for seq, _ in numbered(runs)), default=0)
    if last != head.seq + 1:
        return None  # by its number alone: to read a record takes long
    newest = _newest(runs)
    if not _follows(newest, head):
        return None
    return newest.seq


def link_at(seq: int, path: Path, *, whole: bool = False) -> Link:
    """
    Return a record as it is on disk. An error becomes its ``fault``, so that the other records are checked too.

    :param whole: read all of it, if it is a valid record.
    """
    sha256 = None
    stated = None
    fault = None
    try:
        data = _bytes(path)
        sha256 = sha256_hex(data)
        stated = _stated(path, data, whole=whole)
    except Unreadable as error:
        fault = error.why
    if stated is not None and stated.seq != seq:
        fault = f"says it is record {stated.seq}; its folder says {seq}"
    return Link(seq=seq, path=path, sha256=sha256, stated=stated, fault=fault)


def _stated(path: Path, data: bytes, *, whole: bool) -> ChainLink | RunRecord:
    """Return what the bytes of a record say; as much of it as can be read."""
    if whole:
        from benchgate.artifacts.run_kinds import RunRecord

        try:
            return RunRecord.parse(path, data, "record")
        except Unreadable:
            pass  # the chain may be whole even so
    return ChainLink.parse(path, data, "record")
