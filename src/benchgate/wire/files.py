"""Safe reading of other people's files: regular files only, of limited size, inside their folder."""

from __future__ import annotations

import os
import stat
from typing import IO, TYPE_CHECKING

from benchgate.errors import Unreadable
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read_bytes(path: Path | str, *, limit: int | None = None) -> bytes:
    """
    Read a regular file.

    :raises Unreadable: it cannot be opened, is no regular file, or is larger than ``limit`` bytes.
    """
    try:
        return _read(path, limit)
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        raise Unreadable(path, why, missing=isinstance(error, FileNotFoundError)) from error
    except ValueError as error:  # also raised for a zero byte in the path
        raise Unreadable(path, str(error)) from error


def _read(path: Path | str, limit: int | None) -> bytes:
    with open_regular(path, limit) as file:
        return file.read()


def open_regular(path: Path | str, limit: int | None = None) -> IO[bytes]:
    """
    Open a regular file to read; the caller closes it.

    :raises ValueError: it is no regular file, or larger than ``limit`` bytes; :raises OSError: it cannot be opened.
    """
    # O_NONBLOCK: opening a FIFO that nobody writes to would otherwise wait for ever.
    file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")  # noqa: SIM115
    status = os.fstat(file.fileno())
    msg = None
    if not stat.S_ISREG(status.st_mode):
        msg = "not a regular file"
    elif limit is not None and status.st_size > limit:
        msg = f"{status.st_size} bytes; at most {limit} are read"
    if msg is None:
        return file
    file.close()
    raise ValueError(msg)


def tree_files(folder: Path) -> list[tuple[str, str]]:
    """
    Return the relative POSIX path and the path of every file below a folder, sorted.

    :raises Unreadable: a folder cannot be read, or contains something else than files and folders, such as a symlink to
        a folder or out of ``folder``.
    """
    try:
        return sorted(_walk(os.fspath(folder), "", os.fspath(folder)))
    except OSError as error:
        raise Unreadable(folder, f"cannot be read: {error.strerror}") from error


def _walk(folder: str, prefix: str, root: str) -> Iterator[tuple[str, str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            relative = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, relative + "/", root)
                continue
            if entry.is_symlink() and not _inside(entry.path, root):
                raise Unreadable(root, f"{relative} is a symlink that leaves the folder")
            if not entry.is_file():
                raise Unreadable(root, f"{relative} is no regular file")
            yield relative, entry.path


def _inside(path: str, root: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(root) + os.sep)


def tree_digest(folder: Path) -> str:
    """
    Return the SHA-256 over names and bytes of all files below a folder.

    The hashed bytes are ``<sha256 of the file>  <name>`` and a zero byte for each file, sorted by name.

    :raises Unreadable: a file cannot be read, or see :func:`tree_files`.
    """
    rows = (f"{sha256_hex(read_bytes(path))}  {name}\0" for name, path in tree_files(folder))
    return sha256_hex("".join(rows).encode(errors="surrogateescape"))
