"""Keeps a trial from changing the rest of the session: working directory, temporary files, signals, the process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn

from benchgate.errors import EvalError

if TYPE_CHECKING:
    from collections.abc import Iterator


class ExitAttempt(BaseException):
    """A system or rubric tried to end the session's own process."""


class WorkFolder(AbstractContextManager["WorkFolder"]):
    """
    A fresh folder for a trial, made when somebody asks for it, removed afterwards; the working directory is put back.

    :param alone: no other trial runs in this process, which has one working directory.
    :param path: where it is made, and left.
    """

    def __init__(self, *, alone: bool = True, path: Path | None = None) -> None:
        self._before = os.getcwd() if alone else None
        self._lock = Lock()
        self._path: Path | None = None
        self._own = path
        self._is_over = False

    def path(self) -> Path:
        """
        Return the folder.

        :raises EvalError: the trial is over, which a thread that it left behind cannot know.
        """
        with self._lock:
            if self._is_over:
                raise EvalError("work_path: the trial is over, and its folder with it")
            if self._path is None:
                # As private as by mkdtemp, in a third of its time.
                name = f"benchgate-{os.urandom(8).hex()}"
                self._path = self._own or Path(tempfile.gettempdir(), name)
                self._path.mkdir(0o700, exist_ok=self._own is not None)
            return self._path

    def has_files(self) -> bool:
        """Whether anything was written into it."""
        try:
            return self._path is not None and bool(os.listdir(self._path))
        except (FileNotFoundError, NotADirectoryError):  # the system removed it
            return False

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            os.chdir(self._before)
        with self._lock:
            self._is_over = True
        if self._path is not None and self._own is None:
            removed(self._path)


REMOVE: Final = 'chmod -R u+rwX "$0"; rm -rf "$0"'
"""Removes a folder that is closed to its owner, or deeper than a Python has descriptors for."""


def removed(path: Path) -> None:
    """Remove a folder with all that is in it, also what is closed to its owner, or too deep for Python."""
    if path.is_symlink():  # what a system put in the place of its folder; it may lead anywhere
        path.unlink()
        return
    with suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        command = ["sh", "-c", REMOVE, str(path)]
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)  # noqa: S603


@contextmanager
def signals_kept() -> Iterator[None]:
    """Let the signal of the time limit through, and afterwards restore which signals this thread blocks."""
    limit = {signal.SIGALRM}
    # Never blocked again, also if it was so before: it must not wait there for the next trial.
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, limit) - limit
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Refusal:
    """Stands for ``os._exit``: one for all trials side by side, or it would be wrapped ever deeper."""

    lock: ClassVar = Lock()

    def __init__(self) -> None:
        self.real = os._exit
        self.owner = os.getpid()
        self.users = 0

    def __call__(self, status: int) -> NoReturn:
        if os.getpid() != self.owner:
            self.real(status)
        msg = f"os._exit({status}) in the session's own process"
        raise ExitAttempt(msg)


@contextmanager
def process_kept() -> Iterator[None]:
    """Make ``os._exit`` raise in this process, so that no trial ends the session; a forked child may still exit."""
    with _Refusal.lock:
        refusal = os._exit if isinstance(os._exit, _Refusal) else _Refusal()
        refusal.users += 1
        os._exit = refusal
    try:
        yield
    finally:
        with _Refusal.lock:
            refusal.users -= 1
            if not refusal.users:
                os._exit = refusal.real
