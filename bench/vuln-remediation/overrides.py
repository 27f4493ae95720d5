"""The ``overrides`` of a manifest: the edges they apply to, and the ranges they force."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from .lockfile import ROOT, package_name, reachable
from .semver import intersects, is_range, satisfies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .lockfile import Edge, Packages

MAX_DEPTH: Final = 20
"""Nested scopes beyond which rules are not read."""

MAX_RULES: Final = 100
"""Rules beyond which none is read; no project is known to have half as many."""

_KEY: Final = re.compile(r"(?:@[^/@]+/)?[^/@]+")


@dataclass(frozen=True, slots=True)
class Override:
    """
    One rule of ``overrides``, flattened.

    :param scope: packages that the dependent must be below, outermost first, as ``(name, range)``.
    :param name: the package whose version is forced.
    :param when: applies only to edges whose range has versions in common with this one; empty for any.
    :param value: the range to use instead.
    """

    scope: tuple[tuple[str, str], ...]
    name: str
    when: str
    value: str

    @property
    def place(self) -> tuple[tuple[tuple[str, str], ...], str, str]:
        """Where in the table the rule stands, whatever it says."""
        return self.scope, self.name, self.when

    @property
    def is_scoped(self) -> bool:
        """Whether the rule applies only below some package."""
        return bool(self.scope)

    def asks(self, edge: Edge) -> bool:
        """Whether the rule names what an edge asks for, wherever the edge is."""
        return self.name == edge.name and _meets(edge.range, self.when)


def split_key(key: str) -> tuple[str, str]:
    """Return package and range of a key such as ``semver@^5`` or ``@scope/a``."""
    name, at, spec = key.rpartition("@")
    return (name, spec) if at and name else (key, "")


def read_overrides(manifest: Mapping[str, Any]) -> list[Override]:
    """Return the rules of a manifest; ``$name`` stands for the project's own range of ``name``."""
    direct = {
        name: spec
        for table in ("peerDependencies", "dependencies", "optionalDependencies", "devDependencies")
        for name, spec in (manifest.get(table) or {}).items()
    }
    return list(islice(_rules(manifest.get("overrides"), (), direct), MAX_RULES + 1))


def _rules(
    table: Any, scope: tuple[tuple[str, str], ...], direct: Mapping[str, str]
) -> Iterator[Override]:
    if not isinstance(table, dict) or len(scope) > MAX_DEPTH:
        return
    for key, value in table.items():
        name, when = split_key(key)
        if isinstance(value, dict):
            own = value.get(".")
            # The project's own range, repeated, forces nothing.
            if isinstance(own, str) and (scope or when or _value(own, direct) != direct.get(name)):
                yield Override(scope, name, when, _value(own, direct))
            below = {inner: held for inner, held in value.items() if inner != "."}
            yield from _rules(below, (*scope, (name, when)), direct)
        elif isinstance(value, str):
            yield Override(scope, name, when, _value(value, direct))


def bends_direct(manifest: Mapping[str, Any], direct: Mapping[str, str]) -> bool:
    """
    Return whether a rule gives a direct dependency another range than the project's own.

    A key with a range and only rules below it, ``"a@1": {...}``, gives its own range to what it applies to.
    """
    table = manifest.get("overrides")
    for key, held in table.items() if isinstance(table, dict) else ():
        name, when = split_key(key)
        own = direct.get(name)
        written = held.get(".", when) if isinstance(held, dict) else held
        if own is None or not isinstance(written, str) or not _meets(own, when):
            continue
        if _value(written, direct) not in ("", "*", own):
            return True
    return False


def _meets(spec: str, when: str) -> bool:
    return when in ("", "*") or intersects(spec, when)


def is_malformed(manifest: Mapping[str, Any]) -> bool:
    """Return whether npm fails on ``overrides``, or would take something else than a range of versions."""
    table = manifest.get("overrides", {})
    rules = read_overrides(manifest)
    ranged = all(is_range(rule.value) and (not rule.when or is_range(rule.when)) for rule in rules)
    return not (_is_sound(table) and ranged and len(rules) <= MAX_RULES)


def _is_sound(table: Any, depth: int = 0) -> bool:
    return (
        isinstance(table, dict)
        and depth <= MAX_DEPTH
        and all(
            _KEY.fullmatch(split_key(key)[0])
            and (isinstance(value, str) or (key != "." and _is_sound(value, depth + 1)))
            for key, value in table.items()
        )
        and (depth > 0 or "." not in table)
    )


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
            if rule.asks(edge) and edge.source in self._scope_paths(rule.scope)
        ]

    def taken(self, edge: Edge) -> list[Override]:
        """
        Return the rules that npm uses for an edge: of those that apply the closest, in one scope the first.

        Of rules in scopes that are equally deep and not of the same packages any may be closer, so all are returned.
        A package that can also be reached around a rule's scope has the rules of either way; such rules are left out.
        """
        rules = self.rules_for(edge)
        deepest = max((len(rule.scope) for rule in rules), default=0)
        close = [rule for rule in rules if len(rule.scope) == deepest]
        packages = {tuple(name for name, _ in rule.scope) for rule in close}
        return [
            rule for rule in (close[:1] if len(packages) == 1 else close) if self._holds(rule, edge)
        ]

    def _holds(self, rule: Override, edge: Edge) -> bool:
        """Return whether every way to an edge leads through a rule's scope."""
        if not rule.scope:
            return True
        name, wanted = rule.scope[-1]
        gates = {path for path in self._packages if self._is_scope(path, name, wanted)}
        return edge.source in gates or edge.source not in reachable(
            self._packages, ROOT, around=gates
        )

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
            if self._is_scope(path, name, wanted):
                found |= {path} | reachable(self._packages, path)
        return found & allowed

    def _is_scope(self, path: str, name: str, wanted: str) -> bool:
        if path == ROOT or package_name(path, self._packages[path]) != name:
            return False
        return not wanted or satisfies(str(self._packages[path].get("version")), wanted)
