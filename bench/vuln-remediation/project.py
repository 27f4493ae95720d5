"""A manifest and its lock, read from a case or from what a system returned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .lockfile import FLAGS, FOLDER, ROOT, ROOT_TABLES, folder_name

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST: Final = "package.json"
LOCK: Final = "package-lock.json"
MAX_TEXT: Final = 20_000_000
"""Characters of one file beyond which an output is not read."""


class Direct(NamedTuple):
    """
    A dependency that a manifest of the project asks for.

    :param owner: folder of the workspace whose manifest it is, ``""`` for the project's own.
    """

    owner: str
    name: str
    table: str
    spec: str


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
    :param workspaces: folder to manifest.
    """

    manifest: Mapping[str, Any]
    lock: Mapping[str, Any]
    workspaces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def packages(self) -> Mapping[str, Mapping[str, Any]]:
        """The lock's entries by folder."""
        packages: Mapping[str, Mapping[str, Any]] = self.lock["packages"]
        return packages

    @property
    def manifests(self) -> dict[str, Mapping[str, Any]]:
        """All manifests by folder, the project's own first."""
        return {ROOT: self.manifest, **self.workspaces}

    @property
    def direct(self) -> dict[str, Direct]:
        """Direct dependencies by :func:`key_of`; if two tables name the same one, the later counts."""
        return {
            key_of(owner, name): Direct(owner, name, table, spec)
            for owner, manifest in self.manifests.items()
            for table in ROOT_TABLES
            for name, spec in (manifest.get(table) or {}).items()
        }

    @cached_property
    def entries(self) -> frozenset[str]:
        """The entries of packages as texts, wherever they lie: what is among them was there."""
        return frozenset(entry_text(path, entry) for path, entry in self.packages.items() if path)


def key_of(owner: str, name: str) -> str:
    """Return a direct dependency's key: its name, in a workspace ``folder:name``."""
    return f"{owner}:{name}" if owner else name


def entry_text(path: str, entry: Mapping[str, Any]) -> str:
    """Return an entry as a text without the flags of its place."""
    held = {key: value for key, value in entry.items() if key not in FLAGS}
    name = folder_name(path) if FOLDER in path else path
    return json.dumps([name, held], sort_keys=True)


def read_input(folder: Path) -> Project:
    """Read the project of a case."""
    texts = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in (folder / LOCK, *sorted(folder.rglob(MANIFEST)))
    }
    return _project(texts)


def read_output(output: Mapping[str, Any], given: Project | None = None) -> Project:
    """
    Read the project from a system's output; only ``files`` counts, see :func:`further_files` for others.

    :param given: the project before: its workspaces' manifests may be edited, and stay if they are not named.
    :raises UnusableOutput: a file is missing, no text or no JSON object, or the lock is malformed or not of version 3.
    """
    files = output.get("files")
    if not isinstance(files, Mapping):
        raise UnusableOutput("output_missing_file")
    made = {name: files.get(name) for name in (MANIFEST, LOCK)}
    for folder, manifest in (given.workspaces if given else {}).items():
        name = f"{folder}/{MANIFEST}"
        made[name] = files.get(name, json.dumps(manifest))
    texts = {name: text for name, text in made.items() if isinstance(text, str)}
    if texts.keys() != made.keys() or any(len(text) > MAX_TEXT for text in texts.values()):
        raise UnusableOutput("output_missing_file")
    return _project(texts)


def _project(texts: Mapping[str, str]) -> Project:
    held = {name: _object(text) for name, text in texts.items()}
    manifest, lock = held.pop(MANIFEST), held.pop(LOCK)
    version = lock.get("lockfileVersion")
    if version != 3 or isinstance(version, bool):
        raise UnusableOutput("lockfile_not_v3")
    packages = lock.get("packages")
    manifests = all(_has_sound_tables(one) for one in (manifest, *held.values()))
    if not (manifests and isinstance(packages, dict) and ROOT in packages):
        raise UnusableOutput("lockfile_malformed")
    if not all(_is_sound_entry(path, entry) for path, entry in packages.items()):
        raise UnusableOutput("lockfile_malformed")
    return Project(manifest, lock, {name.rpartition("/")[0]: one for name, one in held.items()})


def further_files(output: Mapping[str, Any], folder: Path) -> set[str]:
    """
    Return the names in ``files`` beyond those that a project is read from.

    Files of the case's ``input/`` may be given back unchanged, and manifests of workspaces edited.
    """
    return {
        str(name)
        for name, text in output["files"].items()
        if name not in (MANIFEST, LOCK)
        and not _is_given(folder, str(name), text)
        and not (str(name).endswith(f"/{MANIFEST}") and _is_given(folder, str(name), None))
    }


def _is_given(folder: Path, name: str, text: object) -> bool:
    given = folder / name
    if ".." in given.parts or not given.is_relative_to(folder) or not given.is_file():
        return False
    return text is None or text == given.read_text(encoding="utf-8")


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
