"""The folder of a session whose trials are isolated; the next session removes it if its own was killed."""

from __future__ import annotations

import os
import platform
import stat
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

from benchgate.trials.containment import REMOVE, removed

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = "benchgate-isolated-"

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@contextmanager
def session_folder() -> Iterator[Path]:
    """
    Make a folder that is locked while it is used, and remove it at the end.

    Folders that killed sessions of this user have left are removed in the background: each whose lock nobody holds.

    The lock belongs to a descriptor that is closed on exec, so programs that are started do not hold it. A child that
    is forked, and executes nothing, does as long as it lives: it closes all descriptors that are not its own.
    """
    folder, lock = _made()
    try:
        Thread(target=_sweep, args=[folder.parent], daemon=True).start()
        yield folder
    finally:
        removed(folder)
        if lock is not None:
            os.close(lock)


def _made() -> tuple[Path, int | None]:
    """Make a folder and lock it; another session may have removed it before it was locked, so make another."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{_machine()}-"))
        try:
            lock = _locked(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:  # this file system has no locks, so nobody removes what is there
            return folder, None
        if lock is not None:
            return folder, lock


def _machine() -> str:
    """Return a mark of this machine: a folder's lock is not seen from others that share the file system."""
    return sha256(platform.node().encode()).hexdigest()[:8]


def _locked(folder: Path) -> int | None:
    """
    Return a descriptor that locks a folder; nothing if another session holds it.

    :raises FileNotFoundError: the folder is gone.
    :raises NotADirectoryError: a link or a file is in its place.
    :raises OSError: it cannot be opened or locked.
    """
    with ExitStack() as undo:
        descriptor = os.open(folder, FOLDER)
        undo.callback(os.close, descriptor)
        with suppress(BlockingIOError):
            flock(descriptor, LOCK_EX | LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), os.lstat(folder)):
                undo.pop_all()
                return descriptor
    return None


def _sweep(root: Path) -> None:
    """Remove what killed sessions have left; what cannot be removed stays."""
    with suppress(OSError):
        for name in os.listdir(root):
            machine, has_mark, _ = name.removeprefix(PREFIX).partition("-")
            is_foreign = has_mark and machine != _machine()
            if name.startswith(PREFIX) and not is_foreign:
                with suppress(OSError):
                    _remove_left(root / name)


def _remove_left(folder: Path) -> None:
    """Remove a folder of this user that no session holds; :raises OSError: it cannot be locked."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return
    if not os.access(folder, os.R_OK):
        _open_to_owner(folder)
    lock = _locked(folder)
    if lock is None:
        return
    try:
        # The program holds the lock too: if this session ends first, the next one does not begin anew.
        subprocess.run(  # noqa: S603
            ["/bin/sh", "-c", REMOVE, str(folder)],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[lock],
        )
    finally:
        os.close(lock)


def _open_to_owner(folder: Path) -> None:
    """Let its owner read a folder again, by a descriptor: a path could have become a link."""
    there = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.chmod(f"/proc/self/fd/{there}", stat.S_IRWXU)
    finally:
        os.close(there)
