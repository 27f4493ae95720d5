"""The placement flags of lock entries: ``dev``, ``optional``, ``devOptional``, ``peer``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .lockfile import FLAGS, ROOT, edges_from, links, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    Packages = Mapping[str, Mapping[str, Any]]

_OPTIONAL: Final = frozenset({"optional", "peerOptional"})
_PEER: Final = frozenset({"peer", "peerOptional"})


def _reached_without(
    graph: Mapping[str, list[tuple[str, str]]], start: set[str], kinds: frozenset[str]
) -> set[str]:
    seen, waiting = set(start), sorted(start)
    while waiting:
        for kind, target in graph.get(waiting.pop(), ()):
            if kind not in kinds and target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def placement(packages: Packages) -> dict[str, frozenset[str]]:
    """
    Return the flags that each entry must have for its place in the tree.

    An entry is ``dev`` if every path to it from the project goes through a development dependency, and so
    on; ``devOptional`` if every path goes through either kind, but not all through the same.
    """
    linked = links(packages)
    start = {ROOT, *linked, *linked.values()}
    graph = {
        path: [
            (edge.kind, to)
            for edge in edges_from(path, entry)
            if (to := resolve(packages, path, edge.name)) is not None
        ]
        for path, entry in packages.items()
        if path not in linked
    }
    without = (frozenset({"dev"}), _OPTIONAL, _OPTIONAL | {"dev"}, _PEER)
    required, present, firm, direct = (_reached_without(graph, start, kinds) for kinds in without)
    made = {}
    for path in packages:
        dev, optional = path not in required, path not in present
        wanted = {
            "dev": dev,
            "optional": optional,
            "devOptional": path not in firm and not dev and not optional,
            "peer": path not in direct,
        }
        made[path] = frozenset(flag for flag in FLAGS if wanted[flag])
    return made


def flagged(packages: Packages) -> dict[str, Mapping[str, Any]]:
    """Return the packages with exactly the flags of their places."""
    wanted = placement(packages)
    return {
        path: {
            **{key: value for key, value in entry.items() if key not in FLAGS},
            **{flag: True for flag in FLAGS if flag in wanted[path]},
        }
        for path, entry in packages.items()
    }
