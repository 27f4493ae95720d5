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
from .project import entry_text
from .semver import satisfies

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

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
_TABLES: Final = (*ROOT_TABLES, "peerDependenciesMeta")
REGISTRIES: Final = ("registry.npmjs.org", "registry.yarnpkg.com")


def lock_problems(
    project: Project, registry: Registry, given: Project | None = None
) -> tuple[str, ...]:
    """
    Return the failure codes of everything wrong with a lock, sorted, each once.

    :param given: the project before; what is wrong with it is not the answer's doing.
    """
    found = _problems(project, registry, given.entries if given else frozenset())
    if given is not None:
        found -= _problems(given, registry, given.entries)
    return tuple(sorted({code for code, _ in found}))


def _problems(project: Project, registry: Registry, given: Collection[str]) -> set[tuple[str, str]]:
    """Return failure codes, each with where it is; an entry that is among ``given`` is not looked at."""
    stray = set(project.packages) - reachable(project.packages)
    return {
        *_edge_problems(project, registry),
        *_root_problems(project),
        *_address_problems(project, given),
        *(
            (code, path)
            for path, entry in project.packages.items()
            if path != ROOT and entry_text(path, entry) not in given
            for code in _entry_problems(path, entry, registry)
        ),
        *(("entry_extraneous", path) for path in stray),
        *(
            ("flags_mismatch", path)
            for path, wanted in placement(project.packages).items()
            if path != ROOT
            and path not in stray
            and {flag for flag in _OMITTED if project.packages[path].get(flag)} != wanted & _OMITTED
        ),
    }


def _edge_problems(project: Project, registry: Registry) -> Iterator[tuple[str, str]]:
    packages = project.packages
    bending = Bending(read_overrides(project.manifest), packages)
    for edge, target in edges(packages):
        asked = f"{package_name(edge.source, packages[edge.source])} > {edge.name}"
        if target is None:
            # npm leaves out an optional package only if there is none; if it is not locked, it is not installed.
            optional = edge.kind == "optional" and registry.pick(edge.package, edge.range)
            if not edge.may_be_absent or optional:
                yield "edge_unresolved", asked
            continue
        where = f"{asked} {packages[target].get('version')}"
        # Below a workspace, as below the project, npm installs what they have as peers.
        if edge.is_peer and FOLDER in edge.source and parent_folder(target) == edge.source:
            yield "edge_out_of_range", where
        for code in _bent_problems(edge, packages[target], bending):
            yield code, where


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


def _root_problems(project: Project) -> Iterator[tuple[str, str]]:
    for owner, manifest in project.manifests.items():
        entry = project.packages.get(owner, {})
        for field in _ROOT_FIELDS if not owner else _TABLES:
            if (manifest.get(field) or None) != (entry.get(field) or None):
                yield "root_mismatch", f"{owner} {field}"
        # Those of a workspace count where its folder is installed alone.
        if is_malformed(manifest):
            yield "override_malformed", owner
        direct = {one.name: one.spec for one in project.direct.values() if one.owner == owner}
        if bends_direct(manifest, direct):
            yield "override_conflict", owner  # npm refuses to install: EOVERRIDE
    for field in ("name", "version"):
        if project.manifest.get(field) != project.lock.get(field):
            yield "root_mismatch", field


def _address_problems(project: Project, given: Collection[str]) -> Iterator[tuple[str, str]]:
    for path, entry in project.packages.items():
        specs = [spec for table in ROOT_TABLES for spec in (entry.get(table) or {}).values()]
        if path == ROOT:
            specs += [one.spec for one in project.direct.values()]
            manifests = project.manifests.values()
            specs += [rule.value for one in manifests for rule in read_overrides(one)]
        where = package_name(path, entry)
        # Which links a project may have, :mod:`.allowed` knows.
        if (
            "resolved" in entry
            and not entry.get("link")
            and not is_registry_address(path, entry)
            and entry_text(path, entry) not in given
        ):
            yield "foreign_address", where
        for spec in filter(has_address, specs):
            yield "foreign_address", f"{where} {spec}"


def is_registry_address(path: str, entry: Mapping[str, Any]) -> bool:
    """Return whether ``resolved`` is where the registry has this very version, as npm writes it by default."""
    name = package_name(path, entry)
    file = f"{name}/-/{name.rpartition('/')[2]}-{entry.get('version')}.tgz"
    return entry.get("resolved") in {f"https://{host}/{file}" for host in REGISTRIES}


def _entry_problems(path: str, entry: Mapping[str, Any], registry: Registry) -> Iterator[str]:
    if entry.get("link") or FOLDER not in path:
        return
    known = registry.manifest(package_name(path, entry), entry["version"])
    if known is None:
        yield "version_unknown"
        return
    if known.get("integrity") != entry.get("integrity"):
        yield "integrity_mismatch" if entry.get("integrity") else "integrity_missing"
