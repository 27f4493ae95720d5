"""The folder of one trial: copies of what a system is handed, ``home`` that it lives in, and what it leaves there."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.models import BenchCase

REMOVE = 'chmod -R u+rwX "$0"; rm -rf "$0"'


@contextmanager
def scratch(root: Path) -> Iterator[Path]:
    """Make a folder, and remove it with all that is in it."""
    path = root / os.urandom(8).hex()
    (path / "home").mkdir(0o700, parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():  # something is closed to its owner, or too deep for Python
            subprocess.run(["sh", "-c", REMOVE, path], check=False, stderr=subprocess.DEVNULL)  # noqa: S603, S607


def handed(case: BenchCase, folder: Path) -> BenchCase:
    """Return a case whose files are copies in a folder, and that does not have what it expects."""
    update: dict[str, Any] = {"expected_path": None, "work_path": None}
    update["input_path"] = shutil.copytree(case.input_path, folder / "input", symlinks=True)
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
    for folder, folders, files in os.walk(work):
        for path in (Path(folder, name) for name in (*folders, *files)):
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                path.unlink()
            elif path.is_dir():
                path.chmod(0o700)
    return True
