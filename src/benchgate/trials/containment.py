"""Keeps a trial from changing the rest of the session: working directory, temporary files, signals, the process."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator


class ExitAttempt(BaseException):
    """A system or rubric tried to end the session's own process."""


@contextmanager
def work_folder(*, alone: bool = True) -> Iterator[Path]:
    """
    Make a fresh folder for a trial; afterwards remove it, and restore the working directory.

    :param alone: no other trial runs in this process, which has one working directory.
    """
    before = os.getcwd() if alone else None
    # As private as by mkdtemp, in a third of its time.
    path = os.path.join(tempfile.gettempdir(), f"benchgate-{os.urandom(8).hex()}")
    os.mkdir(path, 0o700)
    try:
        yield Path(path)
    finally:
        if before is not None:
            os.chdir(before)
        try:
            os.rmdir(path)  # most systems leave it empty, and this is a tenth of the cost
        except OSError:
            shutil.rmtree(path, ignore_errors=True)


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


@contextmanager
def process_kept() -> Iterator[None]:
    """Make ``os._exit`` raise in this process, so that no trial ends the session; a forked child may still exit."""
    owner, real, kept = os.getpid(), os._exit, True

    def refuse(status: int) -> NoReturn:
        if os.getpid() != owner or not kept:  # two that overlap may end in either order
            real(status)
        msg = f"os._exit({status}) in the session's own process"
        raise ExitAttempt(msg)

    os._exit = refuse
    try:
        yield
    finally:
        kept = False
        os._exit = real
