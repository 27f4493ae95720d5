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
NAMED: Final = {"memory": resource.RLIMIT_AS, "processes": resource.RLIMIT_NPROC}


@contextmanager
def scratch(root: Path, sweeper: Executor) -> Iterator[Path]:
    """Make the folder of a trial, with a ``home``; ``sweeper`` removes it, while the trial goes on."""
    path = root / os.urandom(8).hex()
    path.mkdir(0o700)
    (path / "home").mkdir()
    try:
        yield path
    finally:
        sweeper.submit(removed, path)


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
    if (one := case.checkpoint) is not None:
        path = _copied(one.path, folder / "checkpoint")
        update["checkpoint"] = one.model_copy(update={"path": path})
    return case.model_copy(update=update)


def _copied(file: Path, folder: Path) -> Path:
    folder.mkdir()
    return Path(shutil.copyfile(file, folder / file.name))


def cleared(work: Path) -> bool:
    """Return whether a system left something in its work folder, in which no links are any more."""
    if work.is_symlink() or not work.is_dir() or not os.listdir(work):
        return False
    for folder, folders, files in os.walk(work, onerror=_raised):
        for path in (Path(folder, name) for name in (*folders, *files)):
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                path.unlink()
            elif path.is_dir():
                path.chmod(0o700)
            elif path.stat().st_nlink > 1:  # of a file that is elsewhere too
                os.replace(shutil.copy(path, f"{folder}/{os.urandom(8).hex()}"), path)
    return True


def _raised(error: OSError) -> None:
    raise error


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
    tempfile.tempdir = None
