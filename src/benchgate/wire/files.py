"""Safe reading of other people's files: regular files only, of limited size, inside their folder."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from functools import partial
from typing import TYPE_CHECKING, Final

from benchgate.errors import Unreadable
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader
    from pathlib import Path

MAX_TREE_BYTES: Final = 2**30
MAX_TREE_FILES: Final = 100_000
"""Most of what ``input/`` or ``expected/`` of one case may contain; a cassette may have as many bytes."""

MAX_SOURCE_BYTES: Final = 2**20
"""Largest Python file of a bench that is read."""

CHUNK: Final = 2**20


def read_bytes(path: Path | str, *, limit: int) -> bytes:
    """
    Read a regular file.

    :raises Unreadable: it cannot be opened, is no regular file, or is larger than ``limit`` bytes.
    """
    return b"".join(chunks(path, limit))


def file_sha256(
    path: Path | str, *, limit: int, on_chunk: Callable[[bytes], object] = lambda _: None
) -> str:
    """
    Return the SHA-256 of a regular file, which is never in memory as a whole.

    :param on_chunk: called with each part of the file, for whoever would otherwise read it again.
    :raises Unreadable: see :func:`read_bytes`.
    """
    digest = hashlib.sha256()
    for chunk in chunks(path, limit):
        digest.update(chunk)
        on_chunk(chunk)
    return digest.hexdigest()


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file or folder; whoever reads them finds out if one is missing."""
    if one == other:
        return True
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def chunks(path: Path | str, limit: int) -> Iterator[bytes]:
    """
    Yield a regular file in parts.

    :raises Unreadable: see :func:`read_bytes`; perhaps only after the parts that the limit allows.
    """
    try:
        descriptor, size = _open(path)
        try:
            # The size may say less than there is: a file may grow, and those of /proc have the size 0.
            block = min(CHUNK, size + 4096)
            done = 0
            while size <= limit and (chunk := os.read(descriptor, block)):
                yield chunk
                done += len(chunk)
                size = max(size, done)
        finally:
            os.close(descriptor)
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        raise Unreadable(path, why, missing=isinstance(error, FileNotFoundError)) from error
    except ValueError as error:  # also raised for a zero byte in the path
        raise Unreadable(path, str(error)) from error
    if size > limit:
        raise Unreadable(path, f"{size} bytes; at most {limit} are read")


def open_regular(path: Path | str) -> BufferedReader:
    """
    Open a regular file, to be closed by the caller.

    :raises OSError: it cannot be opened.
    :raises ValueError: it is no regular file.
    """
    return open(_open(path)[0], "rb")


def _open(path: Path | str) -> tuple[int, int]:
    """Return the descriptor of a regular file, and its size."""
    # O_NONBLOCK: opening a FIFO that nobody writes to would otherwise wait for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        return descriptor, status.st_size
    os.close(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    msg = "not a regular file"
    raise ValueError(msg)


def tree_files(folder: Path) -> list[tuple[str, str]]:
    """
    Return the relative POSIX path and the path of every file below a folder, sorted.

    :raises Unreadable: a folder cannot be read; contains something else than files and folders, such as a symlink to a
        folder or out of ``folder``; or more than :data:`MAX_TREE_FILES` files or :data:`MAX_TREE_BYTES` bytes.
    """
    found: list[tuple[str, str]] = []
    size = 0
    try:
        for name, entry in _walk(os.fspath(folder)):
            found.append((name, entry.path))
            size += entry.stat().st_size
            if size > MAX_TREE_BYTES or len(found) > MAX_TREE_FILES:
                is_large = size > MAX_TREE_BYTES
                most = f"{MAX_TREE_BYTES} bytes" if is_large else f"{MAX_TREE_FILES} files"
                raise Unreadable(folder, f"more than {most}; so large a folder is not read")
    except OSError as error:
        raise Unreadable(folder, f"cannot be read: {error.strerror}") from error
    return sorted(found)


def _walk(root: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    waiting = [(root, "")]
    while waiting:
        folder, prefix = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                relative = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, relative + "/"))
                    continue
                if entry.is_symlink() and not _inside(entry.path, root):
                    raise Unreadable(root, f"{relative} is a symlink that leaves the folder")
                if not entry.is_file():
                    raise Unreadable(root, f"{relative} is no regular file")
                yield relative, entry


def _inside(path: str, root: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(root) + os.sep)


def tree_digest(folder: Path, on_chunk: Callable[[str, bytes], object] = lambda *_: None) -> str:
    """
    Return the SHA-256 over names and bytes of all files below a folder.

    The hashed bytes are ``<sha256 of the file>  <name>`` and a zero byte for each file, sorted by name.

    :param on_chunk: called with the name of a file and each part of it, in that order.
    :raises Unreadable: a file cannot be read, or see :func:`tree_files`.
    """
    rows = (
        f"{file_sha256(path, limit=MAX_TREE_BYTES, on_chunk=partial(on_chunk, name))}  {name}\0"
        for name, path in tree_files(folder)
    )
    return sha256_hex("".join(rows).encode(errors="surrogateescape"))
