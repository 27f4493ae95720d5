"""Checks that a lock is one that npm would accept for its manifest, against the frozen metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .flags import placement
from .lockfile import (
    FOLDER,
    ROOT,
    ROOT_TABLES,
    Edge,
    edges,
    has_address,
    in_range,
    package_name,
    parent_folder,
    reachable,
)
from .overrides import Bending, bends_direct, is_malformed, read_overrides
from .semver import satisfies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .metadata import Registry
    from .project import Project

# Not ``peer``: npm's own versions disagree on it.
_OMITTED: Final = frozenset({"dev", "optional", "devOptional"})
_ROOT_FIELDS: Final = (
    "name",
    "version",
    *ROOT_TABLES,
    "peerDependenciesMeta",
    "workspaces",
)


def lock_problems(project: Project, registry: Registry) -> tuple[str, ...]:
    """Return the failure codes of everything wrong with a lock, sorted, each once."""
    found = {
        *_edge_problems(project, registry),
        *_root_problems(project),
        *_address_problems(project),
        *(
            code
            for path, entry in project.packages.items()
            if path != ROOT
            for code in _entry_problems(path, entry, registry)
        ),
    }
    if set(project.packages) - reachable(project.packages):
        found.add("entry_extraneous")
    if _misplaced(project):
        found.add("flags_mismatch")
    return tuple(sorted(found))


def _misplaced(project: Project) -> bool:
    """Return whether an entry would be left out, or kept, when development dependencies are omitted."""
    return any(
        {flag for flag in _OMITTED if project.packages[path].get(flag)} != wanted & _OMITTED
        for path, wanted in placement(project.packages).items()
        if path != ROOT
    )


def _edge_problems(project: Project, registry: Registry) -> Iterator[str]:
    packages = project.packages
    bending = Bending(read_overrides(project.manifest), packages)
    for edge, target in edges(packages):
        if target is None:
            # npm leaves out an optional package only if there is none; if it is not locked, it is not installed.
            optional = edge.kind == "optional" and registry.pick(edge.package, edge.range)
            if not edge.may_be_absent or optional:
                yield "edge_unresolved"
            continue
        if edge.is_peer and edge.source != ROOT and parent_folder(target) == edge.source:
            yield "edge_out_of_range"
        yield from _bent_problems(edge, packages[target], bending)


def _bent_problems(edge: Edge, target: Mapping[str, Any], bending: Bending) -> Iterator[str]:
    version = str(target.get("version"))
    named = target.get("name") or edge.name
    kept = {
        rule
        for rule in bending.rules_for(edge)
        if named == edge.package and satisfies(version, rule.value)
    }
    if not kept and not in_range(edge, target):
        yield "edge_out_of_range"
    elif not kept.issuperset(bending.taken(edge)):
        yield "override_not_locked"


def _root_problems(project: Project) -> Iterator[str]:
    root = project.packages[ROOT]
    for field in _ROOT_FIELDS:
        if (project.manifest.get(field) or None) != (root.get(field) or None):
            yield "root_mismatch"
    for field in ("name", "version"):
        if project.manifest.get(field) != project.lock.get(field):
            yield "root_mismatch"
    yield from _override_problems(project)


def _override_problems(project: Project) -> Iterator[str]:
    if is_malformed(project.manifest):
        yield "override_malformed"
    if bends_direct(project.manifest, {name: spec for name, (_, spec) in project.direct.items()}):
        yield "override_conflict"  # npm refuses to install: EOVERRIDE


def _address_problems(project: Project) -> Iterator[str]:
    for path, entry in project.packages.items():
        specs = [spec for table in ROOT_TABLES for spec in (entry.get(table) or {}).values()]
        if path == ROOT:
            specs += [spec for _, spec in project.direct.values()]
            specs += [rule.value for rule in read_overrides(project.manifest)]
        # Which links a project may have, :mod:`.allowed` knows.
        if ("resolved" in entry and not entry.get("link")) or any(map(has_address, specs)):
            yield "foreign_address"


def _entry_problems(path: str, entry: Mapping[str, Any], registry: Registry) -> Iterator[str]:
    if entry.get("link") or FOLDER not in path:
        return
    known = registry.manifest(package_name(path, entry), entry["version"])
    if known is None:
        yield "version_unknown"
        return
    if known.get("integrity") != entry.get("integrity"):
        yield "integrity_mismatch" if entry.get("integrity") else "integrity_missing"
