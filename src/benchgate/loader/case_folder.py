"""Reads a case folder: ``case.toml``, input, expected files and cassettes."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.cassettes.shelf import ClassCassettes
from benchgate.errors import BenchCaseLoadError, Unreadable
from benchgate.loader.case_toml import FileTable, read_case_toml
from benchgate.models import BenchCase, Cassette
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import MAX_TREE_BYTES, file_sha256, read_bytes, tree_digest, tree_files
from benchgate.wire.toml import MAX_TOML_BYTES, check_tables, read_toml

if TYPE_CHECKING:
    from pydantic import BaseModel

    from benchgate.errors import Fault
    from benchgate.loader.case_toml import CaseTables
    from benchgate.wire.toml import KeyLines


CASE_FILE: Final = "case.toml"
MAX_NAME_BYTES: Final = 100
_PLAIN: Final = re.compile(r"[a-z0-9_-]{1,64}")
EXPECTED_NAME: Final = "expected up to 64 lower-case letters, digits, - and _"
POINTER_FILE: Final = "input-pointer.toml"
ALLOWED_ENTRIES: Final = frozenset(
    {CASE_FILE, POINTER_FILE, "input", "expected", "cassettes", "README.md"}
)


def shown_name(folder: str) -> str:
    """
    Return the name of a case folder as ids, reports and file names can hold it; other folders have another one.

    Characters other than letters, digits, space and ``_.-[]`` are escaped as in URLs, and a long name is cut.
    """
    if _PLAIN.fullmatch(folder):
        return folder
    name = re.sub(r"[^\w .\[\]-]+", lambda found: quote(os.fsencode(found[0]), ""), folder)
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    whole = sha256_hex(os.fsencode(folder))[:12]
    return f"{name.encode()[: MAX_NAME_BYTES - 13].decode(errors='ignore')}~{whole}"


def case_folders(class_path: Path) -> list[Path]:
    """
    Return all folders below ``cases/`` that are not of retired cases, sorted.

    Each must be a case: a broken one is reported, never skipped.
    """
    retired = retired_cases(class_path)
    return [class_path / "cases" / name for name in folder_names(class_path) if name not in retired]


def retired_cases(class_path: Path, texts: dict[str, bytes] | None = None) -> dict[str, str]:
    """
    Return why cases are no longer run, by the names of their folders; a broken ``case.toml`` retires nothing.

    :param texts: takes the bytes of each ``case.toml``, for whoever reads the cases afterwards.
    """
    found = {}
    cases = class_path / "cases"
    folder = os.fspath(cases)
    for name in folder_names(class_path):
        with suppress(Unreadable, BenchCaseLoadError):
            # As text: a path for each of thousands takes longer than to read the files.
            data = read_bytes(f"{folder}/{name}/{CASE_FILE}", limit=MAX_TOML_BYTES)
            if texts is not None:
                texts[name] = data
            if b"retired" in data:  # most cases are not, and to parse all of them takes long
                path = cases / name / CASE_FILE
                tables, _ = read_case_toml(path, class_path.name, data=data)
                if tables.case.retired is not None:
                    found[name] = tables.case.retired
    return found


def folder_names(class_path: Path) -> list[str]:
    """Return the names of these folders; a path for each of thousands takes longer than to run one of them."""
    cases = class_path / "cases"
    if not cases.is_dir():
        return []
    with os.scandir(cases) as entries:
        # A dangling symlink counts too: it is a case that cannot be read, not one less.
        return sorted(e.name for e in entries if e.is_dir() or not os.path.exists(e.path))


def read_case(
    folder: Path,
    *,
    task_class: str,
    facts_model: type[BaseModel] | None = None,
    data: bytes | None = None,
) -> tuple[BenchCase, int]:
    """
    Read the case in a folder, and find the 1-based line of its ``[case]``.

    :param data: the bytes of its ``case.toml``, if they were read before.
    :raises BenchCaseLoadError: with every fault of its ``case.toml`` and of the files beside it, so that a curator can
        fix all of them at once.
    """
    shown = shown_name(folder.name)
    if shown != folder.name:
        why = f"{folder.name!a} is no name of a case; {EXPECTED_NAME}"
        raise BenchCaseLoadError(folder.with_name(shown) / CASE_FILE, why, line=1)
    path = folder / CASE_FILE
    faults: list[Fault] = []
    try:
        tables, lines = read_case_toml(path, task_class, facts_model, data)
        cassettes = _cassettes(folder, tables, lines, faults)
    except BenchCaseLoadError as error:
        if not folder.is_dir():
            raise
        faults += error.faults
    names = set(os.listdir(folder))
    input_path = _input_path(folder, names, faults)
    expected = None
    if "expected" in names:
        expected = folder / "expected"
    faults += [
        *_stray_faults(names),
        *_folder_faults("input", input_path),
        *_folder_faults("expected", expected),
    ]
    if faults or input_path is None:
        raise BenchCaseLoadError(path, sorted(faults))
    fields = {
        **vars(tables.case),
        "facts": tables.facts,
        "cassettes": cassettes,
        "input_path": input_path,
        "expected_path": expected,
    }
    return BenchCase.made(fields, ClassCassettes(folder.parents[1])), lines.table("case")


def _folder_faults(name: str, folder: Path | None) -> list[Fault]:
    if folder is None:
        return []
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        return [(1, name, "must be a folder, not a file or a symlink")]
    try:
        tree_files(folder)
    except Unreadable as error:
        return [(1, name, error.why)]
    return []


def _stray_faults(names: set[str]) -> list[Fault]:
    strays = sorted(names - ALLOWED_ENTRIES)
    return [
        (1, "", f"stray {name!r} in the case folder; only {', '.join(sorted(ALLOWED_ENTRIES))}")
        for name in strays
    ]


def _inside(folder: Path, relative: str) -> Path | None:
    """Return the path if it is inside the folder, symlinks followed."""
    if "\0" in relative:
        return None
    root = Path(os.path.realpath(folder))
    path = Path(os.path.realpath(folder / relative))
    if path == root or not path.is_relative_to(root):
        return None
    return path


def _input_path(folder: Path, names: set[str], faults: list[Fault]) -> Path | None:
    if POINTER_FILE not in names:
        if "input" not in names:
            faults.append((1, "", f"neither input/ nor {POINTER_FILE}"))
            return None
        return folder / "input"
    if "input" in names:
        faults.append((1, "", f"both input/ and {POINTER_FILE}"))
    return _follow(folder / POINTER_FILE, folder.parent.parent / "inputs", faults)


def _is_folder(path: Path) -> bool:
    """Return whether a folder is there; from Python 3.14 on, ``Path.is_dir`` hides why a path cannot be read."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _follow(pointer: Path, inputs: Path, faults: list[Fault]) -> Path | None:
    """Return the folder that an ``input-pointer.toml`` names, by its path within the class's ``inputs/``."""
    try:
        tables, lines = read_toml(pointer, BenchCaseLoadError)
        found = check_tables(pointer, tables, lines, FileTable, BenchCaseLoadError)
        target = _inside(inputs, found.path)
        if target is None or not _is_folder(target):
            faults.append((1, POINTER_FILE, f"path {found.path!r} is no folder inside inputs/"))
        elif tree_digest(target) != found.sha256:
            faults.append((1, POINTER_FILE, f"sha256 differs from that of inputs/{found.path}"))
        else:
            return target
    except BenchCaseLoadError as error:
        faults += [
            (1, POINTER_FILE, f"{key}: {text}" if key else text) for _, key, text in error.faults
        ]
    except Unreadable as error:
        faults.append((1, POINTER_FILE, error.why))
    except OSError as error:  # such as a name that is too long for the system
        faults.append((1, POINTER_FILE, f"path cannot be read: {error.strerror}"))
    return None


def _cassettes(
    folder: Path, tables: CaseTables, lines: KeyLines, faults: list[Fault]
) -> dict[str, Cassette]:
    cassettes = {}
    for system, table in tables.cassettes.items():
        key = "path"
        path = _inside(folder, table.path)
        if path is None:
            why = " leaves the case folder"
        else:
            try:
                actual = file_sha256(path, limit=MAX_TREE_BYTES)
            except Unreadable as error:
                why = f": {error.why}"
            else:
                if actual == table.sha256:
                    cassettes[system] = Cassette(path=path, sha256=table.sha256)
                    continue
                key = "sha256"
                why = f" has {actual}: it was changed after it was recorded"
        place = f"cassettes.{system}.{key}"
        faults.append((lines.key("cassettes", system, key), place, f"{table.path!r}{why}"))
    return cassettes
