"""What a fix changed, as facts about two states of one project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .lockfile import (
    ROOT,
    ROOT_TABLES,
    edges,
    in_range,
    package_name,
    reachable,
    split_alias,
    vulnerable,
)
from .overrides import Bending, read_overrides
from .semver import affects, breaking_line, satisfies, sort_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .expected import Advisory
    from .metadata import Registry
    from .overrides import Override
    from .project import Project

    Packages = Mapping[str, Mapping[str, Any]]

INSTALL_SCRIPTS: Final = (
    "preinstall",
    "install",
    "postinstall",
    "prepublish",
    "preprepare",
    "prepare",
    "postprepare",
    "predependencies",
    "dependencies",
    "postdependencies",
)
"""The scripts of a project that ``npm install`` runs in it; source: npm's documentation of scripts."""

_HIGHEST: Final = 999_999


def versions(packages: Packages) -> dict[str, set[str]]:
    """Return the versions of every package in a tree."""
    found: dict[str, set[str]] = {}
    for path, entry in packages.items():
        if path != ROOT:
            found.setdefault(package_name(path, entry), set()).add(str(entry.get("version")))
    return found


def changed_packages(before: Project, after: Project) -> set[str]:
    """Return the packages whose versions differ, packages added or removed included."""
    old, new = versions(before.packages), versions(after.packages)
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def direct_versions(project: Project) -> dict[str, str]:
    """Return the version that each direct dependency resolves to."""
    return {
        edge.name: str(project.packages[target].get("version"))
        for edge, target in edges(project.packages)
        if edge.source == ROOT and target is not None
    }


def lost_direct(before: Project, after: Project) -> set[tuple[str, str, str]]:
    """Return direct dependencies that were removed, moved to another table, or became another package."""
    return _placed(before) - _placed(after)


def added_direct(before: Project, after: Project) -> set[str]:
    """Return direct dependencies that were not there before, or that a further table names now."""
    old, new = _tables(before), _tables(after)
    return {name for name, tables in new.items() if old.get(name, frozenset()) < tables}


def _tables(project: Project) -> dict[str, frozenset[str]]:
    names = {name for table in ROOT_TABLES for name in project.manifest.get(table) or {}}
    return {
        name: frozenset(
            table for table in ROOT_TABLES if name in (project.manifest.get(table) or {})
        )
        for name in names
    }


def _placed(project: Project) -> set[tuple[str, str, str]]:
    return {
        (table, name, split_alias(name, spec)[0]) for name, (table, spec) in project.direct.items()
    }


def edited_specs(before: Project, after: Project) -> set[str]:
    """Return direct dependencies that are in both states with different ranges."""
    old, new = before.direct, after.direct
    return {name for name in old.keys() & new.keys() if old[name][1] != new[name][1]}


def direct_above(project: Project, paths: Collection[str]) -> set[str]:
    """Return the direct dependencies that lead to one of some entries, or are one."""
    packages = project.packages
    return {
        edge.name
        for edge, to in edges(packages)
        if edge.source == ROOT
        and to is not None
        and not {to, *reachable(packages, to)}.isdisjoint(paths)
    }


def loosened_specs(
    before: Project, after: Project, registry: Registry, targets: Iterable[Advisory]
) -> set[str]:
    """
    Return direct dependencies whose edited range lets back in what had to go, or further breaking lines.

    What had to go is an affected version of an advisory's package; of another package, a parent, the version that
    was locked before.
    """
    affected = {one.package: one.vulnerable_range for one in targets}
    old, new = direct_versions(before), direct_versions(after)
    found = set()
    for name in edited_specs(before, after) & old.keys() & new.keys():
        package, wanted = split_alias(name, after.direct[name][1])
        given = split_alias(name, before.direct[name][1])[1]
        if package in affected:
            gone = [v for v in registry.versions(package) if affects(v, affected[package])]
        else:
            gone = [old[name]] if new[name] != old[name] else []
        probes = [v for v in _beyond(new[name]) if not satisfies(v, given)]
        if any(satisfies(version, wanted) for version in [*gone, *probes]):
            found.add(name)
    return found


def _beyond(version: str) -> list[str]:
    """Return versions beyond the breaking line of one: the first of the next, and one that is not reached."""
    major, minor, _, _ = sort_key(version)
    following = [f"{major + 1}.0.0", f"{_HIGHEST}.0.0"]
    return following if major else [f"0.{minor + 1}.0", *following]


def major_bumps(before: Project, after: Project) -> set[str]:
    """Return direct dependencies that crossed a breaking line upward."""
    old, new = direct_versions(before), direct_versions(after)
    return {
        name
        for name in old.keys() & new.keys()
        if sort_key(new[name]) > sort_key(old[name])
        and breaking_line(new[name]) != breaking_line(old[name])
    }


def downgraded(before: Project, after: Project) -> set[str]:
    """
    Return packages that an unchanged dependent now gets in a lower version.

    Dependents are matched by name and version: what a newer parent brings along is no downgrade.
    """
    old, new = _received(before.packages), _received(after.packages)
    return {asked[1] for asked in old.keys() & new.keys() if new[asked] < old[asked]}


