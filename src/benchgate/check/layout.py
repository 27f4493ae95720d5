"""Checks the names of a class folder and of the files in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from benchgate.check.problem import Problem
from benchgate.gates.choice import PIN_FILE
from benchgate.gates.labels import LABELS
from benchgate.loader.case_folder import CASE_FILE
from benchgate.loader.task_class import class_folders
from benchgate.registry import TASK_CLASS_PATTERN, slug

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REQUIRED_FILES: Final = {
    "registration.py": "it registers the task class",
    "rubric.py": "it scores what systems return",
    "failure_modes.toml": "it says how bad each failure is",
    "README.md": "it says what the task is and where the cases come from",
}
OTHER_FILES: Final = frozenset({"gate.toml", LABELS, "logs.toml", "baseline.json", PIN_FILE})
_ANY_OF: Final = ("registration.py", "rubric.py", "failure_modes.toml")
_IGNORED_PREFIXES: Final = (".git", "LICENSE", "LICENCE", "NOTICE")


def bench_classes(bench_root: Path) -> dict[str, Path]:
    """
    Return the folders of a bench root that are a task class or are meant to become one, by name.

    :raises OSError: the bench root cannot be read.
    """
    classes = class_folders(bench_root)
    folders = [folder for folder in sorted(bench_root.iterdir()) if folder.is_dir()]
    started = {f.name: f for f in folders if any(os.path.lexists(f / name) for name in _ANY_OF)}
    return dict(sorted({**started, **classes}.items()))


def name_problems(class_path: Path) -> Iterator[Problem]:
    """Yield what is wrong with the name of a class folder."""
    name = class_path.name
    if not TASK_CLASS_PATTERN.fullmatch(name):
        yield Problem(
            class_path, 1, f"{name!r} names no class; expected lower-case words joined by '-'"
        )
    for twin in sorted(bench_classes(class_path.parent)):
        if twin != name and slug(twin) == slug(name):
            message = f"{name!r} and {twin!r} are one name in Python; expected names that differ beyond '-' and '_'"
            yield Problem(class_path, 1, message)


def layout_problems(class_path: Path) -> Iterator[Problem]:
    """Yield which files a class folder lacks, and which do not belong there."""
    for name, purpose in REQUIRED_FILES.items():
        if not (class_path / name).is_file():
            yield Problem(class_path / name, 1, f"missing; {purpose}")
    if not (class_path / "cases").is_dir():
        message = f"missing; expected a folder for each case, with its {CASE_FILE}"
        yield Problem(class_path / "cases", 1, message)
    yield from _links(class_path)
    if not _has_test(class_path / "tests"):
        message = "the class has no test yet; expected a test_*.py of its rubric"
        yield Problem(class_path / "tests", 1, message)
    yield from _strays(class_path)


def _links(class_path: Path) -> Iterator[Problem]:
    parts = (*REQUIRED_FILES, *sorted(OTHER_FILES), "cases", "tests")
    for name in parts:
        if (class_path / name).is_symlink():
            message = "is a symlink; expected it in the class folder itself"
            yield Problem(class_path / name, 1, message)


def _has_test(folder: Path) -> bool:
    """Return whether there is a file that pytest takes for tests by its name."""
    for path in folder.rglob("*.py"):
        is_named = path.name.startswith("test_") or path.stem.endswith("_test")
        if is_named and path.is_file():
            return True
    return False


def _strays(class_path: Path) -> Iterator[Problem]:
    files = (*REQUIRED_FILES, *sorted(OTHER_FILES))
    for entry in sorted(class_path.iterdir()):
        name = entry.name
        is_expected = name in files or name.endswith(".py") or name.startswith(_IGNORED_PREFIXES)
        if not (entry.is_dir() or is_expected):
            message = f"stray file; expected {', '.join(files)}, .py files, and folders for data"
            yield Problem(entry, 1, message)
