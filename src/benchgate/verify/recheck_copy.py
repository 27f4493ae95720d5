"""Compares the copy of the newest evidence, ``evidence/<class>/``, with the record that it was copied from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from benchgate.artifacts.run_kinds import OWN_RECORD
from benchgate.audit.chain import numbered, unentered
from benchgate.audit.evidence_copy import as_recorded, path_from
from benchgate.audit.runs import read_record
from benchgate.audit.walk import ChainFault
from benchgate.errors import Unreadable
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord


AFTER: Final = 10**15
"""Number of faults that concern no single record: sorts them last."""


def copy_faults(copy: Path, runs: Path, known: Mapping[Path, RunRecord]) -> Iterator[ChainFault]:
    """
    Compare the copy of the newest evidence, which most readers look at, with the record.

    Until the newest record is entered its evidence is being copied: a file may still be that of the record before.

    :param known: by their folder, records that were read already.
    """
    # Listed again: runs may have ended since the chain was checked.
    is_entered = unentered(runs) is None
    newest = [folder for _, folder in numbered(runs)[-2:]]
    if is_entered:
        newest = newest[-1:]
    read = [(folder, known.get(folder) or read_record(folder)) for folder in newest]
    sources = [(folder, record) for folder, record in read if record is not None]
    if newest and not sources:  # a record that cannot be read is reported already
        return
    there: set[str] = set()
    if copy.is_dir():
        there = set(os.listdir(copy))
    missing: set[str] = set()
    if is_entered and sources:
        missing = sources[-1][1].evidence_files.keys() - there
    for name in sorted(missing):
        yield ChainFault(AFTER, copy / name, "missing; the newest record has it")
    for name in sorted(there):
        why = _why_none(copy / name, sources)
        if why is not None:
            yield ChainFault(AFTER, copy / name, why)


def _why_none(path: Path, sources: list[tuple[Path, RunRecord]]) -> str | None:
    """Return why a file of the copy is of none of the records, the newest of which is the last; ``None`` if it is."""
    why = "evidence of a class without a record"
    for folder, record in sources:
        if path.name not in record.evidence_files:
            why = "the newest record has no such evidence"
        elif digest_of(path, path_from(path.parent, folder)) == record.evidence_files[path.name]:
            return None
        else:
            why = "not the evidence of the newest record"
    return why


def digest_of(path: Path, record: str = OWN_RECORD) -> str | None:
    """
    Return the SHA-256 of a file, ``None`` if it cannot be read or is a symlink.

    :param record: its path as a file of evidence has it, see :func:`~benchgate.audit.evidence_copy.as_recorded`.
    """
    if path.is_symlink():
        return None
    try:
        return sha256_hex(as_recorded(path.name, read_bytes(path, limit=MAX_JSON_BYTES), record))
    except Unreadable:
        return None
