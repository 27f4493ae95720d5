"""Ends a run that nobody completes: a record in the chain says so, and keeps what the run had left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import ClosedRecord
from benchgate.audit.chain import (
    CLOSED_ID,
    PLAN_FILE,
    RECORD_FILE,
    record_folder,
    write_head,
)
from benchgate.audit.evidence_copy import settled_end
from benchgate.audit.runs import chosen
from benchgate.audit.unfinished import remove_draft
from benchgate.audit.whole_files import WHOLE_FILES
from benchgate.errors import ArtifactError
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import file_sha256
from benchgate.wire.holding import hold
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import locked, model_bytes, rename, write_file

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


def close(runs: Path, copy: Path, wanted: str | Path, reason: str, now: datetime) -> str:
    """
    Close a run that has no record and that no process runs.

    :param wanted: its folder.
    :param copy: the copy of the newest evidence, which stays as it is.
    :returns: the new head of the chain, ``SEQ:SHA256``.
    :raises ArtifactError: there is no such run, it is recorded or still running, or the chain is damaged.
    """
    with locked(runs):
        end = settled_end(runs, copy)
        left = chosen(runs, wanted)
        if left.seq is not None:
            raise ArtifactError(left.folder, f"is not to be closed: it has a record, {left.state}")
        held = hold(left.folder)
        if held is None:
            raise ArtifactError(left.folder, "is not to be closed: a process still runs it")
        record = ClosedRecord(
            schema_version=SCHEMA_VERSION,
            report_kind="closed",
            seq=end.seq + 1,
            prev_hash=end.sha256,
            finished_at=now,
            clock_regressed=end.finished_at is not None and now < end.finished_at,
            task_class=runs.name,
            closes=left.folder.name,
            reason=reason,
            plan_sha256=_digests(left.folder).get(PLAN_FILE),
            case_files=_digests(left.folder / "cases"),
        )
        remove_draft(left.folder)
        (left.folder / WHOLE_FILES).unlink(missing_ok=True)  # the record has the digests
        data = model_bytes(record)
        write_file(left.folder / RECORD_FILE, data)
        rename(left.folder, runs / record_folder(record.seq, now, CLOSED_ID))
        write_head(runs, record.seq, sha256_hex(data))
        held.close()
    return f"{record.seq}:{sha256_hex(data)}"


def _digests(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.iterdir()) if path.is_file()] if folder.is_dir() else []
    return {path.name: file_sha256(path, limit=MAX_JSON_BYTES) for path in files}
