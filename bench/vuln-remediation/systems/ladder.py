"""
The careful system: the smallest kind of change that removes the vulnerable versions from the tree.

Its rungs, each tried only if the one before leaves something vulnerable: refresh the package within its dependents'
ranges; refresh the dependents; edit a direct dependency's range within its breaking line; across it; override the
package below its dependents; report that there is no fix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.lockfile import (
    ROOT,
    ROOT_TABLES,
    child_folder,
    edges,
    folder_name,
    in_range,
    reachable,
    resolve,
    split_alias,
)
from _benchgate_bench.vuln_remediation.overrides import Bending, read_overrides
from _benchgate_bench.vuln_remediation.semver import (
    breaking_line,
    intersects,
    is_range,
    satisfies,
    sort_key,
)

from .resolver import Change, Unresolvable
from .sources import sources_digest
from .workspace import Task, answer, unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _benchgate_bench.vuln_remediation.project import Project

    from benchgate import BenchCase


LARGE: Final = 500
"""Packages of a project beyond which only the newest version of a line is tried: each try resolves them all."""


class Ladder:
    """Tries the rungs in order; within one, the change that touches the fewest entries wins."""

    name: Final = "ladder"

    def digest(self) -> str:
        """Return the SHA-256 over the sources this system is made of."""
        return sources_digest()

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Return the fixed project, or the given files with the reason: ``not-affected`` or ``no-fix``."""
        tasks = Task.read(case.input_path)
        project, hopeless = tasks[0].project, False
        for task in tasks:
            fixed = _climb(task.on(project))
            hopeless |= fixed is None
            project = fixed or project
        if project is tasks[0].project:
            return unchanged(case.input_path, "no-fix" if hopeless else "not-affected")
        return answer(project, "fixed")


def _climb(task: Task) -> Project | None:
    """Return the project of the first rung that removes what is vulnerable: as it was if nothing is."""
    if not task.vulnerable(task.project.packages):
        return task.project
    found = (rung(task) for rung in _RUNGS)
    return next((project for project in found if project is not None), None)


def _refresh(task: Task) -> Project | None:
    """Move the package itself to a patched version within its dependents' ranges."""
    return _solved(task, task.project.manifest, _avoiding(task))


def _refresh_askers(task: Task) -> Project | None:
    """Refresh the package's dependents, then theirs, and so on until nothing vulnerable is left."""
    names: frozenset[str] = frozenset()
    packages = task.project.packages
    hit = set(task.vulnerable(packages))
    while hit:
        hit = {edge.source for edge, to in edges(packages) if to in hit} - {ROOT}
        wider = names | {folder_name(path) for path in hit}
        if wider == names:
            return None
        names = wider
        change = Change(avoid=(task.package, task.affected), refresh=names)
        project = _solved(task, task.project.manifest, change)
        if project is not None:
            return project
    return None


def _bump(task: Task) -> Project | None:
    """Raise direct dependencies within their breaking line."""
    return _raised(task, lambda now, then: breaking_line(now) == breaking_line(then))


def _bump_major(task: Task) -> Project | None:
    """Raise direct dependencies to the nearest breaking line that helps."""
    return _raised(task, lambda now, then: breaking_line(now) != breaking_line(then))


def _raised(task: Task, allowed: Callable[[str, str], bool]) -> Project | None:
    done = task.project
    for name in _direct_above(task):
        raised = _raise_one(task, done.manifest, name, allowed)
        if raised is None:
            return None
        done = raised
    return done if _is_whole(task, done) else None


def _raise_one(
    task: Task,
    manifest: Mapping[str, Any],
    name: str,
    allowed: Callable[[str, str], bool],
) -> Project | None:
    """Raise one direct dependency by as little as removes what is vulnerable below it."""
    now = _resolved(task.project, name)
    fresh = [
        version
        for version in _versions(task, name)
        if sort_key(version) > sort_key(now)
        and allowed(now, version)
        and not _is_hopeless(task, manifest, name, version)
    ]
    if len(task.project.packages) > LARGE:
        fresh = list({breaking_line(version): version for version in fresh}.values())
    for line in sorted({breaking_line(version) for version in fresh}):
        found: list[tuple[int, bool, int, Project]] = []
        for version in (v for v in fresh if breaking_line(v) == line):
            project = _rebuilt(task, _with_spec(manifest, name, version), _avoiding(task))
            if project is not None and not _left_below(task, project, name):
                # If several ranges give the same lock, the one that names the locked version guarantees the fix.
                unnamed = _resolved(project, name) != version
                found.append((_size(task.project, project), unnamed, len(found), project))
        if found:
            return min(found)[-1]
    return None


