"""A mutable dependency tree: folders to lock entries, with the edges between them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from _benchgate_bench.vuln_remediation.lockfile import (
    ROOT,
    Edge,
    edges_from,
    folder_name,
    folders_upward,
    in_range,
    parent_folder,
    resolve,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    EdgeFilter = Callable[[Edge, str], bool]


class Tree:
    """
    The packages of a lock, indexed by their dependents.

    :param packages: the table ``packages`` of a lock; copied, its entries are never changed in place.
    :param bent: ``(dependent, package) -> range`` that replaces the range of an edge; the key
        ``("", package)`` stands for every dependent except the project.
    """

    def __init__(
        self,
        packages: Mapping[str, Mapping[str, Any]],
        bent: Mapping[tuple[str, str], str],
    ) -> None:
        self.packages: dict[str, Mapping[str, Any]] = {}
        self._bent = bent
        self._out: dict[str, dict[str, Edge]] = {}
        self._askers: defaultdict[str, set[str]] = defaultdict(set)
        self._inside: defaultdict[str, set[str]] = defaultdict(set)
        for path, entry in packages.items():
            self.put(path, entry)

    def put(self, path: str, entry: Mapping[str, Any]) -> None:
        """Place an entry in a folder, replacing the one there; entries nested in it stay."""
        self._forget(path)
        self.packages[path] = entry
        if path != ROOT:
            self._inside[parent_folder(path)].add(path)
        self._out[path] = {edge.name: self._bend(edge) for edge in edges_from(path, entry)}
        for name in self._out[path]:
            self._askers[name].add(path)

    def remove(self, path: str) -> None:
        """Remove a folder with all that is nested in it."""
        for found in [p for p in self.packages if p == path or p.startswith(f"{path}/")]:
            self._forget(found)
            self._inside[parent_folder(found)].discard(found)
            del self.packages[found]

    def _forget(self, path: str) -> None:
        for name in self._out.pop(path, {}):
            self._askers[name].discard(path)

    def _bend(self, edge: Edge) -> Edge:
        if edge.source == ROOT or edge.is_peer:
            return edge
        asking = folder_name(edge.source)
        spec = self._bent.get((asking, edge.name), self._bent.get(("", edge.name), edge.spec))
        return Edge(edge.source, edge.name, spec, edge.kind)

    def edges_out(self, path: str) -> Iterable[Edge]:
        """Return the edges of the entry in a folder, overrides applied."""
        return self._out[path].values()

    def edge_out(self, path: str, name: str) -> Edge | None:
        """Return the edge of a folder by its name."""
        return self._out[path].get(name)

    def edges_in(self, path: str) -> Iterator[Edge]:
        """Yield the edges that resolve to a folder, in the order of their sources."""
        name = folder_name(path)
        for asker in sorted(self._askers[name]):
            if resolve(self.packages, asker, name) == path:
                yield self._out[asker][name]

    def target(self, edge: Edge) -> str | None:
        """Return the folder that an edge resolves to."""
        return resolve(self.packages, edge.source, edge.name)

    def valid(self, edge: Edge) -> bool:
        """Return whether an edge resolves to something in its range."""
        found = self.target(edge)
        return found is not None and in_range(edge, self.packages[found])

    def owned(self, start: Iterable[str], counts: EdgeFilter) -> set[str]:
        """
        Return the folders that only ``start`` needs, those of ``start`` included that nothing else needs.

        :param counts: whether to follow an edge, given with the folder it resolves to.
        """
        found = set(start)
        waiting = sorted(found)
        while waiting:
            for edge in self.edges_out(waiting.pop()):
                to = self.target(edge)
                if to is not None and to not in found and counts(edge, to):
                    found.add(to)
                    waiting.append(to)
        while outside := [
            path for path in sorted(found) if self._asked_outside(path, found, counts)
        ]:
            found.difference_update(outside)
        return found

    def _asked_outside(self, path: str, inside: set[str], counts: EdgeFilter) -> bool:
        return any(edge.source not in inside and counts(edge, path) for edge in self.edges_in(path))

    def can_stand_for(self, path: str, name: str, entry: Mapping[str, Any]) -> bool:
        """Return whether ``entry`` satisfies every dependent of the entry in a folder."""
        if folder_name(path) != name:
            return False
        own = self.owned([path], lambda edge, to: to != path and self.valid(edge))
        return all(edge.source in own or in_range(edge, entry) for edge in self.edges_in(path))

    def is_below(self, path: str, folder: str) -> bool:
        """Return whether ``path`` is ``folder`` or nested in it."""
        return folder in folders_upward(path)

    def nested(self, path: str) -> list[str]:
        """Return the folders directly inside a folder."""
        return sorted(self._inside[path])