def _received(packages: Packages) -> dict[tuple[tuple[str, str], str], tuple[Any, ...]]:
    lowest: dict[tuple[tuple[str, str], str], tuple[Any, ...]] = {}
    for edge, target in edges(packages):
        if target is None:
            continue
        source = packages[edge.source]
        asker = ("", "") if edge.source == ROOT else _identity(edge.source, source)
        key = (asker, package_name(target, packages[target]))
        got = sort_key(str(packages[target].get("version")))
        lowest[key] = min(got, lowest.get(key, got))
    return lowest


def _identity(path: str, entry: Mapping[str, Any]) -> tuple[str, str]:
    return package_name(path, entry), str(entry.get("version"))


def broken_ranges(project: Project) -> set[tuple[str, str]]:
    """Return ``(dependent, package)`` of every edge out of range, whether or not an override explains it."""
    return {
        (package_name(edge.source, project.packages[edge.source]), edge.package)
        for edge, target in edges(project.packages)
        if target is not None and not in_range(edge, project.packages[target])
    }


def fresh_overrides(before: Project, after: Project) -> list[Override]:
    """Return the override rules that were not there before."""
    old = set(read_overrides(before.manifest))
    return [rule for rule in read_overrides(after.manifest) if rule not in old]


def needless_overrides(
    before: Project, after: Project, allowed: Collection[str], hit: Collection[str]
) -> set[str]:
    """
    Return packages that are overridden and need not be; an override is allowed only if it is narrow.

    :param hit: paths of the vulnerable entries before the fix.
    """
    return {
        rule.name
        for rule in fresh_overrides(before, after)
        if not (rule.name in allowed and is_narrow(rule, before, hit))
    }


def is_narrow(rule: Override, before: Project, hit: Collection[str]) -> bool:
    """
    Return whether a rule bends what is vulnerable, and was written to bend no more.

    It is scoped, or keyed by a range that only dependents of vulnerable entries ask for.
    """
    bending = Bending([rule], before.packages)
    bent = [to for edge, to in edges(before.packages) if bending.rules_for(edge)]
    on_target = [to in hit for to in bent]
    return any(on_target) and (rule.is_scoped or (rule.when not in ("", "*") and all(on_target)))


def introduced_advisories(
    before: Project, after: Project, advisories: Iterable[Mapping[str, str]]
) -> set[str]:
    """Return GHSA ids of known advisories that hit the new tree and did not hit the old one."""
    return {
        advisory["ghsa"]
        for advisory in advisories
        if vulnerable(after.packages, advisory["package"], advisory["vulnerable_range"])
        and not vulnerable(before.packages, advisory["package"], advisory["vulnerable_range"])
    }


def scripts_added(before: Project, after: Project) -> set[str]:
    """Return what runs at install and did not: packages flagged for it, and scripts of the project."""
    given, now = _at_install(before), _at_install(after)
    fresh = _scripted(after.packages) - _scripted(before.packages)
    return fresh | {name for name, script in now.items() if given.get(name) != script}


def _at_install(project: Project) -> dict[str, Any]:
    scripts = project.manifest.get("scripts")
    known = scripts if isinstance(scripts, dict) else {}
    return {name: known[name] for name in INSTALL_SCRIPTS if known.get(name)}


def _scripted(packages: Packages) -> set[str]:
    return {
        package_name(path, entry)
        for path, entry in packages.items()
        if path != ROOT and entry.get("hasInstallScript")
    }


def fix_class(before: Project, after: Project, paths: Collection[str]) -> str:
    """
    Return the kind of the fix, by the largest kind of change in it.

    One of ``none``, ``lock-refresh``, ``lock-refresh-of-parent``, ``direct-spec-bump``, ``direct-major``,
    ``parent-bump``, ``parent-major``, ``scoped-override``, ``global-override``.

    :param paths: the vulnerable entries before the fix.
    """
    fresh = fresh_overrides(before, after)
    if fresh:
        narrow = all(is_narrow(rule, before, paths) for rule in fresh)
        return "scoped-override" if narrow else "global-override"
    hit = {package_name(path, before.packages[path]) for path in paths}
    edited = edited_specs(before, after) | added_direct(before, after)
    if edited:
        major = edited & major_bumps(before, after)
        if edited & hit:
            return "direct-major" if major else "direct-spec-bump"
        return "parent-major" if major else "parent-bump"
    changed = changed_packages(before, after)
    if not changed:
        return "none"
    return "lock-refresh-of-parent" if changed & _parents(before, hit) else "lock-refresh"


def _parents(project: Project, names: set[str]) -> set[str]:
    """Return the packages that depend on one of ``names``."""
    return {
        package_name(edge.source, project.packages[edge.source])
        for edge, _ in edges(project.packages)
        if edge.package in names and edge.source != ROOT
    }
