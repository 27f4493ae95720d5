"""The checkpoint of a system: a file that is digested when a run begins, and handed to each trial as a private copy."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from functools import cached_property
from pathlib import Path
from typing import Final

from benchgate.errors import Unreadable
from benchgate.models import HandedCheckpoint
from benchgate.wire.files import file_sha256

MAX_CHECKPOINT_BYTES: Final = 16 * 1024**3
"""Largest file that is handed over. For larger weights, name a file that has their digests."""

CLOCK_TICK_SECONDS: Final = 0.02
"""Longest step of the clock that a kernel takes the times of files from."""


class SystemCheckpoint:
    """
    The file that a system names as its checkpoint.

    :param source: a link is followed; relative to the working directory as it is now.
    """

    def __init__(self, source: Path) -> None:
        self._source = Path(os.path.abspath(source))
        self._folder: str | None = None
        self._copy: HandedCheckpoint | None = None
        self._state: tuple[int, ...] | None = None

    @cached_property
    def sha256(self) -> str:
        """
        SHA-256 of the file when it was first asked for.

        :raises Unreadable: it cannot be read, is no regular file, or is larger than :data:`MAX_CHECKPOINT_BYTES`.
        """
        return self._read()

    def handed(self) -> HandedCheckpoint:
        """
        Return the private copy; a new one if the trial before touched it. One copy for each process.

        :raises Unreadable: it cannot be made, or the file is not the one that was digested any more.
        """
        if self._copy is None or _state(self._copy.path) != self._state:
            self.close()
            self._folder = tempfile.mkdtemp(prefix="benchgate-")
            path = Path(self._folder, self._source.name)
            if self._read(path) != self.sha256:
                raise Unreadable(self._source, "changed since its digest was recorded")
            self._copy = HandedCheckpoint(path=path, sha256=self.sha256)
            # What is written within the same tick of the clock would leave the times as they are.
            time.sleep(CLOCK_TICK_SECONDS)
            self._state = _state(path)
        return self._copy

    def change(self) -> str | None:
        """Return how the file differs from what was digested, or ``None``; reads all of it again."""
        try:
            same = self._read() == self.sha256
        except Unreadable as error:
            return str(error)
        return None if same else f"{self._source}: changed while the session ran"

    def close(self) -> None:
        """Remove the copy."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = self._copy = None

    def _read(self, copy: Path | None = None) -> str:
        if copy is None:
            return file_sha256(self._source, limit=MAX_CHECKPOINT_BYTES)
        try:
            with open(copy, "xb") as target:
                os.fchmod(target.fileno(), 0o400)
                return file_sha256(self._source, limit=MAX_CHECKPOINT_BYTES, on_chunk=target.write)
        except OSError as error:
            raise Unreadable(self._source, f"cannot be handed over: {error.strerror}") from error


def _state(path: Path) -> tuple[int, ...] | None:
    """Return what no change of a file leaves as it is, at a fraction of the cost of a digest; ``None``: it is gone."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
