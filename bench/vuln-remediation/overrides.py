"""The ``overrides`` of a manifest: the edges they apply to, and the ranges they force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .lockfile import ROOT, package_name, reachable
from .semver import satisfies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .lockfile import Edge, Packages


MAX_DEPTH: Final = 20
"""Nested scopes beyond which rules are not read."""


@dataclass(frozen=True, slots=True)
class Override:
    """
    One rule of ``overrides``, flattened.

    :param scope: packages that the dependent must be below, outermost first, as ``(name, range)``.
    :param name: the package whose version is forced.
    :param when: applies only to edges with this range; empty for any.
    :param value: the range to use instead.
    """

    scope: tuple[tuple[str, str], ...]
    name: str
    when: str
    value: str

    @property
    def is_scoped(self) -> bool:
        """Whether the rule applies only below some package."""
        return bool(self.scope)


def split_key(key: str) -> tuple[str, str]:
    """Return package and range of a key such as ``semver@^5`` or ``@scope/a``."""
    name, at, spec = key.rpartition("@")
    return (name, spec) if at and name else (key, "")


def read_overrides(manifest: Mapping[str, Any]) -> list[Override]:
    """Return the rules of a manifest; ``$name`` stands for the project's own range of ``name``."""
    direct = {
        **(manifest.get("devDependencies") or {}),
        **(manifest.get("dependencies") or {}),
    }
    return list(_rules(manifest.get("overrides"), (), direct))


def _rules(
    table: Any, scope: tuple[tuple[str, str], ...], direct: Mapping[str, str]
) -> Iterator[Override]:
    if not isinstance(table, dict) or len(scope) > MAX_DEPTH:
        return
    for key, value in table.items():
        name, when = split_key(key)
        if isinstance(value, dict):
            if isinstance(value.get("."), str):
                yield Override(scope, name, when, _value(value["."], direct))
            below = {inner: held for inner, held in value.items() if inner != "."}
            yield from _rules(below, (*scope, (name, when)), direct)
        elif isinstance(value, str):
            yield Override(scope, name, when, _value(value, direct))


def _value(value: str, direct: Mapping[str, str]) -> str:
    return direct.get(value[1:], value) if value.startswith("$") else value


class Bending:
    """The rules of a manifest applied to one tree."""

    def __init__(self, rules: list[Override], packages: Packages) -> None:
        self._rules = rules
        self._packages = packages
        self._below: dict[tuple[tuple[str, str], ...], set[str]] = {}

    def rules_for(self, edge: Edge) -> list[Override]:
        """Return the rules that apply to an edge; none apply to the project's own edges."""
        if edge.source == ROOT:
            return []
        return [
            rule
            for rule in self._rules
            if rule.name == edge.package
            and rule.when in ("", edge.range)
            and edge.source in self._scope_paths(rule.scope)
        ]

    def _scope_paths(self, scope: tuple[tuple[str, str], ...]) -> set[str]:
        if scope not in self._below:
            paths = set(self._packages)
            for name, wanted in scope:
                paths = self._within(name, wanted, paths)
            self._below[scope] = paths
        return self._below[scope]

    def _within(self, name: str, wanted: str, allowed: set[str]) -> set[str]:
        found: set[str] = set()
        for path in sorted(allowed - {ROOT}):
            entry = self._packages[path]
            if package_name(path, entry) != name:
                continue
            if not wanted or satisfies(str(entry.get("version")), wanted):
                found |= {path} | reachable(self._packages, path)
        return found & allowed
