"""The folders of one trial: copies of what a system is handed, the one that it lives in, and what it leaves there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.models import BenchCase


class Scratch:
    """A folder below a root, which is removed with all that is in it."""

    def __init__(self, root: Path) -> None:
        self._path = root / os.urandom(8).hex()
        self.home = self._path / "home"
        self.work = self.home / "work"

    def __enter__(self) -> Self:
        self._path.mkdir(0o700)
        self.home.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        remove(self._path)

    def handed(self, case: BenchCase) -> BenchCase:
        """Return a case whose files are copies here, and that does not have what it expects."""
        update: dict[str, Any] = {"expected_path": None, "work_path": None}
        update["input_path"] = self._copy(case.input_path, "input")
        update["cassettes"] = {
            name: one.model_copy(update={"path": self._copy(one.path, f"{number}")})
            for number, (name, one) in enumerate(case.cassettes.items())
        }
        if (one := case.checkpoint) is not None:
            path = self._copy(one.path, "checkpoint")
            update["checkpoint"] = one.model_copy(update={"path": path})
        return case.model_copy(update=update)

    def _copy(self, source: Path, name: str) -> Path:
        """Copy a folder, or a file with its own name into a folder; a sandbox may not change it."""
        target = self._path / "given" / name
        if source.is_dir():
            return Path(shutil.copytree(source, target, symlinks=True))
        target.mkdir(parents=True)
        return Path(shutil.copyfile(source, target / source.name))

    def give(self, target: Callable[[], Path | None]) -> None:
        """
        Move what the system left in its work folder, which are folders and files and no links.

        :param target: makes the folder that it becomes, if there is anything.
        """
        if self.work.is_symlink() or not self.work.is_dir() or not os.listdir(self.work):
            return
        for folder, folders, files in os.walk(self.work):
            for path in (Path(folder, name) for name in (*folders, *files)):
                if path.is_symlink() or not (path.is_dir() or path.is_file()):
                    path.unlink()
                elif path.is_dir():
                    path.chmod(0o700)
        os.rename(self.work, target() or "")


def remove(path: Path) -> None:
    """Remove a folder that somebody may have made hard to remove."""
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):  # closed to its owner, or too deep for Python
        subprocess.run(["chmod", "-R", "u+rwX", path], check=False, stderr=subprocess.DEVNULL)  # noqa: S603, S607
        subprocess.run(["rm", "-rf", path], check=False, stderr=subprocess.DEVNULL)  # noqa: S603, S607
