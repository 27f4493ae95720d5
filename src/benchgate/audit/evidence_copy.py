"""The copy of the newest run's evidence, ``evidence/<class>/``: what most readers look at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import PromotionReport, RecordRef
from benchgate.audit.chain import RECORD_FILE
from benchgate.errors import ArtifactError
from benchgate.wire.files import read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import make_folder, model_bytes, write_file

if TYPE_CHECKING:
    from pathlib import Path


def write_copy(copy: Path, folder: Path) -> str | None:
    """Replace the copy by the evidence in a record's folder; return why it is incomplete, if it is."""
    try:
        stored = folder / "evidence"
        files = {path.name: read_bytes(path, limit=MAX_JSON_BYTES) for path in stored.iterdir()}
        promotion = promotion_in_copy(copy, folder)
        if promotion is None:
            return "the copy of the evidence is incomplete: promotion.json cannot be read"
        files["promotion.json"] = model_bytes(promotion)
        make_folder(copy)
        for stale in set(os.listdir(copy)) - set(files):
            (copy / stale).unlink()
        for name, data in files.items():
            write_file(copy / name, data)
    except (ArtifactError, OSError) as error:
        return f"the copy of the evidence is incomplete: {error}"
    return None


def promotion_in_copy(copy: Path, folder: Path) -> PromotionReport | None:
    """Return a record's ``promotion.json`` as the copy must have it: with the record's path relative to the copy."""
    report = PromotionReport.read_or_none(folder / "evidence" / "promotion.json")
    if report is None or report.record_ref is None:
        return None
    reference = RecordRef(
        seq=report.record_ref.seq, path=os.path.relpath(folder / RECORD_FILE, copy)
    )
    return report.model_copy(update={"record_ref": reference})