def _is_hopeless(task: Task, manifest: Mapping[str, Any], name: str, version: str) -> bool:
    """Return whether a version asks for an affected one, or for a peer that the project's own range excludes."""
    package = split_alias(name, task.project.direct[name].spec)[0]
    entry = task.registry.manifest(package, version) or {}
    asked = entry.get("dependencies", {}).get(task.package)
    if asked is not None and not any(satisfies(one, asked) for one in task.patched()):
        return True
    meta = entry.get("peerDependenciesMeta", {})
    own = {dep: spec for table in ROOT_TABLES for dep, spec in manifest.get(table, {}).items()}
    return any(
        is_range(own[peer]) and not intersects(own[peer], spec)
        for peer, spec in entry.get("peerDependencies", {}).items()
        if peer in own and peer != name and not meta.get(peer, {}).get("optional")
    )


def _direct_above(task: Task) -> list[str]:
    """Return the direct dependencies below which a refresh leaves a vulnerable entry."""
    refreshed = _rebuilt(task, task.project.manifest, _avoiding(task))
    project = refreshed or task.project
    direct = sorted(project.direct)
    return [name for name in direct if _left_below(task, project, name)]


def _left_below(task: Task, project: Project, name: str) -> int:
    """Return how many vulnerable entries can be reached through one direct dependency."""
    packages = project.packages
    start = resolve(packages, ROOT, name)
    if start is None:
        return 0
    return len({start, *reachable(packages, start)}.intersection(task.vulnerable(packages)))


def _versions(task: Task, name: str) -> list[str]:
    return task.registry.versions(split_alias(name, task.project.direct[name].spec)[0])


def _resolved(project: Project, name: str) -> str:
    return str(project.packages[child_folder(ROOT, name)]["version"])


def _with_spec(manifest: Mapping[str, Any], name: str, version: str) -> dict[str, Any]:
    """Return the manifest with a new range for a direct dependency, in the style of the old one."""
    made = dict(manifest)
    for table in ROOT_TABLES:
        if name in made.get(table, {}):
            package, spec = split_alias(name, made[table][name])
            fresh = f"{spec[:1] if spec[:1] in ('^', '~') else ''}{version}"
            written = fresh if package == name else f"npm:{package}@{fresh}"
            made[table] = {**made[table], name: written}
    return made


def _override(task: Task) -> Project | None:
    """Force a patched version on the dependents of a vulnerable one, and on no others."""
    base = _rebuilt(task, task.project.manifest, _avoiding(task))
    packages = (base or task.project).packages
    hit = set(task.vulnerable(packages))
    askers = sorted({edge.source for edge, to in edges(packages) if to in hit})
    if not hit or ROOT in askers:
        return None
    names = sorted({folder_name(path) for path in askers})
    floor = max(sort_key(packages[path]["version"]) for path in hit)
    found = []
    above = [version for version in task.patched() if sort_key(version) > floor]
    for version in above:
        if breaking_line(version) == breaking_line(above[0]):
            scoped = {name: {task.package: version} for name in names}
            manifest = {**task.project.manifest, "overrides": scoped}
            bent = {(name, task.package): version for name in names}
            change = Change(avoid=(task.package, task.affected), bent=bent)
            if project := _solved(task, manifest, change):
                found.append(project)
    return min(found, key=lambda project: _size(task.project, project), default=None)


_RUNGS: Final = (_refresh, _refresh_askers, _bump, _bump_major, _override)


def _avoiding(task: Task) -> Change:
    return Change(avoid=(task.package, task.affected))


def _rebuilt(task: Task, manifest: Mapping[str, Any], change: Change) -> Project | None:
    try:
        return task.rebuild(manifest, change)
    except Unresolvable:
        return None


def _solved(task: Task, manifest: Mapping[str, Any], change: Change) -> Project | None:
    project = _rebuilt(task, manifest, change)
    return project if project is not None and _is_whole(task, project) else None


def _is_whole(task: Task, project: Project) -> bool:
    """Return whether nothing vulnerable is left and every edge is satisfied."""
    packages = project.packages
    if task.vulnerable(packages):
        return False
    bending = Bending(read_overrides(project.manifest), packages)
    for edge, to in edges(packages):
        if to is None:
            if not edge.may_be_absent:
                return False
            continue
        version = packages[to]["version"]
        bent = any(satisfies(version, rule.value) for rule in bending.rules_for(edge))
        if not bent and not in_range(edge, packages[to]):
            return False
    return True


def _size(before: Project, after: Project) -> int:
    """Return how many entries differ between two locks."""
    old, new = before.packages, after.packages
    paths = (old.keys() | new.keys()) - {ROOT}
    return sum(old.get(path) != new.get(path) for path in paths)
