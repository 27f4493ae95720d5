"""Finds the files that make up a rubric, without importing them, and their digest."""

from __future__ import annotations

import ast
import inspect
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.errors import RegistrationError, Unreadable
from benchgate.loader.imports import PACKAGE
from benchgate.registry import slug
from benchgate.wire.canonical import digest
from benchgate.wire.files import MAX_SOURCE_BYTES, MAX_TREE_BYTES, file_sha256, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


EXCLUDED: Final = ("registration.py", "systems", "observers", "tools", "tests")


def rubric_files(class_path: Path) -> tuple[Path, ...]:
    """
    Return ``rubric.py`` and the ``.py`` files of its class that it imports, directly or not, sorted.

    ``registration.py``, ``systems/``, ``tools/`` and ``tests/`` are not digested, so they may change without a new
    baseline; ``observers/`` has a digest of its own. A rubric must not import from any of them: its scores could change
    unnoticed.

    :raises RegistrationError: there is no ``rubric.py``, a file is not Python, or imports from one of these.
    """
    return tuple(sorted(source_files(class_path, [class_path / "rubric.py"], EXCLUDED)))


def source_files(class_path: Path, begin: Iterable[Path], excluded: Sequence[str]) -> set[Path]:
    """Return files and what they import of the class, as :func:`rubric_files`, which says what is raised."""
    seen: set[Path] = set()
    waiting = [*begin]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(_imports(path, class_path, excluded))
    return seen


def rubric_digest(class_path: Path) -> str:
    """Return the SHA-256 over names and bytes of :func:`rubric_files`."""
    return sources_digest(class_path, rubric_files(class_path))


def sources_digest(class_path: Path, files: Iterable[Path]) -> str:
    """Return the SHA-256 over names and bytes of files of a class."""
    shas = {p.relative_to(class_path): file_sha256(p, limit=MAX_TREE_BYTES) for p in files}
    return digest({path.as_posix(): sha256 for path, sha256 in shas.items()})


def check_home(rubric_type: type, class_path: Path) -> None:
    """
    Refuse a rubric whose ``score`` is defined outside the digested files: its changes would go unnoticed.

    :raises RegistrationError: names the file that defines it.
    """
    path = class_path / "registration.py"
    try:
        home = Path(inspect.getfile(inspect.unwrap(rubric_type.score))).resolve()  # type: ignore[attr-defined]
    except TypeError as error:
        raise RegistrationError(path, f"score of {rubric_type.__qualname__}: {error}") from error
    if home not in {path.resolve() for path in rubric_files(class_path)}:
        message = (
            f"score() of {rubric_type.__qualname__} is defined in {home.name}, which the rubric's digest "
            "does not cover; write it in rubric.py or in a module that rubric.py imports"
        )
        raise RegistrationError(path, message)


def parse_source(path: Path) -> ast.Module:
    """
    Parse a source file without running it.

    :raises RegistrationError: there is no such file, or it is not Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is for other tools to report
            return ast.parse(read_bytes(path, limit=MAX_SOURCE_BYTES), filename=str(path))
    except Unreadable as error:
        why = error.why
        if error.missing:
            why = "missing; it defines the rubric of the class"
        raise RegistrationError(path, why) from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        text = f"no Python: {error or type(error).__name__}"
        raise RegistrationError(path, text, line=line) from error


def _imports(path: Path, class_path: Path, excluded: Sequence[str]) -> Iterator[Path]:
    tree = parse_source(path)
    for node in ast.walk(tree):
        for module in _module_names(node, path, class_path):
            if module and {module[0], f"{module[0]}.py"} & set(excluded):
                raise RegistrationError(
                    path,
                    f"imports {'.'.join(module)}, which the rubric's digest does not cover; move what the rubric needs "
                    "into a module beside rubric.py",
                    line=getattr(node, "lineno", 0),
                )
            yield from _existing(class_path, module)


def _module_names(node: ast.AST, path: Path, class_path: Path) -> Iterator[tuple[str, ...]]:
    """Yield what a node imports from the class, as parts relative to the class's folder."""
    prefix = (PACKAGE, slug(class_path.name))
    if isinstance(node, ast.Import):
        bases = [tuple(alias.name.split(".")) for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base: tuple[str, ...] = ()
        if node.level:  # of a relative import, which is 1 for the package that the module is in
            here = (*prefix, *path.relative_to(class_path).parent.parts)
            base = here[: len(here) - node.level + 1]
        if node.module is not None:
            base += tuple(node.module.split("."))
        bases = [base, *((*base, alias.name) for alias in node.names)]
    else:
        return
    yield from (base[2:] for base in bases if base[:2] == prefix)


def _existing(class_path: Path, parts: tuple[str, ...]) -> Iterator[Path]:
    for depth in range(1, len(parts) + 1):
        folder = class_path.joinpath(*parts[:depth])
        candidates = (folder.with_suffix(".py"), folder / "__init__.py")
        yield from (path for path in candidates if os.path.isfile(path))
