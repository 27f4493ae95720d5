"""
Reads ``package-lock.json`` version 3: names, folders, edges, and what each edge resolves to.

A lock is the mapping ``packages`` of the file: folder path to entry, with ``""`` for the project itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from .semver import affects, satisfies

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    Entry = Mapping[str, Any]
    Packages = Mapping[str, Entry]

ROOT: Final = ""
FOLDER: Final = "node_modules/"
FLAGS: Final = ("dev", "optional", "devOptional", "peer")
"""Keys of an entry that say which place it has in the tree."""
AT_INSTALL: Final = ("preinstall", "install", "postinstall")
"""Scripts for which npm marks the entry of a package, or of a project, with ``hasInstallScript``."""
TABLES: Final = ("peerDependencies", "dependencies", "optionalDependencies")
"""Dependency tables of an entry; if two name the same package, the later one counts."""
ROOT_TABLES: Final = (*TABLES, "devDependencies")
_KINDS: Final = {
    "dependencies": "prod",
    "optionalDependencies": "optional",
    "devDependencies": "dev",
}


@dataclass(frozen=True, slots=True)
class Edge:
    """
    A dependency of one package on another.

    :param source: folder path of the dependent entry, ``""`` for the project.
    :param name: folder name of the dependency; with an alias it is not the package's own name.
    :param spec: the range as written.
    :param kind: ``prod``, ``dev``, ``optional``, ``peer`` or ``peerOptional``.
    """

    source: str
    name: str
    spec: str
    kind: str

    @property
    def may_be_absent(self) -> bool:
        """Whether the tree is complete without the package."""
        return self.kind in ("optional", "peerOptional")

    @property
    def is_peer(self) -> bool:
        """Whether a package further up in the tree has to provide it."""
        return self.kind in ("peer", "peerOptional")

    @property
    def package(self) -> str:
        """Name of the dependency's package, an alias resolved."""
        return split_alias(self.name, self.spec)[0]

    @property
    def range(self) -> str:
        """The range, an alias resolved."""
        return split_alias(self.name, self.spec)[1]


@lru_cache(maxsize=100_000)
def split_alias(name: str, spec: str) -> tuple[str, str]:
    """Return package and range of a dependency: ``("a", "npm:b@^1")`` is ``("b", "^1")``."""
    if not spec.startswith("npm:"):
        return name, spec
    package, at, wanted = spec[4:].rpartition("@")
    return (package, wanted) if at and package else (spec[4:], "*")


def has_address(spec: str) -> bool:
    """Return whether a spec names another source than the registry: a URL, git, a folder."""
    return not spec.startswith("npm:") and (":" in spec or "/" in spec)


@lru_cache(maxsize=100_000)
def folder_name(path: str) -> str:
    """Return the name under which the entry at ``path`` is required."""
    return path.rpartition(FOLDER)[2]


def package_name(path: str, entry: Entry) -> str:
    """Return the package's own name: the ``name`` field (an alias has one), else the folder."""
    name = entry.get("name")
    return name if isinstance(name, str) and name else folder_name(path)


@lru_cache(maxsize=100_000)
def parent_folder(path: str) -> str:
    """Return the path of the entry whose ``node_modules`` this one is in."""
    return path.rpartition(FOLDER)[0].rstrip("/")


@lru_cache(maxsize=400_000)
def child_folder(path: str, name: str) -> str:
    """Return the path of ``name`` inside the ``node_modules`` of ``path``."""
    return f"{path}/{FOLDER}{name}" if path else f"{FOLDER}{name}"


def folders_upward(path: str) -> Iterator[str]:
    """Yield ``path`` and the folders around it, up to the project."""
    yield path
    while path:
        path = parent_folder(path)
        yield path


def resolve(packages: Packages, source: str, name: str) -> str | None:
    """Return the path that ``require(name)`` finds from ``source``, links followed, or ``None``."""
    for folder in folders_upward(source):
        candidate = child_folder(folder, name)
        if candidate in packages:
            return link_target(packages, candidate) or candidate
    return None


def link_target(packages: Packages, path: str) -> str | None:
    """Return the folder of the project, such as a workspace, that an entry is a link to, or ``None``."""
    entry = packages[path]
    target = entry.get("resolved") if entry.get("link") else None
    return target if isinstance(target, str) and target in packages else None


def links(packages: Packages) -> dict[str, str]:
    """Return the links among the entries, each with the folder that it leads to."""
    found = {path: link_target(packages, path) for path in packages}
    return {path: target for path, target in found.items() if target is not None}


def edges_from(path: str, entry: Entry) -> list[Edge]:
    """Return the dependencies of an entry, one edge for each name."""
    optional_peers = entry.get("peerDependenciesMeta") or {}
    found: dict[str, Edge] = {}
    # The project and its workspaces have development dependencies, packages have none.
    for table in TABLES if FOLDER in path else ROOT_TABLES:
        for name, spec in (entry.get(table) or {}).items():
            kind = _KINDS.get(table, "peer")
            if kind == "peer" and (optional_peers.get(name) or {}).get("optional"):
                kind = "peerOptional"
            found[name] = Edge(path, name, spec, kind)
    return list(found.values())


def edges(packages: Packages) -> Iterator[tuple[Edge, str | None]]:
    """Yield every edge with the path it resolves to, in the order of the paths."""
    for path in sorted(packages):
        for edge in edges_from(path, packages[path]):
            yield edge, resolve(packages, path, edge.name)


def in_range(edge: Edge, target: Entry) -> bool:
    """Return whether an entry is the edge's package in a version within its range."""
    named = target.get("name") or edge.name
    return named == edge.package and satisfies(str(target.get("version")), edge.range)


def reachable(
    packages: Packages, start: str = ROOT, around: Collection[str] = frozenset()
) -> set[str]:
    """
    Return the paths that can be reached from ``start``, without it unless it is the project.

    :param around: paths that are not entered.
    """
    linked = links(packages)
    own = {ROOT, *linked.values(), *linked} if start == ROOT else set()
    seen = set(own)
    waiting = [*sorted(own - linked.keys())] if own else [start]
    while waiting:
        path = waiting.pop()
        for edge in edges_from(path, packages[path]):
            target = resolve(packages, path, edge.name)
            # An optional peer does not keep an entry in the tree: npm prunes it if nothing else needs it.
            if target is None or edge.kind == "peerOptional":
                continue
            if target not in seen and target not in around:
                seen.add(target)
                waiting.append(target)
    return seen


def instances(packages: Packages, name: str) -> list[str]:
    """Return the paths of every entry of a package, whatever its folder is called."""
    return [
        path
        for path in sorted(packages)
        if path != ROOT and package_name(path, packages[path]) == name
    ]


def vulnerable(packages: Packages, name: str, affected: str) -> list[str]:
    """Return the paths of the entries of package ``name`` in the range ``affected``."""
    return [
        path
        for path in instances(packages, name)
        if affects(str(packages[path].get("version")), affected)
    ]
