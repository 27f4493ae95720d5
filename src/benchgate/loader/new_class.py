"""Makes the folder of a new task class that runs, to be changed into one of the user's own."""

from __future__ import annotations

import keyword
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from benchgate.errors import EvalError, TaskClassAlreadyRegistered
from benchgate.loader.new_case import create_folder
from benchgate.loader.task_class import class_folders
from benchgate.registry import TASK_CLASS_PATTERN, slug

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

SUFFIX: Final = ".txt"
"""Ends the name of each template, for tools would take ``rubric.py`` for a module of this package."""


def class_templates(name: str, **words: object) -> dict[str, str]:
    """
    Return the files of a new class by path.

    :param words: those that stand for a word between two ``@``, besides name and slug.
    """
    marks = {"NAME": name, "SLUG": slug(name), **words}

    def filled(text: str) -> str:
        for mark, word in marks.items():
            text = text.replace(f"@{mark}@", str(word))
        return text

    templates = _templates(files("benchgate.loader") / "new_class_files")
    return {filled(path): filled(text) for path, text in templates}


def make_class_folder(bench_root: Path, name: str, texts: Mapping[str, str]) -> Path:
    """
    Make ``bench/<name>/``, completely or not at all.

    :param texts: its files by path.
    :raises EvalError: the name is none of a task class, or means every class, or is no name in Python.
    :raises TaskClassAlreadyRegistered: another class is called so but for ``-`` and ``_``.
    :raises FileExistsError: the name is taken.
    :raises OSError: the folder cannot be written.
    """
    package, target = slug(name), bench_root / name
    if not TASK_CLASS_PATTERN.fullmatch(name) or name == "all" or keyword.iskeyword(package):
        raise EvalError(f"{name!r} names no class; expected lower-case words joined by '-'")
    for twin, folder in class_folders(bench_root).items():
        if twin != name and slug(twin) == package:
            raise TaskClassAlreadyRegistered(name, str(folder), str(target))
    create_folder(target, texts)
    return target


def _templates(folder: Traversable, above: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        path = f"{above}{entry.name}"
        if entry.is_dir():
            yield from _templates(entry, f"{path}/")
        elif path.endswith(SUFFIX):
            yield path.removesuffix(SUFFIX), entry.read_text("utf-8")
