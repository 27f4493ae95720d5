"""The folder of a task class as one block of bytes."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from typing import TYPE_CHECKING, Final

from benchgate.errors import Unreadable
from benchgate.wire.files import MAX_TREE_BYTES, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LEFT_OUT: Final = "__pycache__"
THEN: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that equal folders give equal bytes."""


def pack(class_path: Path) -> bytes:
    """
    Return a ZIP archive of a class's folder, below the name of the class; equal files give equal bytes.

    :raises Unreadable: a link, which may lead anywhere; or a file that cannot be read; or all have more than 1 GiB.
    """
    packed, left = io.BytesIO(), MAX_TREE_BYTES
    with zipfile.ZipFile(packed, "w") as archive:
        for path in _files(class_path):
            data = read_bytes(path, limit=left)
            left -= len(data)
            member = zipfile.ZipInfo(path.relative_to(class_path.parent).as_posix(), THEN)
            member.external_attr = (0o700 if os.access(path, os.X_OK) else 0o600) << 16
            archive.writestr(member, data)
    return packed.getvalue()


def unpack(data: bytes, folder: Path, below: str = "") -> None:
    """Write what :func:`pack` returned into a folder; with ``below``, only that path of it, in the place of what is."""
    if below:
        shutil.rmtree(folder / below, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.filename.startswith(below):
                archive.extract(member, folder)
                os.chmod(folder / member.filename, member.external_attr >> 16)


def _files(class_path: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(class_path):
        folders[:] = sorted(set(folders) - {LEFT_OUT})
        here = class_path / os.path.relpath(parent, class_path)
        for name in (*folders, *files):
            if os.path.islink(here / name):
                raise Unreadable(here / name, "is a link; workers are sent files alone")
        yield from (here / name for name in sorted(files))
