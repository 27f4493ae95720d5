"""What a fix changed, as facts about two states of one project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .lockfile import (
    ROOT,
    ROOT_TABLES,
    edges,
    in_range,
    package_name,
    split_alias,
    vulnerable,
)
from .overrides import read_overrides
from .project import same_json
from .semver import breaking_line, sort_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

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
)
"""The scripts of a project that ``npm install`` runs in it; source: npm's documentation of scripts."""

_NOT_FIELDS: Final = frozenset({*ROOT_TABLES, "overrides"})


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
    """Return direct dependencies that were not there before."""
    return after.direct.keys() - before.direct.keys()


def _placed(project: Project) -> set[tuple[str, str, str]]:
    return {
        (table, name, split_alias(name, spec)[0]) for name, (table, spec) in project.direct.items()
    }


def edited_specs(before: Project, after: Project) -> set[str]:
    """Return direct dependencies that are in both states with different ranges."""
    old, new = before.direct, after.direct
    return {name for name in old.keys() & new.keys() if old[name][1] != new[name][1]}


def edited_fields(before: Project, after: Project) -> set[str]:
    """Return the manifest's fields that differ, other than dependencies and overrides."""
    fields = (before.manifest.keys() | after.manifest.keys()) - _NOT_FIELDS
    return {
        key for key in fields if not same_json(before.manifest.get(key), after.manifest.get(key))
    }


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


def needless_overrides(before: Project, after: Project, allowed: Collection[str]) -> set[str]:
    """Return packages that are overridden and need not be; an override is allowed only if it is scoped."""
    fresh = fresh_overrides(before, after)
    return {rule.name for rule in fresh if not (rule.is_scoped and rule.name in allowed)}


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


def scripts_added(before: Project, after: Project) -> bool:
    """Return whether new code runs at install: of an entry flagged for it, or a script of the project."""
    old = _scripted(before.packages)
    fresh = _scripted(after.packages) - old
    given, now = _at_install(before), _at_install(after)
    return bool(fresh) or any(given.get(name) != script for name, script in now.items())


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


def fix_class(before: Project, after: Project, vulnerable_paths: Iterable[str]) -> str:
    """
    Return the kind of the fix, by the largest kind of change in it.

    One of ``none``, ``lock-refresh``, ``lock-refresh-of-parent``, ``direct-spec-bump``, ``direct-major``,
    ``parent-bump``, ``parent-major``, ``scoped-override``, ``global-override``.
    """
    fresh = fresh_overrides(before, after)
    if fresh:
        return "scoped-override" if all(rule.is_scoped for rule in fresh) else "global-override"
    hit = {package_name(path, before.packages[path]) for path in vulnerable_paths}
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
