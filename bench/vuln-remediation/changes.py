"""What a fix changed, as facts about two states of one project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .lockfile import (
    FOLDER,
    ROOT,
    ROOT_TABLES,
    edges,
    in_range,
    package_name,
    reachable,
    resolve,
    split_alias,
    vulnerable,
)
from .metadata import NODE_VERSION
from .overrides import Bending, read_overrides
from .project import key_of
from .ranges import lets_in, named_nodes, runs_on
from .semver import affects, breaking_line, intersects, is_prerelease, satisfies, sort_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from .expected import Advisory
    from .lockfile import Edge
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
"""The scripts that ``npm install`` runs in a project and its workspaces; source: npm's documentation of scripts."""


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
    """Return the version that each direct dependency resolves to, by its key."""
    found = {
        key: resolve(project.packages, one.owner, one.name) for key, one in project.direct.items()
    }
    return {key: str(project.packages[path].get("version")) for key, path in found.items() if path}


def lost_direct(before: Project, after: Project) -> set[tuple[str, ...]]:
    """Return direct dependencies that were removed, moved to another table, or became another package."""
    return _placed(before) - _placed(after)


def added_direct(before: Project, after: Project) -> set[str]:
    """Return direct dependencies that were not there before, or that a further table names now."""
    old, new = _tables(before), _tables(after)
    return {name for name, tables in new.items() if old.get(name, set()) < tables}


def _tables(project: Project) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for owner, manifest in project.manifests.items():
        for table in ROOT_TABLES:
            for name in manifest.get(table) or {}:
                found.setdefault(key_of(owner, name), set()).add(table)
    return found


def _placed(project: Project) -> set[tuple[str, ...]]:
    return {
        (one.table, key, split_alias(one.name, one.spec)[0]) for key, one in project.direct.items()
    }


def edited_specs(before: Project, after: Project) -> set[str]:
    """Return direct dependencies that are in both states with different ranges."""
    old, new = before.direct, after.direct
    return {key for key in old.keys() & new.keys() if old[key].spec != new[key].spec}


def direct_above(project: Project, paths: Collection[str]) -> set[str]:
    """Return the direct dependencies that lead to one of some entries, or are one."""
    packages = project.packages
    found = set()
    for key, one in project.direct.items():
        to = resolve(packages, one.owner, one.name)
        if to is not None and not {to, *reachable(packages, to)}.isdisjoint(paths):
            found.add(key)
    return found


def loosened_specs(
    before: Project, after: Project, registry: Registry, advisories: Iterable[Advisory]
) -> set[str]:
    """
    Return direct dependencies whose edited range lets back in what had to go, or further breaking lines.

    What had to go is a version that an advisory affects; of a parent, also the version that was locked before.
    """
    affected = _ranges_by_package(advisories)
    old, new = direct_versions(before), direct_versions(after)
    found = set()
    for key in edited_specs(before, after) & old.keys() & new.keys():
        one = after.direct[key]
        package, wanted = split_alias(one.name, one.spec)
        given = split_alias(one.name, before.direct[key].spec)[1]
        gone, left = affected.get(package, []), old[key]
        if lets_in(wanted, new[key], registry.versions(package), gone, given=given, left=left):
            found.add(key)
    return found


def loosened_overrides(
    before: Project, after: Project, registry: Registry, advisories: Iterable[Advisory]
) -> set[str]:
    """Return packages with a new rule whose range lets back in what had to go, or further breaking lines."""
    affected = _ranges_by_package(advisories)
    found = set()
    for rule, edge, to in _freshly_bent(before, after):
        package, wanted = split_alias(rule.name, rule.value)
        now = str(after.packages[to].get("version"))
        known = registry.versions(package)
        if lets_in(wanted, now, known, affected.get(edge.package, [])):
            found.add(rule.name)
    locked = versions(after.packages)
    for owner in after.workspaces:
        # Such a rule bends no edge of this tree: it has to say what is locked here.
        for rule in fresh_overrides(before, after, owner):
            package, wanted = split_alias(rule.name, rule.value)
            known, gone = registry.versions(package), affected.get(package, [])
            if not any(
                satisfies(now, wanted) and not lets_in(wanted, now, known, gone)
                for now in locked.get(package, ())
            ):
                found.add(key_of(owner, rule.name))
    return found


