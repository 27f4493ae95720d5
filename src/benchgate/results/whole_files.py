"""
``trials.sha256``: which files of a run are whole. Whoever has written one adds a line, as ``sha256sum`` prints it.

It guards against accidents alone: whoever can edit the file of a trial can edit this one too. The digest of this file,
kept elsewhere, guards against more: ``benchgate merge --expect``.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from benchgate.wire.files import read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES
from benchgate.wire.writing import artifact_errors, make_private

if TYPE_CHECKING:
    from pathlib import Path

WHOLE_FILES: Final = "trials.sha256"
_LINE: Final = re.compile(rb"^([0-9a-f]{64})  (.+)\n", re.MULTILINE)


def add_whole(folder: Path | str, name: str, sha256: str) -> None:
    """
    Add the line of a file, which is below ``folder`` and whole.

    :raises ArtifactError: it cannot be written.
    """
    path = f"{folder}/{WHOLE_FILES}"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with artifact_errors(path, "written"):
        descriptor = os.open(path, flags, 0o600)
        try:
            make_private(descriptor)
            os.write(descriptor, f"{sha256}  {name}\n".encode())  # at once: workers add lines too
        finally:
            os.close(descriptor)


def read_whole(folder: Path) -> dict[str, str]:
    """
    Return the SHA-256 of each file that is whole, by name; of several lines the last counts, and a torn one does not.

    :raises Unreadable: the file cannot be read.
    """
    if not os.path.lexists(folder / WHOLE_FILES):
        return {}
    data = read_bytes(folder / WHOLE_FILES, limit=MAX_JSON_BYTES)
    return {name.decode(errors="replace"): sha256.decode() for sha256, name in _LINE.findall(data)}
