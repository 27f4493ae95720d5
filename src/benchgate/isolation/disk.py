"""How much of the disk a trial's folder takes, counted in short steps while the trial changes it."""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

BLOCK: Final = 512
"""Bytes of a block, as ``st_blocks`` counts them on every file system."""

LEAST: Final = 4096
"""Bytes that each entry counts at least, for its inode: a million empty files are no small tree."""

DEEPEST: Final = 256
"""Levels of folders that are counted. A deeper tree is over any limit: each level takes a descriptor."""

TOO_DEEP: Final = 2**63

STEP: Final = 64
"""Entries between two looks at the clock."""


class Disk:
    """
    Tells whether a folder takes more than ``most`` bytes of the disk; each call of :meth:`is_over` counts a part of it.

    A file counts the blocks that it occupies, once for all of its names; each entry counts at least :data:`LEAST`. So a
    count ends after ``most / LEAST`` entries, however many there are. It follows no links, and nothing that a trial
    does to its folder makes it raise.

    This is no quota: a trial can write faster than it counts. It misses the content of folders that it may not read
    (root may, unless it gave that up), files that are deleted and still open, and files that move while it counts.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self._folder = folder
        self._most = most
        self._begin()

    def _begin(self) -> None:
        self._left = self._most
        self._sizes = _sizes(self._folder)

    def is_over(self, seconds: float) -> bool:
        """Count on for so many seconds; after the end of a count, the next call begins another one."""
        ends = time.monotonic() + seconds
        while self._left >= 0:
            for _ in range(STEP):
                size = next(self._sizes, None)
                if size is None:
                    self._begin()
                    return False
                self._left -= size
                if self._left < 0:
                    return True
            if time.monotonic() >= ends:
                return False
        return True

    def close(self) -> None:
        """Close what an unfinished count has open."""
        self._sizes.close()


def _sizes(folder: Path) -> Generator[int]:
    """Yield what each entry below a folder takes; all are opened by descriptors, so a path cannot become a link."""
    seen: set[tuple[int, int]] = set()
    opened: list[int] = []
    # The names of folders that are still to open: first that of the whole, then a list for each that is opened.
    waiting = [[str(folder)]]
    try:
        while waiting:
            if len(opened) > DEEPEST:
                yield TOO_DEEP
            if waiting[-1]:
                name = waiting[-1].pop()
                descriptor = _opened(name, opened)
                if descriptor is not None:
                    opened.append(descriptor)
                    waiting.append([])
                    yield from _listed(descriptor, waiting[-1], seen)
                continue
            waiting.pop()
            if opened:
                os.close(opened.pop())
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _opened(name: str, above: list[int]) -> int | None:
    """Open a folder in the last of those above it; nothing if it is gone, a link by now, or may not be read."""
    where = None
    if above:
        where = above[-1]
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=where)
    except OSError:
        return None


def _listed(descriptor: int, folders: list[str], seen: set[tuple[int, int]]) -> Generator[int]:
    """Yield what each entry of a folder takes, and add the names of the folders in it."""
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                yield _size(entry, folders, seen)
    except OSError:  # it was removed while it was read
        return


def _size(entry: os.DirEntry[str], folders: list[str], seen: set[tuple[int, int]]) -> int:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # it is gone, or its folder may be listed and not searched
        return LEAST
    if stat.S_ISDIR(status.st_mode):
        folders.append(entry.name)
    elif status.st_nlink > 1:
        inode = (status.st_dev, status.st_ino)
        if inode in seen:
            return LEAST
        seen.add(inode)
    return max(LEAST, status.st_blocks * BLOCK)