def _ranges_by_package(advisories: Iterable[Advisory]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in advisories:
        found.setdefault(one.package, []).append(one.vulnerable_range)
    return found


def _freshly_bent(before: Project, after: Project) -> Iterator[tuple[Override, Edge, str]]:
    """Yield each new rule with the edges that it applies to and what they resolve to."""
    fresh = fresh_overrides(before, after)
    bending = Bending(fresh, after.packages)
    for edge, to in edges(after.packages) if fresh else ():
        for rule in bending.rules_for(edge) if to is not None else ():
            yield rule, edge, str(to)


def far_overrides(
    before: Project, after: Project, registry: Registry, advisories: Iterable[Advisory]
) -> set[str]:
    """
    Return packages that a new rule lifts beyond the nearest breaking line with a version that helps.

    A version helps if no advisory affects it and it runs on the Node.js of who needs it. Nearest is judged for each
    dependent, from the version that it had.
    """
    affected = _ranges_by_package(advisories)
    nodes = needed_nodes(before, before.packages)
    had = {
        (package_name(edge.source, before.packages[edge.source]), edge.name): to
        for edge, to in edges(before.packages)
        if to is not None
    }
    found = set()
    for rule, edge, to in _freshly_bent(before, after):
        asker = package_name(edge.source, after.packages[edge.source])
        path = had.get((asker, edge.name))
        if path is None or edge.package not in affected:
            continue
        old, now = (
            str(packages[at].get("version"))
            for packages, at in ((before.packages, path), (after.packages, to))
        )
        helping = [
            version
            for version in registry.versions(edge.package)
            if sort_key(version) >= sort_key(old)
            and not is_prerelease(version)
            and not any(affects(version, one) for one in affected[edge.package])
            and runs_on(registry.manifest(edge.package, version) or {}, nodes[path])
        ]
        if helping and breaking_line(now) > breaking_line(helping[0]):
            found.add(rule.name)
    return found


def lost_overrides(before: Project, after: Project, advisories: Iterable[Advisory]) -> set[str]:
    """Return packages with a given rule that is gone or says something else, unless it pins what is vulnerable."""
    affected = _ranges_by_package(advisories)
    found = set()
    for owner, manifest in before.manifests.items():
        now = {rule.place: rule.value for rule in _rules(after, owner)}
        own = {one.name: one.spec for one in after.direct.values() if one.owner == owner}
        for rule in read_overrides(manifest):
            says_the_same = now.get(rule.place) in (rule.value, own.get(rule.name, rule.value))
            pins = any(intersects(rule.value, one) for one in affected.get(rule.name, []))
            if not says_the_same and not pins:
                found.add(key_of(owner, rule.name))
    return found


def unfit_for_node(before: Project, after: Project) -> set[str]:
    """Return packages that do not run on the Node.js of who needs them, and were not there before."""
    nodes = needed_nodes(before, after.packages)
    old = {
        (package_name(path, entry), entry.get("version")) for path, entry in before.packages.items()
    }
    return {
        package_name(path, entry)
        for path, entry in after.packages.items()
        if FOLDER in path
        and (package_name(path, entry), entry.get("version")) not in old
        and not runs_on(entry, nodes[path])
    }


def needed_nodes(given: Project, packages: Packages) -> dict[str, set[str]]:
    """
    Return the releases of Node.js that each entry has to run on, by the ``engines`` of who needs it.

    The project needs all of them, a workspace what it leads to. What is only for development has to run on the newest
    line that they name; what belongs to nobody who names one, on the case's.
    """
    own = named_nodes(given.manifest)
    found = {path: set(own[-1:] if entry.get("dev") else own) for path, entry in packages.items()}
    plain = {
        path: entry if FOLDER in path else {**entry, "devDependencies": {}}
        for path, entry in packages.items()
    }
    for owner, manifest in given.workspaces.items():
        nodes = named_nodes(manifest) if owner in packages else []
        if not nodes:
            continue
        firm = reachable(plain, owner)
        for path in reachable({**plain, owner: packages[owner]}, owner):
            found[path].update(nodes if path in firm else nodes[-1:])
    return {path: nodes or {NODE_VERSION} for path, nodes in found.items()}


def major_bumps(before: Project, after: Project) -> set[str]:
    """Return direct dependencies that crossed a breaking line upward."""
    old, new = direct_versions(before), direct_versions(after)
    return {
        name
        for name in old.keys() & new.keys()
        if sort_key(new[name]) > sort_key(old[name])
        and breaking_line(new[name]) != breaking_line(old[name])
    }


def beyond(before: Project, after: Project, lines: Mapping[str, str]) -> set[str]:
    """Return direct dependencies that changed to a version outside the range that the case has for them."""
    old, new = direct_versions(before), direct_versions(after)
    return {
        name
        for name, line in lines.items()
        if name in new and new[name] != old.get(name) and not satisfies(new[name], line)
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


def fresh_overrides(before: Project, after: Project, owner: str = ROOT) -> list[Override]:
    """Return the override rules that were not there before, of the project or of a workspace."""
    old = set(_rules(before, owner))
    return [rule for rule in _rules(after, owner) if rule not in old]


def _rules(project: Project, owner: str) -> list[Override]:
    return read_overrides(project.manifests.get(owner, {}))


def needless_overrides(
    before: Project, after: Project, allowed: Collection[str], hit: Collection[str]
) -> set[str]:
    """
    Return packages that are overridden and need not be; an override is allowed only if it is narrow.

    A rule that was there, and that says something else now, is not counted. One in a workspace fixes nothing: npm reads
    it only where that folder is installed alone.

    :param hit: paths of the vulnerable entries before the fix.
    """
    found = set()
    for owner in after.manifests:
        given = {rule.place for rule in _rules(before, owner)}
        for rule in fresh_overrides(before, after, owner):
            if rule.place in given:
                continue
            if owner or rule.name not in allowed or not is_narrow(rule, before, hit):
                found.add(key_of(owner, rule.name))
    return found


def is_narrow(rule: Override, before: Project, hit: Collection[str]) -> bool:
    """
    Return whether a rule bends what is vulnerable, and was written to bend no more.

    It is scoped, or leaves everyone else with what they have.
    """
    bending = Bending([rule], before.packages)
    bent = [(edge, to) for edge, to in edges(before.packages) if bending.rules_for(edge)]
    others = [(edge, before.packages[to]) for edge, to in bent if to is not None and to not in hit]
    return any(to in hit for _, to in bent) and (
        rule.is_scoped
        or all(
            in_range(edge, entry) and satisfies(str(entry.get("version")), rule.value)
            for edge, entry in others
        )
    )


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
    found: dict[str, Any] = {}
    for owner, manifest in project.manifests.items():
        scripts = manifest.get("scripts")
        known = scripts if isinstance(scripts, dict) else {}
        found |= {key_of(owner, one): known[one] for one in INSTALL_SCRIPTS if known.get(one)}
    return found


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
    ``parent-bump``, ``parent-major``, ``scoped-override``, ``global-override``, and ``own-override`` if a rule that the
    project had is raised or dropped.

    :param paths: the vulnerable entries before the fix.
    """
    hit = {package_name(path, before.packages[path]) for path in paths}
    fresh = fresh_overrides(before, after)
    own = {rule.name for rule in read_overrides(before.manifest)} & hit
    if own and own >= {rule.name for rule in fresh} and _pins(before, own) != _pins(after, own):
        return "own-override"
    if fresh:
        narrow = all(is_narrow(rule, before, paths) for rule in fresh)
        return "scoped-override" if narrow else "global-override"
    edited = edited_specs(before, after) | added_direct(before, after)
    if edited:
        major = edited & major_bumps(before, after)
        if {after.direct[key].name for key in edited} & hit:
            return "direct-major" if major else "direct-spec-bump"
        return "parent-major" if major else "parent-bump"
    changed = changed_packages(before, after)
    if not changed:
        return "none"
    return "lock-refresh-of-parent" if changed & _parents(before, hit) else "lock-refresh"


def _pins(project: Project, names: Collection[str]) -> list[Override]:
    return [rule for rule in read_overrides(project.manifest) if rule.name in names]


def _parents(project: Project, names: set[str]) -> set[str]:
    """Return the packages that depend on one of ``names``."""
    return {
        package_name(edge.source, project.packages[edge.source])
        for edge, _ in edges(project.packages)
        if edge.package in names and edge.source != ROOT
    }
