"""Where a system is for one trial: its folder, what it finds there, and what it leaves."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.trials.containment import removed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from concurrent.futures import Executor

    from benchgate.models import BenchCase

LIMITS: Final = {
    resource.RLIMIT_FSIZE: 2**30,
    resource.RLIMIT_NOFILE: 1024,
    resource.RLIMIT_CORE: 0,
}
"""Limits of each process, whatever ``limits`` says: bytes of a file, open files, bytes of a core dump."""

MOST_DISK: Final = 2 * 2**30
"""Bytes that a trial may write, unless ``limits`` says otherwise."""

NAMED: Final = {"memory": resource.RLIMIT_AS, "processes": resource.RLIMIT_NPROC}
"""The keys of ``limits`` that the kernel keeps; without them a process has no such limit."""


@contextmanager
def scratch(root: Path, sweeper: Executor) -> Iterator[Path]:
    """Make the folder of a trial, with a ``home``; ``sweeper`` removes it, while the trial goes on."""
    path = root / os.urandom(8).hex()
    path.mkdir(0o700)
    (path / "home").mkdir()
    try:
        yield path
    finally:
        # Out of the reach of the next call, which could put a link where something is removed.
        gone = root.with_name(f"gone-{path.name}")
        try:
            path.rename(gone)
        except OSError:
            gone = path
        sweeper.submit(removed, gone)


def handed(case: BenchCase, folder: Path) -> BenchCase:
    """Return a case whose files are copies in a folder, and that does not have what it expects."""
    update: dict[str, Any] = {"expected_path": None, "work_path": None}
    update["input_path"] = shutil.copytree(
        case.input_path, folder / "input", symlinks=True, copy_function=shutil.copy
    )
    update["cassettes"] = {
        name: one.model_copy(update={"path": _copied(one.path, folder / str(number))})
        for number, (name, one) in enumerate(case.cassettes.items())
    }
    checkpoint = case.checkpoint
    if checkpoint is not None:
        path = _copied(checkpoint.path, folder / "checkpoint")
        update["checkpoint"] = checkpoint.model_copy(update={"path": path})
    return case.model_copy(update=update)


def _copied(file: Path, folder: Path) -> Path:
    folder.mkdir()
    return Path(shutil.copyfile(file, folder / file.name))


def hand_back(work: Path, target: Path, most: int) -> None:
    """
    Copy what a system has left in its work folder, without links and whatever else is no file or folder.

    Not moved: the process that imported it may hold the files that a call has left, and goes on with the next call.

    :param target: an empty folder.
    :param most: bytes that all files together may have.
    :raises OSError: they have more, or one cannot be read.
    """
    # Not os.walk: in Python 3.11 it calls itself for each folder in a folder, and a thousand of them end it.
    waiting = [(work, target)]
    while waiting:
        folder, there = waiting.pop()
        if folder.is_symlink() or not folder.is_dir():
            continue
        for name in os.listdir(folder):
            path = folder / name
            if path.is_symlink():
                continue
            if path.is_dir():
                path.chmod(0o700)
                (there / name).mkdir()
                waiting.append((path, there / name))
            elif path.is_file():
                most -= path.stat().st_size
                if most < 0:
                    raise OSError("what it has left is more than limits.disk")
                shutil.copy(path, there / name, follow_symlinks=False)


def most_disk(limits: Mapping[Any, int]) -> int:
    """Return the bytes that a trial may write."""
    return limits.get("disk", MOST_DISK)


def limit(limits: Mapping[str, int]) -> None:
    """Live within limits, and have all that this process starts live within them."""
    own = {NAMED[name]: most for name, most in limits.items() if name in NAMED}
    for name, most in (LIMITS | own).items():
        hard = resource.getrlimit(name)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(name, (least, least))


def settle(home: str) -> None:
    """Live in a folder."""
    os.chdir(home)
    os.environ |= {"HOME": home, "TMPDIR": home}
    tempfile.tempdir = None  # else it stays the folder that the import was in
