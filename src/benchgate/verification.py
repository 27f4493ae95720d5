"""
Verifying an output folder: the chain of each class, every digest, and every decision drawn again.

Done by another process than the one that ran the bench, best in another job: what a system did to the session that
scored it cannot reach this far.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.agreement import plain, same
from benchgate.artifacts.rebuild import read_artifact
from benchgate.artifacts.recheck_record import recheck_record
from benchgate.artifacts.run_kinds import PromotionReport, RunRecord
from benchgate.audit import (
    FOLDER_NAME,
    HEAD_FILE,
    RECORD_FILE,
    UNFINISHED,
    ChainFault,
    chain_faults,
    numbered,
)
from benchgate.canonical import sha256_hex
from benchgate.errors import ArtifactError
from benchgate.files import read_regular
from benchgate.wire import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import Head

PARTS: Final = frozenset({RECORD_FILE, "cases", "evidence"})
AFTER: Final = 10**9
"""Sorts what concerns no single record behind all that do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassVerification:
    """
    What there is of one class.

    :param records: how many records there are.
    :param newest: the newest record, if it can be read.
    :param head: ``SEQ:SHA256`` of the newest record.
    :param anchored_at: number of the record that a head kept elsewhere names; ``None`` if none was given.
    :param faults: what does not hold, the first record first.
    """

    task_class: str
    records: int
    newest: RunRecord | None
    head: str | None
    anchored_at: int | None
    faults: tuple[ChainFault, ...]


def verify(
    out: Path, retained: Mapping[str, Head], *, require_complete: bool = False
) -> tuple[ClassVerification, ...]:
    """
    Verify every class in an output folder, and those of which a head was kept.

    :param retained: heads that were kept elsewhere, by class.
    :param require_complete: also object to a class without a record, to a newest run that is incomplete, and to a
        session that began and left no record.
    :raises ArtifactError: the folder cannot be read, or there is no run in it.
    """
    runs = out / "runs"
    try:
        names = (
            {entry.name for entry in runs.iterdir() if entry.is_dir()} if runs.exists() else set()
        )
        os.listdir(out)
    except OSError as error:
        raise ArtifactError(out, f"cannot be read: {error.strerror}") from error
    return tuple(
        _verify_class(out, name, retained.get(name), require_complete=require_complete)
        for name in sorted(names | set(retained))
    )


def _verify_class(
    out: Path, name: str, kept: Head | None, *, require_complete: bool
) -> ClassVerification:
    runs = out / "runs" / name
    if not runs.is_dir():
        gone = ChainFault(0, runs, "missing: there is no record of this class")
        return ClassVerification(
            task_class=name, records=0, newest=None, head=None, anchored_at=None, faults=(gone,)
        )
    found = numbered(runs)
    faults = chain_faults(runs, kept)
    records = [(seq, folder, _read(folder)) for seq, folder in found]
    faults += _record_faults(records)
    faults += [ChainFault(AFTER, path, message) for path, message in _strays(runs)]
    newest = records[-1] if records else None
    if newest is not None and newest[2] is not None:
        faults += _copy_faults(out / "evidence" / name, newest[1], newest[2])
    if require_complete:
        faults += _incompleteness(runs, newest[2] if newest else None)
    return ClassVerification(
        task_class=name,
        records=len(records),
        newest=newest[2] if newest else None,
        head=_head(newest) if newest else None,
        anchored_at=kept.seq if kept else None,
        faults=tuple(sorted(faults, key=lambda fault: fault.seq)),
    )


def _read(folder: Path) -> RunRecord | None:
    return read_artifact(folder / RECORD_FILE, RunRecord)


def _head(newest: tuple[int, Path, RunRecord | None]) -> str | None:
    try:
        return f"{newest[0]}:{sha256_hex(read_regular(newest[1] / RECORD_FILE))}"
    except (OSError, ValueError):
        return None


def _record_faults(records: list[tuple[int, Path, RunRecord | None]]) -> Iterator[ChainFault]:
    before: RunRecord | None = None
    for seq, folder, record in records:
        if record is None:
            yield ChainFault(seq, folder / RECORD_FILE, _unreadable(folder / RECORD_FILE))
        else:
            for message in (*_folder_faults(folder, record), *recheck_record(folder, record)):
                yield ChainFault(seq, folder, message)
            if before is not None and record.clock_regressed != (
                record.finished_at < before.finished_at
            ):
                yield ChainFault(seq, folder, "clock_regressed is not what the times say")
        before = record


def _unreadable(path: Path) -> str:
    try:
        RunRecord.read_json(read_regular(path))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except ValueError as error:
        return f"no valid record: {first_fault(error)}"
    return "changed while it was read"


def _folder_faults(folder: Path, record: RunRecord) -> Iterator[str]:
    stamp = f"{record.finished_at:%Y%m%dT%H%M%SZ}"
    expected = f"{record.seq:08d}-{stamp}-{record.report.run_id[:8]}"
    if folder.name != expected:
        yield f"the folder of this record is called {expected}"
    for name in sorted(set(os.listdir(folder)) - PARTS):
        yield f"{name}: not part of a record: added later"


def _strays(runs: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(runs.iterdir()):
        known = path.name == HEAD_FILE or path.name.startswith((".", UNFINISHED))
        if not known and not (path.is_dir() and FOLDER_NAME.fullmatch(path.name)):
            yield path, "neither a record nor anything else that benchgate writes"


def _copy_faults(copy: Path, folder: Path, record: RunRecord) -> Iterator[ChainFault]:
    """Hold the copy of the newest evidence, which most readers look at, against the record."""
    there = set(os.listdir(copy)) if copy.is_dir() else set()
    for name in sorted(there | set(record.evidence_files)):
        if name not in there:
            yield ChainFault(AFTER, copy / name, "missing; the newest record has it")
        elif name not in record.evidence_files:
            yield ChainFault(AFTER, copy / name, "the newest record has no such evidence")
        elif name == "promotion.json":
            yield from _promotion_faults(copy / name, folder)
        elif _digest(copy / name) != record.evidence_files[name]:
            yield ChainFault(AFTER, copy / name, "not the evidence of the newest record")


def _promotion_faults(path: Path, folder: Path) -> Iterator[ChainFault]:
    # It names the record from where it lies, so it cannot be the same bytes.
    found = read_artifact(path, PromotionReport)
    own = read_artifact(folder / "evidence" / path.name, PromotionReport)
    if found is None or found.record_ref is None or own is None:
        yield ChainFault(AFTER, path, "no valid promotion report")
        return
    sides: list[dict[str, Any]] = [plain(own), plain(found)]
    for side in sides:
        side.pop("record_ref")
    for message in same("promotion", *sides):
        yield ChainFault(AFTER, path, message)
    if (path.parent / found.record_ref.path).resolve() != (folder / RECORD_FILE).resolve():
        yield ChainFault(AFTER, path, f"record_ref names {found.record_ref.path}")


def _digest(path: Path) -> str | None:
    try:
        return sha256_hex(read_regular(path))
    except (OSError, ValueError):
        return None


def _incompleteness(runs: Path, newest: RunRecord | None) -> Iterator[ChainFault]:
    if newest is None:
        yield ChainFault(AFTER, runs, "there is no record")
    elif not newest.report.complete:
        yield ChainFault(newest.seq, runs, f"the newest run, record {newest.seq}, is incomplete")
    for path in sorted(runs.glob(f"{UNFINISHED}*")):
        yield ChainFault(AFTER, path, "a session began and left no record: it was killed or exited")
