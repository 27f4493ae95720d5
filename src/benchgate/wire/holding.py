"""Marks a folder as in use by this process."""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path


PATIENCE: Final = (0.0, 0.01, 0.05)
"""Seconds before each attempt: another process that only asks holds the folder for a moment."""


class Hold:
    """A folder in use, until it is closed or this process ends, even if it is killed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        # A child that a system forks would else hold the folder after this process is gone.
        os.register_at_fork(after_in_child=self.close)

    def close(self) -> None:
        """Let others have it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def hold(folder: Path) -> Hold | None:
    """Mark a folder as in use; ``None`` if another process holds it."""
    descriptor = _locked(folder)
    if descriptor is None:
        return None
    return Hold(descriptor)


def is_held(folder: Path) -> bool:
    """Whether a process holds a folder; nobody holds one that is gone."""
    try:
        descriptor = _locked(folder)
    except FileNotFoundError:
        return False
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is None


def _locked(folder: Path) -> int | None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for pause in PATIENCE:
        time.sleep(pause)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        return descriptor
    os.close(descriptor)
    return None
