"""
The chain of a class's run records: each names the SHA-256 of the one before it.

That shows an edited, exchanged or lost record to whoever kept the newest hash, the head. Without a head that was kept
elsewhere, a chain that was cut at its end or written anew looks whole.
"""

from __future__ import annotations

import os
import re
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
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path


class ChainLink(WireModel):
    """What the chain needs of a record: less than all of it, so that records of an older version still hold."""

    schema_version: Version
    seq: Count
    prev_hash: Sha256
    finished_at: AwareDatetime
    clock_regressed: bool


Model = TypeVar("Model", Head, ChainLink)

GENESIS: Final = "0" * 64
HEAD_FILE: Final = "HEAD.json"
RECORD_FILE: Final = "record.json"
FOLDER_NAME: Final = re.compile(r"([0-9]{8,15})-\d{8}T\d{6}Z-[0-9a-f]{8}")
UNFINISHED: Final = "incomplete-"
MAX_BYTES: Final = 256 * 1024 * 1024
"""Of one record; a run of a hundred thousand trials has less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEnd:
    """Where the next record goes: after ``seq``, naming ``sha256``; ``finished_at`` is the last one's."""

    seq: int
    sha256: str
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class ChainFault:
    """What does not hold: the number of the record, where it is or should be, and why."""

    seq: int
    path: Path
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A record as it lies there; ``stated`` is ``None`` if it cannot be read."""

    seq: int
    path: Path
    sha256: str | None
    stated: ChainLink | None
    fault: str | None


def numbered(runs: Path) -> list[tuple[int, Path]]:
    """Return number and folder of each record in ``runs/<class>/``, in the order of the chain."""
    found = ((FOLDER_NAME.fullmatch(folder.name), folder) for folder in runs.iterdir())
    return sorted((int(name[1]), folder) for name, folder in found if name and folder.is_dir())


def read_end(runs: Path) -> ChainEnd:
    """
    Return the end of the chain in ``runs/<class>/``, checked against the newest record's bytes.

    A record that was written but not yet entered into ``HEAD.json`` when its process died is entered now.
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
        head = _read(head_path, Head)
    if newest is None and head.seq == 0:
        return ChainEnd(seq=0, sha256=GENESIS, finished_at=None)
    if newest is None or newest[0] < head.seq:
        raise ArtifactError(head_path, f"names record {head.seq}, which is not there")
    return _checked_end(runs, head, *newest)


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


def _bytes(path: Path) -> bytes:
    if path.is_symlink():
        raise ValueError("is a symlink; a record is all in its folder")
    return read_regular(path, limit=MAX_BYTES)


def _read(path: Path, model: type[Model]) -> Model:
    try:
        return model.read_json(_bytes(path))
    except (OSError, ValueError) as error:
        message = error.strerror if isinstance(error, OSError) else first_fault(error)
        raise ArtifactError(path, f"damaged: {message}; nothing is appended after it") from error


def write_head(runs: Path, seq: int, sha256: str) -> None:
    """Enter the newest record into ``HEAD.json``."""
    head = Head(schema_version=SCHEMA_VERSION, seq=seq, sha256=sha256)
    write_file(runs / HEAD_FILE, model_bytes(head))


def chain_faults(runs: Path, retained: Head | None = None) -> list[ChainFault]:
    """
    Walk the chain in ``runs/<class>/`` and return what does not hold, the first record first.

    :param retained: a head that was kept elsewhere: that record must be there, unchanged.
    """
    found = numbered(runs)
    if not (found or retained or os.path.lexists(runs / HEAD_FILE)):
        return []
    try:
        head, faults = _read(runs / HEAD_FILE, Head), []
    except ArtifactError as error:
        # Of a first record that is not entered yet there is no head.
        waiting = not os.path.lexists(runs / HEAD_FILE) and unentered(runs) is not None
        fault = ChainFault(0, runs / HEAD_FILE, error.message.partition(";")[0])
        head, faults = None, [] if waiting else [fault]
    links = [_link(seq, folder / RECORD_FILE) for seq, folder in found]
    witnesses = [(HEAD_FILE, head), ("the head that was kept", retained)]
    faults += _gaps(runs, links, [h.seq for _, h in witnesses if h is not None])
    return sorted([*faults, *_link_faults(links, witnesses)], key=lambda fault: fault.seq)


