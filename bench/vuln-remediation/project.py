"""A manifest and its lock, read from a case or from what a system returned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .lockfile import ROOT, ROOT_TABLES

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST: Final = "package.json"
LOCK: Final = "package-lock.json"
MAX_TEXT: Final = 20_000_000
"""Characters of one file beyond which an output is not read."""


class UnusableOutput(ValueError):
    """An output that cannot be read as a project; :attr:`code` is the failure mode."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


@dataclass(frozen=True)
class Project:
    """
    One state of a project.

    :param manifest: ``package.json``.
    :param lock: ``package-lock.json``, version 3, checked for the shape that the other modules rely on.
    """

    manifest: Mapping[str, Any]
    lock: Mapping[str, Any]

    @property
    def packages(self) -> Mapping[str, Mapping[str, Any]]:
        """The lock's entries by folder."""
        packages: Mapping[str, Mapping[str, Any]] = self.lock["packages"]
        return packages

    @property
    def direct(self) -> dict[str, tuple[str, str]]:
        """Direct dependencies: name to table and range; if two tables name the same one, the later counts."""
        return {
            name: (table, spec)
            for table in ROOT_TABLES
            for name, spec in (self.manifest.get(table) or {}).items()
        }


def read_input(folder: Path) -> Project:
    """Read the project of a case."""
    return _project(*((folder / name).read_text(encoding="utf-8") for name in (MANIFEST, LOCK)))


def read_output(output: Mapping[str, Any]) -> Project:
    """
    Read the project from a system's output; only ``files`` counts, see :func:`further_files` for others.

    :raises UnusableOutput: a file is missing or no JSON object, or the lock is malformed or not of version 3.
    """
    files = output.get("files")
    if not isinstance(files, Mapping):
        raise UnusableOutput("output_missing_file")
    texts = [files.get(name) for name in (MANIFEST, LOCK)]
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in texts):
        raise UnusableOutput("output_missing_file")
    return _project(str(texts[0]), str(texts[1]))


def _project(manifest_text: str, lock_text: str) -> Project:
    manifest, lock = _object(manifest_text), _object(lock_text)
    version = lock.get("lockfileVersion")
    if version != 3 or isinstance(version, bool):
        raise UnusableOutput("lockfile_not_v3")
    packages = lock.get("packages")
    if not (_has_sound_tables(manifest) and isinstance(packages, dict) and ROOT in packages):
        raise UnusableOutput("lockfile_malformed")
    if not all(_is_sound_entry(path, entry) for path, entry in packages.items()):
        raise UnusableOutput("lockfile_malformed")
    return Project(manifest, lock)


def further_files(output: Mapping[str, Any], folder: Path) -> set[str]:
    """Return the names in ``files`` beyond the two, but for files of the case's ``input/`` given back unchanged."""
    files = output["files"]
    return {
        str(name)
        for name, text in files.items()
        if name not in (MANIFEST, LOCK) and not _is_given(folder, str(name), text)
    }


def _is_given(folder: Path, name: str, text: object) -> bool:
    given = folder / name
    if ".." in given.parts or not given.is_relative_to(folder) or not given.is_file():
        return False
    return text == given.read_text(encoding="utf-8")


def _object(text: str) -> dict[str, Any]:
    try:
        # npm skips a byte order mark. Of a key that is there twice it takes the last, a reader the first.
        found = json.loads(
            text.removeprefix("\ufeff"), parse_constant=_no_constant, object_pairs_hook=_once
        )
    except (ValueError, RecursionError):
        raise UnusableOutput("output_not_json") from None
    if not isinstance(found, dict):
        raise UnusableOutput("output_not_json")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "a key is there twice"
        raise ValueError(msg)
    return found


def same_json(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON; in Python true, 1 and 1.0 are equal."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _is_sound_entry(path: str, entry: Any) -> bool:
    if not isinstance(entry, dict) or not _has_sound_tables(entry):
        return False
    versioned = isinstance(entry.get("version"), str)
    return versioned or path == ROOT or entry.get("link") is True


def _has_sound_tables(entry: Mapping[str, Any]) -> bool:
    for table in ROOT_TABLES:
        specs = entry.get(table, {})
        if not isinstance(specs, dict) or not all(isinstance(s, str) for s in specs.values()):
            return False
    meta = entry.get("peerDependenciesMeta", {})
    return isinstance(meta, dict) and all(isinstance(held, dict) for held in meta.values())
