"""Where a package may be placed in a tree, and which entries of a tree are redundant."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from _benchgate_bench.vuln_remediation.lockfile import (
    ROOT,
    Edge,
    child_folder,
    folder_name,
    folders_upward,
    in_range,
    package_name,
    parent_folder,
    resolve,
)
from _benchgate_bench.vuln_remediation.semver import sort_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .tree import Tree

    Entry = Mapping[str, Any]
    IsAvoided = Callable[[str, Entry], bool]


class Verdict(Enum):
    """What placing an entry in a folder would mean."""

    PLACE = "place"
    REPLACE = "replace"
    KEEP = "keep"
    CONFLICT = "conflict"


def asks_as_peer(tree: Tree, folder: str, name: str) -> bool:
    """Return whether the entry in a folder has a package as a peer dependency."""
    asked = tree.edge_out(folder, name)
    return asked is not None and asked.is_peer


def deepest_folder(tree: Tree, edge: Edge) -> str:
    """Return the deepest folder in whose ``node_modules`` an edge's package may be placed."""
    return next(
        (
            folder
            for folder in folders_upward(edge.source)
            if not asks_as_peer(tree, folder, edge.name)
        ),
        ROOT,
    )


def judge(tree: Tree, folder: str, edge: Edge, entry: Entry, is_avoided: IsAvoided) -> Verdict:
    """Return what placing an entry in the ``node_modules`` of a folder would do, for an edge."""
    path = child_folder(folder, edge.name)
    if path in tree.packages:
        return _judge_over(tree, folder, edge, entry, is_avoided)
    own = tree.edge_out(folder, edge.name)
    if own is not None and own != edge and not in_range(own, entry):
        return Verdict.CONFLICT
    above = resolve(tree.packages, folder, edge.name) if folder != edge.source else None
    # Dependents below the folder that resolved to a package above would now resolve to this one.
    shadowed = [] if above is None else list(tree.edges_in(above))
    spoilt = any(
        tree.is_below(other.source, folder) and tree.valid(other) and not in_range(other, entry)
        for other in shadowed
    )
    return Verdict.CONFLICT if spoilt else Verdict.PLACE


def _judge_over(
    tree: Tree, folder: str, edge: Edge, entry: Entry, is_avoided: IsAvoided
) -> Verdict:
    path = child_folder(folder, edge.name)
    current = tree.packages[path]
    if current.get("link"):
        return Verdict.CONFLICT  # a workspace stays where it is
    fits = in_range(edge, current)
    if fits and same(path, current, path, entry):
        return Verdict.KEEP
    avoided = is_avoided(path, current)
    newer = sort_key(entry["version"]) >= sort_key(current["version"])
    escapes = avoided and not is_avoided(path, entry)
    replaceable = tree.can_stand_for(path, edge.name, entry)
    if replaceable and (newer or escapes):
        return Verdict.REPLACE
    if fits and not avoided:
        return Verdict.KEEP
    # A peer has no folder of its own; any other dependency may replace what is in its own.
    if (edge.is_peer and replaceable) or (not edge.is_peer and folder == edge.source):
        return Verdict.REPLACE
    return Verdict.CONFLICT


def dedupe(tree: Tree, path: str, *, descend: bool) -> None:
    """Remove an entry that one further up can replace, or else such entries nested in it."""
    if path not in tree.packages:
        return
    if path != ROOT and _is_redundant(tree, path):
        gone = tree.owned([path], lambda edge, to: to != path and tree.valid(edge))
        for found in sorted(gone, reverse=True):
            tree.remove(found)
    elif descend:
        for kid in tree.nested(path):
            dedupe(tree, kid, descend=True)


def dedupe_below(tree: Tree, path: str) -> None:
    """Remove what a newly placed entry makes redundant below its folder."""
    name, folder = folder_name(path), parent_folder(path)
    for found in [p for p in sorted(tree.packages) if p and folder_name(p) == name]:
        if found != path and tree.is_below(found, folder):
            dedupe(tree, found, descend=False)
        if found in tree.packages:
            for kid in tree.nested(found):
                dedupe(tree, kid, descend=False)


def _is_redundant(tree: Tree, path: str) -> bool:
    folder = parent_folder(path)
    if folder == ROOT:
        return False
    if not any(tree.edges_in(path)):
        return True
    above = resolve(tree.packages, parent_folder(folder), folder_name(path))
    if above is None:
        return False
    other, entry = tree.packages[above], tree.packages[path]
    if same(path, entry, above, other):
        return True
    newer = sort_key(other["version"]) >= sort_key(entry["version"])
    return newer and tree.can_stand_for(path, folder_name(above), other)


def same(path: str, one: Entry, other_path: str, other: Entry) -> bool:
    """Return whether two entries are the same version of the same package."""
    names = {package_name(path, one), package_name(other_path, other)}
    return len(names) == 1 and bool(one["version"] == other["version"])
