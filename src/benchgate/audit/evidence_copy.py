"""
The copy of the newest run's evidence, ``evidence/<class>/``: what most readers look at.

It has the bytes of the record's folder, whichever version or rules made them, so that the digests in the record hold
for it too. Only the path of the record is another one from there.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from benchgate.artifacts.run_kinds import OWN_RECORD
from benchgate.audit.chain import RECORD_FILE
from benchgate.errors import ArtifactError
from benchgate.wire.files import read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import make_folder, write_file

if TYPE_CHECKING:
    from pathlib import Path

PROMOTION_FILE: Final = "promotion.json"
"""The file that names its record."""


def write_copy(copy: Path, folder: Path) -> str | None:
    """Replace the copy by the evidence in a record's folder; return why it is incomplete, if it is."""
    own = _reference(OWN_RECORD)
    there = _reference(path_from(copy, folder))
    try:
        stored = {
            path.name: read_bytes(path, limit=MAX_JSON_BYTES)
            for path in (folder / "evidence").iterdir()
        }
        make_folder(copy)
        for stale in set(os.listdir(copy)) - set(stored):
            (copy / stale).unlink()
        for name, data in stored.items():
            copied = data
            if name == PROMOTION_FILE:
                copied = data.replace(own, there)
            write_file(copy / name, copied)
    except (ArtifactError, OSError) as error:
        return f"the copy of the evidence is incomplete: {error}"
    return None


def path_from(copy: Path, folder: Path) -> str:
    """Return the path of the record in a folder, as its evidence names it in the copy."""
    return os.path.relpath(folder / RECORD_FILE, copy)


def as_recorded(name: str, data: bytes, path: str) -> bytes:
    """
    Return a file of evidence as the folder of its record has it, so that it has the digest in there.

    :param path: of the record, as that evidence names it.
    """
    if name != PROMOTION_FILE or path == OWN_RECORD:
        return data
    own = _reference(OWN_RECORD)
    # A copy that names the record as its own folder does leads nowhere: nothing has the digest of this.
    return data.replace(own, b"\0").replace(_reference(path), own)


def _reference(path: str) -> bytes:
    """Return how ``promotion.json`` refers to a record; no text in it can look like that."""
    return b'"path": ' + json.dumps(path, ensure_ascii=False).encode()
