"""Makes the folder of a new case, to be filled in by a curator, and that of a new task class that runs."""

from __future__ import annotations

import keyword
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from errno import EEXIST, ENOTEMPTY
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import tomli
import tomli_w

from benchgate.errors import BenchCaseLoadError, EvalError, TaskClassAlreadyRegistered
from benchgate.loader.case_folder import CASE_FILE, case_folders
from benchgate.loader.case_toml import check_case_toml, read_case_toml
from benchgate.loader.task_class import class_folder, class_folders
from benchgate.registry import TASK_CLASS_PATTERN, slug
from benchgate.wire.holding import hold, is_held
from benchgate.wire.toml import KeyLines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime
    from importlib.resources.abc import Traversable

    from benchgate.loader.case_toml import CaseTables

SUFFIX: Final = ".txt"
"""Ends the name of each template, for tools would take ``rubric.py`` for a module of this package."""


APART: Final = ".benchgate-new-"
"""Begins the name of a folder in which others are made."""

JUST_MADE: Final = 5.0
"""Seconds that another process has to hold such a folder after it was made."""


def make_case_folder(
    bench_root: Path, task_class: str, case_id: str, *, now: datetime
) -> tuple[Path, CaseTables | None]:
    """
    Make ``cases/<case_id>/`` with a valid ``case.toml``, ``input/`` and ``expected/``, completely or not at all.

    :returns: it, and the newest case, whose keys of ``[facts]`` it has; ``None`` if the class has no valid case yet.
    :raises TaskClassNotFound: there is no such class; the error lists those there are.
    :raises BenchCaseLoadError: the id is not valid in a ``case.toml``.
    :raises FileExistsError: the name is taken.
    :raises OSError: the folder cannot be written.
    """
    class_path = class_folder(bench_root, task_class)
    target = class_path / "cases" / case_id
    example = _newest(class_path)
    facts = _emptied(example.facts) if example else {}
    text = case_toml(task_class, case_id, now, facts)
    tables = tomli.loads(text)
    check_case_toml(target / CASE_FILE, tables, KeyLines(text), task_class=task_class)
    create_folder(target, {CASE_FILE: text}, ("input", "expected"))
    return target, example


def case_toml(
    task_class: str,
    case_id: str,
    now: datetime,
    facts: Mapping[str, Any],
    labels: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """
    Return the ``case.toml`` of a new case, dated now.

    :param labels: what is said of it besides.
    """
    case = {
        "case_id": case_id,
        "task_class": task_class,
        "disposition": "positive",
        "difficulty": "medium",
        "source": "curated",
        "added_at": now,
        "last_validated_at": now,
        "held_out": False,
        "tags": [],
        **labels,
    }
    # Dates get T and Z, where tomli_w writes a space and +00:00.
    text = tomli_w.dumps({"case": case, "facts": facts})
    return text.replace(str(now), now.isoformat().replace("+00:00", "Z"))


def _newest(class_path: Path) -> CaseTables | None:
    """Return the tables of the newest case; of several that were added at once, that with the highest id."""
    found = []
    for folder in case_folders(class_path):
        try:
            path = folder / CASE_FILE
            tables, _ = read_case_toml(path, class_path.name)
        except BenchCaseLoadError:  # a broken case is no example
            continue
        found.append(tables)
    return max(found, key=lambda tables: (tables.case.added_at, tables.case.case_id), default=None)


def _emptied(value: Any) -> Any:
    """Return an empty value of the same type."""
    if isinstance(value, dict):
        return {key: _emptied(item) for key, item in value.items()}
    return type(value)()


def create_folder(target: Path, texts: Mapping[str, str], folders: Iterable[str] = ()) -> None:
    """
    Make a folder with files, and the one that it is in, completely or not at all.

    :param texts: the content of each file by its path below the folder.
    :param folders: further folders in it.
    :raises FileExistsError: the name is taken. :raises OSError: it cannot be written.
    """
    around = target.parent
    with _apart(around) as apart:
        _write(apart / target.name, texts, folders)
        is_fresh = not os.path.lexists(around)
        around.mkdir(exist_ok=True)
        try:
            _move(apart / target.name, target)
        except OSError:
            if is_fresh:
                around.rmdir()
            raise


def create_folders(around: Path, folders: Mapping[str, Mapping[str, str]]) -> None:
    """
    Make folders in one that is there: all, or none if one cannot be made; a killed process leaves no part of one.

    :param folders: by name, the content of each file by its path.
    :raises FileExistsError: a name is taken. :raises OSError: one cannot be written.
    """
    with _apart(around) as apart:
        for name, texts in folders.items():
            _write(apart / name, texts)
        try:
            for name in folders:
                _move(apart / name, around / name)
        except BaseException:
            for name in folders:
                if not (apart / name).exists():
                    (around / name).rename(apart / name)
            raise


@contextmanager
def _apart(around: Path) -> Iterator[Path]:
    """Yield a folder that is removed: beside ``cases/``, for what a killed process leaves must not count as a case."""
    for left in around.parent.glob(f"{APART}*"):
        with suppress(OSError):  # another process may remove it too
            if time.time() - left.stat().st_mtime > JUST_MADE and not is_held(left):
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=APART, dir=around.parent) as apart:
        held = hold(Path(apart))
        try:
            yield Path(apart)
        finally:
            if held is not None:
                held.close()


def _write(folder: Path, texts: Mapping[str, str], folders: Iterable[str] = ()) -> None:
    for path in folders:
        (folder / path).mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def _move(made: Path, target: Path) -> None:
    """Give a whole folder its name, in one step; :raises FileExistsError: the name is taken."""
    taken = FileExistsError(EEXIST, os.strerror(EEXIST), str(target))
    if os.path.lexists(target):
        raise taken
    try:
        made.rename(target)
    except OSError as error:
        if error.errno in (EEXIST, ENOTEMPTY):  # another process was quicker
            raise taken from error
        raise


def class_templates(name: str, kind: str = "class", **words: object) -> dict[str, str]:
    """
    Return the files of a new class by path.

    :param kind: ``class`` for one with cases, ``rows`` for one whose cases are made from rows.
    :param words: those that stand for a word between two ``@``, besides name and slug.
    """
    marks = {"NAME": name, "SLUG": slug(name), **words}

    def filled(text: str) -> str:
        for mark, word in marks.items():
            text = text.replace(f"@{mark}@", str(word))
        return text

    templates = _templates(files("benchgate.loader") / f"new_{kind}_files")
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
    check_class_name(bench_root, name)
    target = bench_root / name
    create_folder(target, texts)
    return target


def check_class_name(bench_root: Path, name: str) -> None:
    """Refuse what cannot be the name of a class; errors as of :func:`make_class_folder`."""
    package = slug(name)
    target = bench_root / name
    if not TASK_CLASS_PATTERN.fullmatch(name) or name == "all" or keyword.iskeyword(package):
        raise EvalError(f"{name!r} names no class; expected lower-case words joined by '-'")
    for twin, folder in class_folders(bench_root).items():
        if twin != name and slug(twin) == package:
            raise TaskClassAlreadyRegistered(name, str(folder), str(target))


def _templates(folder: Traversable, above: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        path = f"{above}{entry.name}"
        if entry.is_dir():
            yield from _templates(entry, f"{path}/")
        elif path.endswith(SUFFIX):
            yield path.removesuffix(SUFFIX), entry.read_text("utf-8")
