"""A case folder, read: its case.toml and what lies beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.errors import BenchCaseLoadError, RegistrationError
from benchgate.loader.case_toml import read_manifest
from benchgate.models import BenchCase, Cassette
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_regular, tree_digest, tree_files
from benchgate.wire.toml import Problem, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.loader.case_toml import CassetteTable, Manifest
    from benchgate.registry import TaskClass


CASE_FILE: Final = "case.toml"
POINTER_FILE: Final = "input-pointer.toml"
ALLOWED_ENTRIES: Final = frozenset(
    {CASE_FILE, POINTER_FILE, "input", "expected", "cassettes", "README.md"}
)


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
