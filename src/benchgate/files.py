"""Reading what other people wrote: regular files only, bounded, and never outside their folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tomli

from benchgate.canonical import digest, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TOML_BYTES: Final = 64 * 1024


def read_regular(path: Path, *, limit: int | None = None) -> bytes:
    """
    Read a regular file.

    :raises ValueError: not a regular file, or larger than ``limit`` bytes.
    :raises OSError: it cannot be opened.
    """
    # O_NONBLOCK: opening a FIFO that nobody writes to would otherwise wait for ever.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            msg = "not a regular file"
            raise ValueError(msg)
        if limit is not None and status.st_size > limit:
            msg = f"{status.st_size} bytes; at most {limit} are read"
            raise ValueError(msg)
        return file.read()


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """
    Read a TOML file that a person wrote; return its tables and its text.

    :raises ValueError: too large, not UTF-8, not TOML, or nested beyond reason; the message holds a line if known.
    :raises OSError: it cannot be opened.
    """
    text = read_regular(path, limit=MAX_TOML_BYTES).decode("utf-8")
    try:
        return tomli.loads(text), text
    except RecursionError:
        msg = "tables or arrays are nested too deeply"
        raise ValueError(msg) from None


def tree_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """
    Yield relative POSIX path and path of every file below a folder, sorted.

    :raises ValueError: a symlink to a folder, or one that leaves the folder.
    """
    root = os.path.realpath(folder)
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in [*folders, *sorted(names)]:
            path = Path(parent, name)
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink():
                if not os.path.realpath(path).startswith(root + os.sep):
                    msg = f"{relative} is a symlink that leaves the folder"
                    raise ValueError(msg)
                if path.is_dir():
                    msg = f"{relative} is a symlink to a folder"
                    raise ValueError(msg)
            if name not in folders:
                yield relative, path


def tree_digest(folder: Path) -> str:
    """
    Return the SHA-256 over names and bytes of all files below a folder.

    :raises ValueError: see :func:`tree_files`; :raises OSError: a file cannot be read.
    """
    return digest({name: sha256_hex(read_regular(path)) for name, path in tree_files(folder)})
