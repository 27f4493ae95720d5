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
    _check_machine(class_path, whole)
    own = []
    if isinstance(entry.call, str):
        own = list(_own_code(class_path, name, entry.call))
    _check_links(name, class_path, own)
    named = [class_path / path for path in entry.reads]
    if entry.checkpoint is not None:
        named.append(class_path / entry.checkpoint)
    for path in own:
        _check(f"{name}: its code has {path}", path, whole)
    for path in named:
        _check(f"{name} is granted {path}", path, whole)
        if not path.exists():
            raise EvalError(f"isolation=sandbox: {name} is granted {path}, which does not exist")
    return tuple(dict.fromkeys(str(path.resolve()) for path in (*own, *named)))


def _check_machine(class_path: Path, whole: tuple[Path, ...]) -> None:
    """Raise EvalError if the bench lies where the machine's programs and libraries are."""
    for place in sandbox.READABLE:
        found = _shown(Path(place).resolve(), whole)
        if found is not None:
            what = f"{place}, which is read, has {found.name} of {class_path.name}"
            raise EvalError(f"isolation=sandbox: {what}")


def _check_links(name: str, class_path: Path, own: list[Path]) -> None:
    """Raise EvalError if code of the class is elsewhere: whoever writes a link would grant what it leads to."""
    real = class_path.resolve()
    for path in own:
        is_own = path.is_relative_to(class_path)
        if is_own and path.resolve() != real / path.relative_to(class_path):
            what = f"its code has the link {path}, which leads to {path.resolve()}"
            raise EvalError(f"isolation=sandbox: {name}: {what}; name that in 'reads'")


def _check(what: str, path: Path, whole: tuple[Path, ...]) -> None:
    """Raise EvalError if a system would see by a path what is hidden from it; ``what`` says who has the path."""
    found = _shown(path.resolve(), whole)
    if found is None:
        return
    if found != path:
        what += f", which shows {found}"
    raise EvalError(f"isolation=sandbox: {what}; a sandbox hides that from every system")


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
        raise EvalError(f"isolation=sandbox: {name}: there is no file of the module of {call!r}")
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