def _gaps(runs: Path, links: list[Link], named: list[int]) -> Iterator[ChainFault]:
    """Yield the stretches of numbers without a record, up to the last that is there or named."""
    last = max((*(link.seq for link in links), *named), default=0)
    there = sorted({link.seq for link in links if link.seq})
    for before, after in zip([0, *there], [*there, last + 1], strict=True):
        if after - before > 1:
            lost = f"record {before + 1}" + (f" to {after - 1}" if after - before > 2 else "")
            path = runs / f"{before + 1:08d}-..."
            yield ChainFault(before + 1, path, f"missing: {lost} was removed")


def unentered(runs: Path) -> int | None:
    """
    Return the number of a newest record that follows on the head but is not entered in it.

    Its process died between the two, or is about to enter it; the next run enters it.
    """
    try:
        head = _read(runs / HEAD_FILE, Head)
    except ArtifactError:
        head = Head(schema_version=SCHEMA_VERSION, seq=0, sha256=GENESIS)
    newest = max(numbered(runs), default=None)
    if newest is None or newest[0] != head.seq + 1:
        return None
    stated = _link(newest[0], newest[1] / RECORD_FILE).stated
    return newest[0] if stated is not None and stated.prev_hash == head.sha256 else None


def _link(seq: int, path: Path) -> Link:
    sha256, stated, fault = None, None, None
    try:
        data = _bytes(path)
        sha256 = sha256_hex(data)
        stated = ChainLink.read_json(data)
    except OSError as error:
        fault = f"cannot be read: {error.strerror}"
    except ValueError as error:
        fault = f"no record: {first_fault(error)}"
    if stated is not None and stated.seq != seq:
        fault = f"says it is record {stated.seq}; its folder says {seq}"
    return Link(seq=seq, path=path, sha256=sha256, stated=stated, fault=fault)


def _link_faults(
    links: list[Link], witnesses: list[tuple[str, Head | None]]
) -> Iterator[ChainFault]:
    """
    Judge each record by what names its hash, from the newest on.

    Of two neighbours that do not fit, the one is at fault that its own witnesses do not confirm; what a record at fault
    says of the one before it counts for nothing.
    """
    after: Link | None = None
    sound = True
    for link in reversed(links):
        faults = [
            *_own_faults(link),
            *_named_otherwise(link, witnesses),
            *_beyond(link, witnesses[0][1]),
        ]
        if after is not None and after.seq == link.seq:
            faults.append(f"there is a second record {link.seq}: the chain is forked")
        elif after is not None and sound and not _follows(after, link):
            faults.append(f"is not the record that record {after.seq} names")
        yield from (ChainFault(link.seq, link.path, fault) for fault in faults)
        after, sound = link, not faults


def _own_faults(link: Link) -> Iterator[str]:
    if link.fault is not None:
        yield link.fault
    elif link.seq == 1 and link.stated is not None and link.stated.prev_hash != GENESIS:
        yield "is the first record, but names one before it"


def _named_otherwise(link: Link, witnesses: list[tuple[str, Head | None]]) -> Iterator[str]:
    for name, head in witnesses:
        if head is not None and head.seq == link.seq and head.sha256 != link.sha256:
            yield f"is not the record that {name} names: edited or exchanged"


def _follows(after: Link, link: Link) -> bool:
    if after.seq != link.seq + 1 or after.stated is None:
        return True  # one between is missing, which is said elsewhere
    return after.stated.prev_hash == link.sha256


def _beyond(link: Link, head: Head | None) -> Iterator[str]:
    # One more than the head names is what a killed process leaves; see unentered().
    if head is None or link.seq <= head.seq:
        return
    if link.seq > head.seq + 1:
        yield f"not entered in {HEAD_FILE}: added by hand"
    elif link.stated is not None and link.stated.prev_hash != head.sha256:
        yield f"does not follow the record that {HEAD_FILE} names: added by hand"
