"""The copy of the newest run's evidence, ``evidence/<class>/``: what most readers look at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchgate.artifacts.reading import read_artifact
from benchgate.artifacts.run_kinds import PromotionReport, RecordRef
from benchgate.audit.chain import RECORD_FILE
from benchgate.errors import ArtifactError
from benchgate.wire.writing import make_folder, model_bytes, write_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def reference_from(copy: Path, folder: Path, seq: int) -> RecordRef:
    """Return the reference to a record as seen from the copy: it lies elsewhere, so it is another relative path."""
    return RecordRef(seq=seq, path=os.path.relpath(folder / RECORD_FILE, copy))


def replace_copy(copy: Path, files: Mapping[str, bytes]) -> str | None:
    """Put files in the place of the copy; return why it is not whole, if it is not."""
    try:
        make_folder(copy)
        for stale in set(os.listdir(copy)) - set(files):
            (copy / stale).unlink()
        for name, data in files.items():
            write_file(copy / name, data)
    except (ArtifactError, OSError) as error:
        return f"the copy of the evidence is not whole: {error}"
    return None


def restore_copy(copy: Path, folder: Path) -> None:
    """Make the copy anew from the evidence in a record's folder."""
    stored = folder / "evidence"
    files = {path.name: path.read_bytes() for path in stored.iterdir()}
    report = read_artifact(stored / "promotion.json", PromotionReport)
    if report is not None and report.record_ref is not None:
        reference = reference_from(copy, folder, report.record_ref.seq)
        moved = report.model_copy(update={"record_ref": reference})
        files["promotion.json"] = model_bytes(moved)
    replace_copy(copy, files)
