"""
Updates a locked tree for a manifest, as npm does.

Locked entries stay. What is missing, out of range or to be changed is resolved from the frozen metadata and placed as
high in the tree as possible; entries that nothing depends on any more are removed.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from _benchgate_bench.vuln_remediation.flags import flagged
from _benchgate_bench.vuln_remediation.lockfile import (
    FOLDER,
    ROOT,
    Edge,
    child_folder,
    folders_upward,
    in_range,
    package_name,
    reachable,
)
from _benchgate_bench.vuln_remediation.semver import affects

from .npmjson import collation_key
from .placement import (
    Verdict,
    asks_as_peer,
    dedupe,
    dedupe_below,
    deepest_folder,
    judge,
    same,
)
from .tree import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _benchgate_bench.vuln_remediation.metadata import Registry

MAX_STEPS = 5_000
"""Placements after which a resolution fails; the shipped cases need some hundred."""


class Unresolvable(Exception):
    """No known version satisfies an edge, or there is no place for it."""


@dataclass(frozen=True)
class Change:
    """
    What to change in a tree.

    :param avoid: package and range to avoid: every edge that resolves into it is resolved again.
    :param refresh: packages to move to the version that npm would pick now.
    :param bent: ranges forced by overrides, see :class:`Tree`.
    """

    avoid: tuple[str, str] | None = None
    refresh: frozenset[str] = frozenset()
    bent: Mapping[tuple[str, str], str] = field(default_factory=dict)


def resolve_tree(
    packages: Mapping[str, Mapping[str, Any]], registry: Registry, change: Change
) -> dict[str, Mapping[str, Any]]:
    """
    Return the packages of the lock after a change.

    :param packages: the locked packages, with the wanted manifest's tables in the root entry.
    :raises Unresolvable: the change cannot be made with the known versions.
    """
    builder = _Builder(Tree(packages, change.bent), registry, change)
    builder.run()
    tree = builder.tree.packages
    kept = reachable(tree)
    return flagged({path: tree[path] for path in sorted(tree, key=collation_key) if path in kept})


class _Builder:
    def __init__(self, tree: Tree, registry: Registry, change: Change) -> None:
        self.tree = tree
        self.registry = registry
        self.change = change
        self._queue: list[tuple[int, Any, str]] = []
        self._refreshed: set[tuple[str, str]] = set()

    def run(self) -> None:
        for path in list(self.tree.packages):
            self._enqueue(path)
        for _ in range(MAX_STEPS):
            if not self._queue:
                return
            self._visit(heapq.heappop(self._queue)[2])
        msg = "the resolution does not come to an end"
        raise Unresolvable(msg)

    def _enqueue(self, path: str) -> None:
        heapq.heappush(self._queue, (path.count(FOLDER), collation_key(path), path))

    def _visit(self, path: str) -> None:
        if path not in self.tree.packages:
            return
        problems = [edge for edge in self.tree.edges_out(path) if self._is_problem(edge)]
        for edge in sorted(problems, key=lambda edge: collation_key(edge.name)):
            self._refreshed.add((edge.source, edge.name))
            version = self._pick(edge)
            if version is not None:
                self._place(edge, version)

    def _is_problem(self, edge: Edge) -> bool:
        target = self.tree.target(edge)
        if target is None:
            return edge.kind != "peerOptional"
        entry = self.tree.packages[target]
        if not in_range(edge, entry):
            return edge.kind != "peerOptional"
        if (edge.source, edge.name) in self._refreshed:
            return False
        return edge.name in self.change.refresh or self._is_avoided(target, entry)

    def _is_avoided(self, path: str, entry: Mapping[str, Any]) -> bool:
        if self.change.avoid is None:
            return False
        name, affected = self.change.avoid
        return package_name(path, entry) == name and affects(entry["version"], affected)

    def _pick(self, edge: Edge) -> str | None:
        avoid = self.change.avoid
        out = avoid[1] if avoid is not None and avoid[0] == edge.package else None
        version = self.registry.pick(edge.package, edge.range, out)
        if version is None and not edge.may_be_absent:
            msg = f"no known version of {edge.package} satisfies {edge.range}"
            raise Unresolvable(msg)
        return version

    def _place(self, edge: Edge, version: str) -> None:
        entry = self._entry(edge, version)
        chosen: tuple[str, Verdict] | None = None
        for folder in folders_upward(deepest_folder(self.tree, edge)):
            if folder != ROOT and asks_as_peer(self.tree, folder, edge.name):
                continue
            verdict = judge(self.tree, folder, edge, entry, self._is_avoided)
            if verdict is Verdict.CONFLICT:
                break
            chosen = folder, verdict
        if chosen is None:
            msg = f"no place for {edge.package}@{version}, asked for by {edge.source or 'the project'}"
            raise Unresolvable(msg)
        folder, verdict = chosen
        if verdict is Verdict.KEEP:
            dedupe(self.tree, folder, descend=True)
            return
        for above in folders_upward(folder):
            if above != ROOT and same(above, self.tree.packages[above], edge.name, entry):
                # npm breaks such a cycle with a link, which a lock without addresses cannot contain.
                msg = f"{edge.package}@{version} would have to lie inside itself"
                raise Unresolvable(msg)
        self._put(child_folder(folder, edge.name), entry, edge)

    def _entry(self, edge: Edge, version: str) -> dict[str, Any]:
        manifest = self.registry.manifest(edge.package, version)
        if manifest is None:
            msg = f"{edge.package}@{version} is not in the frozen metadata"
            raise Unresolvable(msg)
        alias = {"name": edge.package} if edge.package != edge.name else {}
        return {**alias, "version": version, **manifest}

    def _put(self, path: str, entry: Mapping[str, Any], edge: Edge) -> None:
        old = self.tree.packages.get(path)
        if old is None:
            self.tree.put(path, entry)
        else:
            self._replace(path, entry)
        reached = self.tree.target(edge)
        if reached is not None and reached != path and self.tree.valid(edge):
            dedupe(self.tree, reached, descend=False)
        dedupe_below(self.tree, path)
        self._enqueue(path)
        for other in list(self.tree.edges_in(path)):
            self._enqueue(other.source)

    def _replace(self, path: str, entry: Mapping[str, Any]) -> None:
        tree = self.tree
        before = {edge.name: tree.target(edge) for edge in tree.edges_out(path)}
        tree.put(path, entry)
        loose = {
            target
            for name, target in before.items()
            if target is not None and tree.edge_out(path, name) is None
        }
        for edge in tree.edges_out(path):
            target = tree.target(edge)
            if target is not None and not tree.valid(edge):
                loose.add(target)
        gone = tree.owned(
            loose,
            lambda edge, to: path not in {edge.source, to} and tree.valid(edge),
        )
        for found in sorted(gone, reverse=True):
            askers = [edge.source for edge in tree.edges_in(found)]
            tree.remove(found)
            for asker in askers:
                self._enqueue(asker)
