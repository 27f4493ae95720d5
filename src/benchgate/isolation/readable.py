"""What a system may read at level ``sandbox``: its own code and what the owner of the bench names, never answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.cassettes.manifest import FOLDER as CASSETTES
from benchgate.errors import EvalError
from benchgate.gates.labels import LABELS
from benchgate.isolation import sandbox
from benchgate.loader.rubric_source import source_files
from benchgate.loader.systems import module_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.registry import SystemEntry

SYSTEMS: Final = "systems"
HIDDEN: Final = ("cases", "rubric.py", "registration.py", CASSETTES, LABELS)
"""What no system of a class may read, relative to its folder: it says, or decides, what is right."""


def hidden(class_path: Path, out: Path | None) -> tuple[Path, ...]:
    """
    Return what is hidden from the systems of a class.

    :param out: the output folder, which has what earlier systems answered.
    """
    paths = [class_path / name for name in HIDDEN]
    if out is not None:
        paths.append(out)
    return tuple(path.resolve() for path in paths)


def granted(class_path: Path, name: str, entry: SystemEntry, out: Path | None) -> tuple[str, ...]:
    """
    Return what a system may read besides the machine's own.

    :raises EvalError: that would show it what is hidden.
    """
    whole = hidden(class_path, out)
    for place in sandbox.READABLE:
        if found := _shown(Path(place).resolve(), whole):
            raise EvalError(
                f"isolation=sandbox: {place}, which is read, has {found.name} of {class_path.name}"
            )
    own = list(_own_code(class_path, name, entry.call)) if isinstance(entry.call, str) else []
    named = [class_path / path for path in entry.reads]
    if entry.checkpoint is not None:
        named.append(class_path / entry.checkpoint)
    for path in (*own, *named):
        if found := _shown(path.resolve(), whole):
            why = f"it is to read {path}, which shows {found}"
            raise EvalError(f"isolation=sandbox: {name}: {why}; no system may read that")
    for path in named:
        if not path.exists():
            raise EvalError(f"isolation=sandbox: {name}: it is to read {path}, which is not there")
    return tuple(dict.fromkeys(str(path.resolve()) for path in (*own, *named)))


def _shown(path: Path, whole: tuple[Path, ...]) -> Path | None:
    """Return what is hidden and would be seen if a path could be read."""
    return next(
        (one for one in whole if one.is_relative_to(path) or path.is_relative_to(one)), None
    )


def _own_code(class_path: Path, name: str, call: str) -> Iterator[Path]:
    """Yield the files and folders of a system's code; nothing is imported."""
    begin = module_file(class_path, name, call)
    systems = class_path / SYSTEMS
    if begin is None:
        return  # the import will say so
    if begin.is_relative_to(class_path):
        if systems.is_dir():
            yield systems
        yield from _of_the_class(class_path, begin)
        return
    package = begin
    while (package.parent / "__init__.py").is_file():
        package = package.parent
    yield package


def _of_the_class(class_path: Path, begin: Path) -> Iterator[Path]:
    """Yield a file of the class, those that it imports from it, and the packages that these are in."""
    for file in sorted(source_files(class_path, [begin], ())):
        yield file
        package = file.parent
        if package != class_path and (package / "__init__.py").is_file():
            yield package
            yield from _above(class_path, package)


def _above(class_path: Path, package: Path) -> Iterator[Path]:
    """Yield the ``__init__.py`` of the packages that a package is in."""
    for parent in package.parents:
        if parent == class_path:
            return
        if (parent / "__init__.py").is_file():
            yield parent / "__init__.py"
