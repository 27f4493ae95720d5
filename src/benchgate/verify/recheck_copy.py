"""Compares the copy of the newest evidence, ``evidence/<class>/``, with the record that it was copied from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from benchgate.artifacts.run_kinds import PromotionReport
from benchgate.audit.chain import numbered, unentered
from benchgate.audit.evidence_copy import promotion_in_copy
from benchgate.audit.runs import read_record
from benchgate.audit.walk import ChainFault
from benchgate.errors import Unreadable
from benchgate.verify.agreement import plain, same
from benchgate.wire.files import file_sha256
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord


AFTER: Final = 10**15
"""Number of faults that concern no single record: sorts them last."""


def copy_faults(copy: Path, runs: Path) -> Iterator[ChainFault]:
    """
    Compare the copy of the newest evidence, which most readers look at, with the record.

    Until the newest record is entered its evidence is being copied: a file may still be that of the record before.
    """
    # Listed again: runs may have ended since the chain was checked.
    waiting = unentered(runs)
    count = 1
    if waiting is not None:
        count = 2
    newest = [folder for _, folder in numbered(runs)[-count:]]
    sources = [(folder, record) for folder in newest if (record := read_record(folder))]
    if newest and not sources:  # a record that cannot be read is reported already
        return
    there = set(os.listdir(copy)) if copy.is_dir() else set()
    wanted = {name for _, record in sources for name in record.evidence_files}
    for name in sorted(there | (set() if waiting is not None else wanted)):
        if name not in there:
            yield ChainFault(AFTER, copy / name, "missing; the newest record has it")
            continue
        faults = [_copy_fault(copy / name, folder, record) for folder, record in sources]
        if faults and all(faults) and faults[-1] is not None:
            yield ChainFault(AFTER, copy / name, faults[-1])
        elif not faults:
            yield ChainFault(AFTER, copy / name, "evidence of a class without a record")


def _copy_fault(path: Path, folder: Path, record: RunRecord) -> str | None:
    """Return why a file of the copy is not that of a record, ``None`` if it is."""
    if path.name not in record.evidence_files:
        return "the newest record has no such evidence"
    if path.name == "promotion.json":
        return next(_promotion_faults(path, folder), None)
    same_bytes = digest_of(path) == record.evidence_files[path.name]
    return None if same_bytes else "not the evidence of the newest record"


def _promotion_faults(path: Path, folder: Path) -> Iterator[str]:
    copied = PromotionReport.read_or_none(path)
    expected = promotion_in_copy(path.parent, folder)
    if path.is_symlink() or copied is None or expected is None:
        yield "no valid promotion report"
        return
    yield from same("promotion", plain(expected), plain(copied))


def digest_of(path: Path) -> str | None:
    """Return the SHA-256 of a file, ``None`` if it cannot be read or is a symlink."""
    try:
        return None if path.is_symlink() else file_sha256(path, limit=MAX_JSON_BYTES)
    except Unreadable:
        return None
