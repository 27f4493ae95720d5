"""
What an answer may contain, key by key: all else is a fault, and harm if npm would run code for it.

A key that npm writes for a version must be the one of the frozen metadata. A key that npm does not write is never
right, whatever it says: npm reads a lock entry as the manifest of its package, so that scripts in it run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from .consistency import is_registry_address
from .flags import placement
from .lockfile import AT_INSTALL, FLAGS, FOLDER, ROOT, ROOT_TABLES, package_name
from .project import entry_text, key_of, same_json

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
"""Keys of an entry that no version of npm acts on; not all frozen metadata has them."""

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

INERT: Final = frozenset(
    {"//", "description", "keywords", "author", "contributors", "homepage", "repository", "bugs", "funding"}
)  # fmt: skip
"""Keys of the manifest that nothing acts on, comments among them."""

UNTIDY: Final = "style_only"
"""The code of what nobody asked for and nothing acts on: worth a remark, not a refusal."""

_FREE_KEYS: Final = frozenset({*ROOT_TABLES, "overrides"})
"""Keys that a fix edits: what they say is judged by :mod:`.changes` and :mod:`.consistency`, of every owner."""

# No name has a colon: in a key it stands between a workspace and the name of what it asks for.
_NAME: Final = r"(?:@[^/@:]+/)?[^/@.:][^/@:]*"
_PATH: Final = re.compile(rf"(?:.*/)?{FOLDER}{_NAME}")
_TEXT_FILE: Final = re.compile(r"(?!.*(?:^|/)(?:node_modules|\.)).+\.(?:md|txt|rst)", re.IGNORECASE)


def forbidden(
    before: Project, after: Project, registry: Registry, further: Collection[str]
) -> tuple[str, ...]:
    """
    Return the failure codes of everything in an answer that may not be there, sorted, each once.

    An entry that the project had may stay as it was, wherever it lies.

    :param before: the project as it was given.
    :param further: names of files beyond the two.
    """
    found = {*_manifest_codes(before, after), *_lock_codes(before, after)}
    for path, entry in after.packages.items():
        if path == ROOT:
            found.update(_root_codes(before, after))
            continue
        given = before.packages.get(path)
        found.update(_flag_codes(entry, given or {}))
        if FOLDER not in path or entry.get("link"):
            found.update(_owner_codes(entry, given, after.manifests.get(path, {})))
        elif entry_text(path, entry) not in before.entries or _is_odd(path):
            found.update(_entry_codes(path, entry, given, registry))
    if _wrongly_peer(before, after):
        found.add("flags_mismatch")
    for name in further:
        found |= {UNTIDY} if _TEXT_FILE.fullmatch(name) else {"file_unexpected", "code_added"}
    return tuple(sorted(found))


def _is_odd(path: str) -> bool:
    return FOLDER in path and not _PATH.fullmatch(path)


def edited_fields(before: Project, after: Project) -> set[str]:
    """Return the manifests' fields that differ, other than dependencies and overrides; an empty table is none."""
    return {key_of(owner, key) for owner, key in _edited(before, after)}


def _edited(before: Project, after: Project) -> Iterator[tuple[str, str]]:
    """Yield the owner and the key of each field that differs."""
    for owner, old in before.manifests.items():
        new = after.manifests.get(owner, {})
        for key in (old.keys() | new.keys()) - _FREE_KEYS:
            if not same_json(old.get(key), new.get(key)) or (key in old) != (key in new):
                yield owner, key


def _manifest_codes(before: Project, after: Project) -> Iterator[str]:
    for owner, name in _edited(before, after):
        old, new = (one.manifests.get(owner, {}).get(name) for one in (before, after))
        if name in INERT or (not old and new in ({}, [])):
            yield UNTIDY
            continue
        yield "manifest_field_changed"
        kept = isinstance(old, dict) and isinstance(new, dict) and new.items() <= old.items()
        if name in MANIFEST_RUNS_CODE and new and not kept:
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
    free = {"name", "version", *ROOT_TABLES, *_marks(root, after.manifest)}
    for key in root.keys() - free:
        if not (key in given and same_json(root[key], given[key])):
            yield "code_added" if key in RUNS_CODE else "lock_key_unknown"
            yield "root_mismatch"


def _marks(entry: Entry, manifest: Mapping[str, Any]) -> set[str]:
    """Return the mark that npm writes into an owner's entry for its scripts; these are faults of the manifest."""
    scripts = manifest.get("scripts")
    runs = isinstance(scripts, dict) and any(scripts.get(name) for name in AT_INSTALL)
    return {"hasInstallScript"} if runs and entry.get("hasInstallScript") is True else set()


def _entry_codes(path: str, entry: Entry, given: Entry | None, registry: Registry) -> Iterator[str]:
    if not _is_named(path, entry) or "link" in entry:
        yield "entry_mismatch"
    if is_registry_address(path, entry):
        yield UNTIDY
    yield from _key_codes(entry)
    known = registry.manifest(package_name(path, entry), entry["version"])
    if known is not None:
        yield from _differences(entry, known, given)


def _flag_codes(entry: Entry, given: Entry) -> Iterator[str]:
    """Yield the fault of a flag that is there and is not true; whether it fits its place is checked elsewhere."""
    for flag in FLAGS:
        if entry.get(flag, True) is True:
            continue
        if flag not in given or not same_json(entry[flag], given[flag]):
            yield "flags_mismatch"


def _owner_codes(entry: Entry, given: Entry | None, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the entry of a workspace, or a link to one: all but what it asks for is as it was."""
    free = FLAGS if entry.get("link") else (*FLAGS, *ROOT_TABLES, *_marks(entry, manifest))
    old = given or {}
    changed = {
        key
        for key in (entry.keys() | old.keys()) - {*free}
        if (key in entry) != (key in old) or not same_json(entry.get(key), old.get(key))
    }
    if given is None or "resolved" in changed or "link" in changed:
        yield "foreign_address" if entry.get("link") else "entry_mismatch"
    elif changed:
        yield "entry_mismatch"
    if any(entry.get(key) for key in changed & RUNS_CODE):
        yield "code_added"


def _key_codes(entry: Entry) -> Iterator[str]:
    unknown = entry.keys() - ENTRY_KEYS
    if unknown:
        yield "entry_key_unknown"
    if unknown & RUNS_CODE:
        yield "code_added"


def _is_named(path: str, entry: Entry) -> bool:
    # A name that is empty or no text reads here like none; npm stumbles over it.
    name = entry.get("name", path)
    return isinstance(name, str) and bool(name and _PATH.fullmatch(path))


def _differences(entry: Entry, known: Entry, given: Entry | None) -> Iterator[str]:
    for key in (*EXACT, *OPTIONAL):
        if key in OPTIONAL and key not in entry:
            continue
        if not same_json(entry.get(key) or None, known.get(key) or None):
            yield "entry_mismatch"
            if key in RUNS_CODE and entry.get(key):
                yield "code_added"
    same = given is not None and given.get("version") == entry["version"]
    if not _notes_are_known(entry, known, given if same and given is not None else {}):
        yield "entry_mismatch"


def _notes_are_known(entry: Entry, known: Entry, given: Entry) -> bool:
    # npm shows the text to whoever installs: it is the publisher's to write.
    texts = [one.get("deprecated") for one in (given, known)]
    if "deprecated" in entry and not any(same_json(entry["deprecated"], text) for text in texts):
        return False
    held = given.get("funding") or known.get("funding")
    asked = entry.get("funding", "")
    return same_json(asked, held) if held and "funding" in entry else _is_note(asked)


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
