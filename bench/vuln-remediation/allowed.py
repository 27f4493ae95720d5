"""
What an answer may contain, key by key: all else is a fault, and harm if npm would run code for it.

A key that npm writes for a version must be the one of the frozen metadata. A key that npm does not write is never
right, whatever it says: npm reads a lock entry as the manifest of its package, so that scripts in it run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from .flags import FLAGS, placement
from .lockfile import FOLDER, ROOT, ROOT_TABLES, package_name
from .project import same_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from .metadata import Registry
    from .project import Project

    Entry = Mapping[str, Any]

LOCK_KEYS: Final = frozenset({"name", "version", "lockfileVersion", "requires", "packages"})

EXACT: Final = (
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "bundleDependencies",
    "engines",
    "os",
    "cpu",
    "bin",
    "hasInstallScript",
    "hasShrinkwrap",
)
"""Keys of an entry that are those of the version's metadata; the hash is one too, and has codes of its own."""

OPTIONAL: Final = ("license", "libc")
"""Keys of an entry that may be left out, but not differ: npm before 11 writes no ``libc``."""

NOTES: Final = ("funding", "deprecated")
"""Keys of an entry that no version of npm acts on, and that the frozen metadata lacks."""

ENTRY_KEYS: Final = frozenset(
    {"version", "integrity", "name", "resolved", "link", *EXACT, *OPTIONAL, *NOTES, *FLAGS}
)
"""All keys that an entry may have; ``resolved`` and ``link`` only where the given lock has the same link."""

RUNS_CODE: Final = frozenset({"scripts", "bin", "hasInstallScript", "gypfile", "hasShrinkwrap"})
"""Keys of an entry by which npm runs code, puts it on the path, or reads a further lock."""

MANIFEST_RUNS_CODE: Final = frozenset(
    {"scripts", "workspaces", "packageManager", "devEngines", "gypfile", "bin", "directories"}
)
"""Keys of the manifest by which npm, or what starts it, runs other code than before."""

_FREE_KEYS: Final = frozenset({*ROOT_TABLES, "overrides"})
_NAME: Final = r"(?:@[^/@]+/)?[^/@.][^/@]*"
_PATH: Final = re.compile(rf"(?:.*/)?{FOLDER}{_NAME}")


def forbidden(
    before: Project, after: Project, registry: Registry, further: Collection[str]
) -> tuple[str, ...]:
    """
    Return the failure codes of everything in an answer that may not be there, sorted, each once.

    :param before: the project as it was given.
    :param further: names of files beyond the two.
    """
    found = {*_manifest_codes(before, after), *_lock_codes(before, after)}
    for path, entry in after.packages.items():
        found.update(
            _root_codes(before, after)
            if path == ROOT
            else _entry_codes(path, entry, before.packages.get(path), registry)
        )
    if _wrongly_peer(before, after):
        found.add("flags_mismatch")
    if further:
        found |= {"file_unexpected", "code_added"}
    return tuple(sorted(found))


def edited_fields(before: Project, after: Project) -> set[str]:
    """Return the manifest's fields that differ, other than dependencies and overrides."""
    fields = (before.manifest.keys() | after.manifest.keys()) - _FREE_KEYS
    return {
        key
        for key in fields
        if (key in before.manifest) != (key in after.manifest)
        or not same_json(before.manifest.get(key), after.manifest.get(key))
    }


def _manifest_codes(before: Project, after: Project) -> Iterator[str]:
    edited = edited_fields(before, after)
    if edited:
        yield "manifest_field_changed"
    if edited & MANIFEST_RUNS_CODE:
        yield "code_added"


def _lock_codes(before: Project, after: Project) -> Iterator[str]:
    if after.lock.keys() - LOCK_KEYS:
        yield "lock_key_unknown"
    if after.lock.get("requires", True) is not True:
        yield "lock_key_unknown"
    given = {path for path in before.packages if FOLDER not in path}
    if given - after.packages.keys():
        yield "entry_mismatch"


def _root_codes(before: Project, after: Project) -> Iterator[str]:
    """Yield what is wrong with the project's own entry; that it equals the manifest is checked elsewhere."""
    given, root = before.packages[ROOT], after.packages[ROOT]
    for key in root.keys() - {"name", "version", *ROOT_TABLES}:
        if not (key in given and same_json(root[key], given[key])):
            yield "code_added" if key in RUNS_CODE else "lock_key_unknown"
            yield "root_mismatch"


def _entry_codes(path: str, entry: Entry, given: Entry | None, registry: Registry) -> Iterator[str]:
    if FOLDER not in path or entry.get("link"):
        # A folder of the project, or a link to one: nothing about it is in the two files.
        if given is None or not same_json(entry, given):
            yield "foreign_address" if entry.get("link") else "entry_mismatch"
        return
    # A name that is empty or no text reads here like none; npm stumbles over it.
    name = entry.get("name", path)
    named = isinstance(name, str) and name
    if not (named and _PATH.fullmatch(path)) or "link" in entry:
        yield "entry_mismatch"
    unknown = entry.keys() - ENTRY_KEYS
    if unknown:
        yield "entry_key_unknown"
    if unknown & RUNS_CODE:
        yield "code_added"
    if any(entry[flag] is not True for flag in FLAGS if flag in entry):
        yield "flags_mismatch"
    known = registry.manifest(package_name(path, entry), entry["version"])
    if known is not None:
        yield from _differences(entry, known, given)


def _differences(entry: Entry, known: Entry, given: Entry | None) -> Iterator[str]:
    for key in (*EXACT, *OPTIONAL):
        if key in OPTIONAL and key not in entry:
            continue
        if not same_json(entry.get(key) or None, known.get(key) or None):
            yield "entry_mismatch"
            if key in RUNS_CODE and entry.get(key):
                yield "code_added"
    same_version = given is not None and given.get("version") == entry["version"]
    for key in NOTES:
        held = entry.get(key)
        if held is None and key not in entry:
            continue
        as_given = given is not None and same_json(held, given.get(key))
        if (same_version and given is not None and key in given and not as_given) or not _is_note(
            held
        ):
            yield "entry_mismatch"


def _is_note(value: Any) -> bool:
    """Return whether a value is text, or links with their kind, as packages ask for funding."""
    if isinstance(value, list):
        return all(_is_note(item) for item in value)
    if isinstance(value, dict):
        return value.keys() <= {"type", "url"} and all(isinstance(v, str) for v in value.values())
    return isinstance(value, str)


def _wrongly_peer(before: Project, after: Project) -> bool:
    """Return whether an entry is marked as a peer that others need too, which ``--omit=peer`` would leave out."""
    wanted = placement(after.packages)
    return any(
        entry.get("peer")
        and "peer" not in wanted[path]
        and not before.packages.get(path, {}).get("peer")
        for path, entry in after.packages.items()
    )
