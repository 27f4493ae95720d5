"""From ``bench/<class>/`` to task classes and cases."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.errors import (
    BenchCaseLoadError,
    RegistrationError,
    TaskClassAlreadyRegistered,
    TaskClassNotFound,
)
from benchgate.loader.case_toml import Problem, read_manifest
from benchgate.loader.imports import module_name
from benchgate.loader.rubric_source import check_home
from benchgate.models import BenchCase, Cassette
from benchgate.registry import TaskClass, TaskClassRegistry, slug
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_regular, read_toml, tree_digest, tree_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.loader.case_toml import CassetteTable, Manifest

CASE_FILE: Final = "case.toml"
POINTER_FILE: Final = "input-pointer.toml"
ALLOWED_ENTRIES: Final = frozenset(
    {CASE_FILE, POINTER_FILE, "input", "expected", "cassettes", "README.md"}
)


def class_folders(bench_root: Path) -> dict[str, Path]:
    """Return the task class folders below a bench root by name: those with a registration or with cases."""
    if not bench_root.is_dir():
        return {}
    return {
        folder.name: folder
        for folder in sorted(bench_root.iterdir())
        if (folder / "registration.py").is_file() or any(folder.glob(f"cases/*/{CASE_FILE}"))
    }


def case_folders(class_path: Path) -> list[Path]:
    """
    Return all folders below ``cases/``, sorted; each is meant to be a case.

    :raises RegistrationError: a name that is no text.
    """
    cases = class_path / "cases"
    if not cases.is_dir():
        return []
    with os.scandir(cases) as entries:
        # A link that leads nowhere stays in the count: it is a case that cannot be read.
        names = sorted(e.name for e in entries if e.is_dir() or not os.path.exists(e.path))
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise RegistrationError(
                cases, f"{os.fsencode(name)!r} is no UTF-8 name of a case"
            ) from None
    return [cases / name for name in names]


def load_task_class(bench_root: Path, name: str, registry: TaskClassRegistry) -> TaskClass:
    """
    Import ``bench/<name>/registration.py`` and register what it registers.

    Needs :func:`~benchgate.loader.imports.bench_package` around it.

    :raises TaskClassNotFound: no such folder; names the expected path and the known classes.
    :raises RegistrationError: the file is missing, fails, or registers anything but this class.
    """
    folder = bench_root / name
    path = folder / "registration.py"
    if not folder.is_dir():
        raise TaskClassNotFound(name, class_folders(bench_root), path)
    if not path.is_file():
        raise RegistrationError(path, f"missing; it registers the task class {name!r}")
    twin = next((n for n in class_folders(bench_root) if n != name and slug(n) == slug(name)), None)
    if twin is not None:
        raise TaskClassAlreadyRegistered(name, str(bench_root / twin), str(folder))
    received = _registered_by(path, module_name(name, "registration"))
    if [task_class.name for task_class in received] != [name]:
        names = ", ".join(repr(task_class.name) for task_class in received) or "nothing"
        raise RegistrationError(path, f"registers {names}; expected {name!r} and nothing else")
    task_class = replace(received.get(name), bench_path=folder)
    check_home(task_class.rubric_type, folder)
    registry.register(task_class)
    return task_class


def _registered_by(path: Path, module: str) -> TaskClassRegistry:
    received = TaskClassRegistry()
    try:
        with received.receiving():
            import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a registration may also call sys.exit
        raise RegistrationError(path, f"{type(error).__name__}: {error}{_place(error)}") from error
    return received


def _place(error: BaseException) -> str:
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    return f" ({Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno})" if frame else ""


def load_case(folder: Path, task_class: TaskClass) -> BenchCase:
    """
    Read the case in a folder.

    :raises BenchCaseLoadError: with all problems of the ``case.toml``, or of what lies beside it.
    """
    name, facts_model = task_class.name, task_class.facts_model
    return make_case(
        folder, read_manifest(folder / CASE_FILE, task_class=name, facts_model=facts_model)
    )


def make_case(folder: Path, manifest: Manifest) -> BenchCase:
    """
    Return the case of a valid manifest, with what lies beside it.

    :raises BenchCaseLoadError: with all problems of what lies beside the ``case.toml``.
    """
    input_path, problems = read_folder(folder)
    cassettes = _cassettes(folder, manifest, problems)
    if problems or input_path is None:
        raise BenchCaseLoadError(manifest.path, problems)
    expected = folder / "expected"
    return BenchCase(
        **dict(manifest.tables.case),
        facts=manifest.tables.facts,
        cassettes=cassettes,
        input_path=input_path,
        expected_path=expected if expected.is_dir() else None,
    )


def read_folder(folder: Path) -> tuple[Path | None, list[Problem]]:
    """Return the input of a case, and all problems of a case folder that do not depend on its manifest."""
    problems: list[Problem] = []
    input_path = _input_path(folder, problems)
    problems += _stray_problems(folder)
    for name, value in (("input", input_path), ("expected", folder / "expected")):
        problems += _escape_problems(name, value)
    return input_path, problems


def _escape_problems(name: str, folder: Path | None) -> list[Problem]:
    if folder is None or not os.path.lexists(folder):
        return []
    if folder.is_symlink() or not folder.is_dir():
        return [(1, name, "must be a folder, not a file or a symlink")]
    try:
        tree_files(folder)
    except (ValueError, OSError) as error:
        return [(1, name, str(error))]
    return []


def _stray_problems(folder: Path) -> list[Problem]:
    strays = sorted(set(os.listdir(folder)) - ALLOWED_ENTRIES)
    return [
        (1, "", f"stray {name!r} in the case folder; only {', '.join(sorted(ALLOWED_ENTRIES))}")
        for name in strays
    ]


def _inside(folder: Path, relative: str) -> Path | None:
    """Return the path if it stays inside the folder, symlinks followed."""
    if "\0" in relative:
        return None
    path = Path(os.path.realpath(folder / relative))
    return path if path.is_relative_to(os.path.realpath(folder)) and relative.strip("/.") else None


def _input_path(folder: Path, problems: list[Problem]) -> Path | None:
    own = folder / "input"
    pointer = folder / POINTER_FILE
    if not os.path.lexists(pointer):
        if not os.path.lexists(own):
            problems.append((1, "", f"neither input/ nor {POINTER_FILE}"))
            return None
        return own
    if os.path.lexists(own):
        problems.append((1, "", f"both input/ and {POINTER_FILE}"))
    return _follow(pointer, folder.parent.parent / "inputs", problems)


def _follow(pointer: Path, inputs: Path, problems: list[Problem]) -> Path | None:
    try:
        tables, _ = read_toml(pointer)
        relative, expected = tables["path"], tables["sha256"]
        target = _inside(inputs, relative)
        if target is None or not target.is_dir():
            problems.append((1, POINTER_FILE, f"path {relative!r} is no folder inside inputs/"))
        elif tree_digest(target) != expected:
            problems.append((1, POINTER_FILE, f"sha256 differs from that of inputs/{relative}"))
        else:
            return target
    except (OSError, ValueError, TypeError, KeyError) as error:
        problems.append((1, POINTER_FILE, f"expected path and sha256 of a folder: {error}"))
    return None


def _cassettes(folder: Path, manifest: Manifest, problems: list[Problem]) -> Mapping[str, Cassette]:
    found = {}
    for system, table in manifest.tables.cassettes.items():
        path = _inside(folder, table.path)
        wrong = _cassette_problem(path, table)
        if wrong is not None:
            key = f"cassettes.{system}.{wrong[0]}"
            problems.append((manifest.lines.key(("cassettes", system, wrong[0])), key, wrong[1]))
        elif path is not None:
            found[system] = Cassette(path=path, sha256=table.sha256)
    return found


def _cassette_problem(path: Path | None, table: CassetteTable) -> tuple[str, str] | None:
    if path is None:
        return "path", f"{table.path!r} leaves the case folder"
    try:
        actual = sha256_hex(read_regular(path))
    except (OSError, ValueError) as error:
        return "path", f"{table.path!r} cannot be read: {error}"
    if actual != table.sha256:
        return "sha256", f"{table.path!r} has {actual}: it was changed after it was recorded"
    return None
