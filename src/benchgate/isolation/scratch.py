"""The folder that a system lives in during one trial: copies of what it is handed, and what it leaves."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from benchgate.errors import EvalError
from benchgate.wire.files import MAX_TREE_BYTES, MAX_TREE_FILES

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.models import BenchCase, Cassette


class Scratch:
    """The folder of one trial, removed with all that is in it."""

    def __init__(self, root: Path) -> None:
        self.path = root / os.urandom(8).hex()
        self.work = self.path / "work"

    def __enter__(self) -> Self:
        self.path.mkdir(0o700)
        for name in ("tmp", "home"):
            (self.path / name).mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        remove(self.path)

    def handed(self, case: BenchCase) -> BenchCase:
        """Return a case whose files are copies in this folder; all that it does not have is what it expects."""
        update: dict[str, Any] = {
            "input_path": self._copy(case.input_path, "input"),
            "expected_path": None,
            "work_path": None,
            "cassettes": {
                name: self._cassette(f"{number}", one)
                for number, (name, one) in enumerate(case.cassettes.items())
            },
        }
        if case.checkpoint is not None:
            path = self._copy(case.checkpoint.path, f"checkpoint/{case.checkpoint.path.name}")
            update["checkpoint"] = case.checkpoint.model_copy(update={"path": path})
        return case.model_copy(update=update)

    def _cassette(self, folder: str, one: Cassette) -> Cassette:
        path = self._copy(one.path, f"cassettes/{folder}/{one.path.name}")
        return one.model_copy(update={"path": path})

    def _copy(self, source: Path, name: str) -> Path:
        target = self.path / name
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        return target

    def give(self, target: Callable[[], Path]) -> None:
        """
        Copy what the system left in its work folder; nothing but files and folders, and no links.

        :param target: makes the folder to copy to, if there is anything.
        :raises EvalError: it is too large to be copied.
        """
        try:
            if stat.S_ISDIR(os.lstat(self.work).st_mode) and os.listdir(self.work):
                _copied(self.work, target(), [MAX_TREE_BYTES, MAX_TREE_FILES])
        except FileNotFoundError:
            return
        except RecursionError:
            raise EvalError("work_path: folders are nested too deeply") from None


def _copied(source: Path, target: Path, room: list[int]) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            room[1] -= 1
            if entry.is_dir(follow_symlinks=False):
                (target / entry.name).mkdir()
                _copied(Path(entry.path), target / entry.name, room)
            elif entry.is_file(follow_symlinks=False):
                room[0] -= entry.stat(follow_symlinks=False).st_size
                if min(room) < 0:
                    raise EvalError("work_path: too much was left in it to be scored")
                shutil.copy(entry.path, target / entry.name, follow_symlinks=False)


def remove(path: Path) -> None:
    """Remove a folder that somebody may have made hard to remove."""
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):  # closed to its owner, or too deep for Python
        subprocess.run(["chmod", "-R", "u+rwX", path], check=False, stderr=subprocess.DEVNULL)  # noqa: S603, S607
        subprocess.run(["rm", "-rf", path], check=False, stderr=subprocess.DEVNULL)  # noqa: S603, S607
