"""
The careful system: the smallest kind of change that removes the vulnerable versions from the tree.

Its rungs, each tried only if the one before leaves something vulnerable: raise the project's own override that pins the
package; refresh the package within its dependents' ranges; refresh the dependents; edit direct dependencies' ranges,
within their breaking line or else across it, together with those that are bound to them as peers; override the package
below what is left. An advisory that no rung helps against stays, and the next one is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.lockfile import (
    FOLDER,
    ROOT,
    ROOT_TABLES,
    edges,
    folder_name,
    in_range,
    package_name,
    reachable,
    resolve,
    split_alias,
)
from _benchgate_bench.vuln_remediation.overrides import Bending, read_overrides, split_key
from _benchgate_bench.vuln_remediation.ranges import node_versions, runs_on
from _benchgate_bench.vuln_remediation.semver import (
    breaking_line,
    satisfies,
    sort_key,
)

from .resolver import Change, Unresolvable
from .sources import sources_digest
from .workspace import Task, answer, unchanged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _benchgate_bench.vuln_remediation.project import Project

    from benchgate import BenchCase

    Manifests = Mapping[str, Mapping[str, Any]]


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


def _raise_own_override(task: Task) -> Project | None:
    """Raise the project's own override that pins the package, and its own range if that says the same."""
    manifest = task.project.manifest
    pins = {
        rule.value
        for rule in read_overrides(manifest)
        if rule.name == task.package and not any(satisfies(v, rule.value) for v in task.patched())
    }
    for line in _lines(_above(task, task.project)) if pins else ():
        found = []
        for version in line:
            raised = _respelt(manifest["overrides"], task.package, pins, version)
            made: dict[str, Any] = {**manifest, "overrides": raised}
            for table in ROOT_TABLES:
                if made.get(table, {}).get(task.package) in pins:
                    made[table] = {**made[table], task.package: version}
            if project := _solved(task, {**task.project.manifests, ROOT: made}, _avoiding(task)):
                found.append(project)
        if found:
            return min(found, key=lambda project: _size(task.project, project))
    return None


def _respelt(rules: Mapping[str, Any], package: str, old: set[str], new: str) -> dict[str, Any]:
    """Return overrides with a new value wherever an old one is forced on a package."""
    made: dict[str, Any] = {}
    for key, held in rules.items():
        name = split_key(key)[0]
        if isinstance(held, dict):
            made[key] = _respelt(held, package, old, new)
            if name == package and made[key].get(".") in old:
                made[key]["."] = new
        else:
            made[key] = new if name == package and held in old else held
    return made


def _refresh(task: Task) -> Project | None:
    """Move the package itself to a patched version within its dependents' ranges."""
    project = task.refreshed
    return project if project is not None and _is_whole(task, project) else None


def _refresh_askers(task: Task) -> Project | None:
    """Refresh the dependents of what a refresh leaves, then theirs, and so on until nothing vulnerable is left."""
    return next((found for found in _refreshes(task) if _is_whole(task, found)), None)


def _refreshes(task: Task, key: str = "") -> Iterator[Project]:
    """Yield the project with more and more dependents refreshed, by ``key`` only those below a direct dependency."""
    names: frozenset[str] = frozenset()
    base = task.refreshed or task.project
    packages = base.packages
    among = _below(base, key) if key else packages.keys() - {ROOT}
    hit = among & set(task.vulnerable(packages))
    while hit:
        hit = among & {edge.source for edge, to in edges(packages) if to in hit}
        wider = names | {folder_name(path) for path in hit}
        if wider == names:
            return
        names = wider
        change = Change(avoid=(task.package, task.affected), refresh=names)
        if project := _rebuilt(task, task.project.manifests, change):
            yield project


def _raise_and_override(task: Task) -> Project | None:
    """Raise the direct dependencies that lead to what is vulnerable; override it below those that cannot be."""
    done = task.project
    for key in _direct_above(task):
        if _left_below(task, done, key):
            done = _helped(task.on(done), key) or done
    if _is_whole(task, done):
        return done
    fixed = _override(task.on(done))
    return fixed if fixed is not None and _is_whole(task, fixed) else None


def _helped(task: Task, key: str) -> Project | None:
    """Leave nothing vulnerable below one direct dependency: by refreshing what is there, or else by raising it."""
    fresh = (found for found in _refreshes(task, key) if not _left_below(task, found, key))
    return next(fresh, None) or _raise_one(task, key)


def _raise_one(task: Task, key: str) -> Project | None:
    """Raise one direct dependency by as little as removes what is vulnerable below it, within its line if it can."""
    now = _resolved(task.project, key)
    fresh = [version for version in _versions(task, key) if sort_key(version) > sort_key(now)]
    for line in _lines(fresh):
        found: list[tuple[int, bool, int, Project]] = []
        if breaking_line(now) != breaking_line(line[-1]) and not _runs(task, key, line[-1]):
            continue  # what the line has come to does not run here, whatever its first versions say
        fitting = [version for version in line if not _is_hopeless(task, key, version)]
        for version in fitting[-1:] if len(task.project.packages) > LARGE else fitting:
            wanted = _together(task, {key: version})
            project = wanted and _rebuilt(task, wanted, _avoiding(task))
            if project and not _left_below(task, project, key):
                # If several ranges give the same lock, the one that names the locked version guarantees the fix.
                unnamed = _resolved(project, key) != version
                found.append((_size(task.project, project), unnamed, len(found), project))
        if found:
            return min(found)[-1]
    return None


def _lines(versions: list[str]) -> list[list[str]]:
    """Return versions by their breaking line, lowest first."""
    found: dict[tuple[int, ...], list[str]] = {}
    for version in versions:
        found.setdefault(breaking_line(version), []).append(version)
    return [found[line] for line in sorted(found)]


def _runs(task: Task, key: str, version: str) -> bool:
    """Return whether a version of a direct dependency runs on the project's Node.js."""
    nodes = node_versions(task.project.manifest)
    is_dev = task.project.direct[key].table == "devDependencies"
    return runs_on(_entry(task, key, version), nodes[-1:] if is_dev else nodes)


def _is_hopeless(task: Task, key: str, version: str) -> bool:
    """Return whether a version does not run on the project's Node.js, or asks for an affected one."""
    asked = _entry(task, key, version).get("dependencies", {}).get(task.package)
    affected = asked is not None and not any(satisfies(one, asked) for one in task.patched())
    return affected or not _runs(task, key, version)


def _entry(task: Task, key: str, version: str) -> Mapping[str, Any]:
    one = task.project.direct[key]
    return task.registry.manifest(split_alias(one.name, one.spec)[0], version) or {}


def _together(task: Task, raised: Mapping[str, str]) -> Manifests | None:
    """
    Return manifests with direct dependencies raised, and with them those that do not go with the new versions.

    Two do not go together if one is the other's peer and out of its range. What is raised for another goes to the
    newest version of the nearest breaking line in which the two agree.

    :returns: ``None`` if there are no such versions.
    """
    wanted = dict(raised)
    manifests: Manifests = task.project.manifests
    for _ in range(len(task.project.direct)):
        odd = next(_at_odds(task, wanted), None)
        if odd is None:
            for key, version in wanted.items():
                manifests = _with_spec(manifests, task.project, key, version)
            return manifests
        now = sort_key(_resolved(task.project, odd))
        fresh = [version for version in _versions(task, odd) if sort_key(version) > now]
        fitting = [
            version
            for version in fresh
            if not _is_hopeless(task, odd, version)
            and not any(_at_odds(task, {**wanted, odd: version}, only=odd))
        ]
        if odd in wanted or not fitting:
            return None
        wanted[odd] = _lines(fitting)[0][-1]
    return None


def _at_odds(task: Task, wanted: Mapping[str, str], only: str = "") -> Iterator[str]:
    """
    Yield the direct dependencies that are at odds with one that is raised: of the two the one that is not.

    :param only: look at this one and those that are raised alone.
    """
    direct = {one.name: key for key, one in task.project.direct.items()}
    peers = {
        key: _peers(task, key, wanted.get(key) or _resolved(task.project, key))
        for key in ((only, *wanted) if only else direct.values())
    }
    for asker, asked in peers.items():
        for name, spec in asked.items():
            key = direct.get(name, "")
            if not (key and (key in wanted or asker in wanted)) or (only and key not in peers):
                continue
            if not satisfies(wanted.get(key) or _resolved(task.project, key), spec):
                yield asker if key in wanted else key


def _peers(task: Task, key: str, version: str) -> Mapping[str, str]:
    entry = _entry(task, key, version)
    meta = entry.get("peerDependenciesMeta", {})
    asked = entry.get("peerDependencies", {}).items()
    return {peer: spec for peer, spec in asked if not meta.get(peer, {}).get("optional")}


def _direct_above(task: Task) -> list[str]:
    """Return the direct dependencies below which a refresh leaves a vulnerable entry."""
    project = task.refreshed or task.project
    return [key for key in sorted(project.direct) if _left_below(task, project, key)]


def _left_below(task: Task, project: Project, key: str) -> bool:
    """Return whether something vulnerable can be reached through one direct dependency."""
    return not _below(project, key).isdisjoint(task.vulnerable(project.packages))


def _below(project: Project, key: str) -> set[str]:
    """Return the entries that one direct dependency leads to, itself included; none if it is a workspace."""
    one = project.direct[key]
    start = resolve(project.packages, one.owner, one.name)
    if start is None or FOLDER not in start:
        return set()
    return {start, *reachable(project.packages, start)}


def _versions(task: Task, key: str) -> list[str]:
    one = task.project.direct[key]
    return task.registry.versions(split_alias(one.name, one.spec)[0])


def _resolved(project: Project, key: str) -> str:
    """Return the version that a direct dependency resolves to, of a workspace ``""``."""
    one = project.direct[key]
    path = resolve(project.packages, one.owner, one.name)
    return str(project.packages[path].get("version", "")) if path else ""


def _with_spec(manifests: Manifests, project: Project, key: str, version: str) -> Manifests:
    """Return the manifests with a new range for a direct dependency, in the style of the old one."""
    one = project.direct[key]
    made = dict(manifests[one.owner])
    for table in ROOT_TABLES:
        if one.name in made.get(table, {}):
            package, spec = split_alias(one.name, made[table][one.name])
            if table == "peerDependencies" and satisfies(version, spec):
                continue
            fresh = f"{spec[:1] if spec[:1] in ('^', '~') else ''}{version}"
            written = fresh if package == one.name else f"npm:{package}@{fresh}"
            made[table] = {**made[table], one.name: written}
    return {**manifests, one.owner: made}


def _override(task: Task) -> Project | None:
    """Force a patched version on the dependents of a vulnerable one, and on no others, each by as little as helps."""
    manifest = task.project.manifest
    base = task.refreshed or task.project
    packages = base.packages
    hit = set(task.vulnerable(packages))
    worst: dict[str, str] = {}
    for edge, to in edges(packages):
        if to in hit:
            if FOLDER not in edge.source:
                return None
            had = str(packages[to]["version"])
            name = package_name(edge.source, packages[edge.source])
            worst[name] = max(had, worst.get(name, had), key=sort_key)
    nearest = {name: _lines(_above(task, base, floor))[:1] for name, floor in worst.items()}
    if not worst or not all(nearest.values()):
        return None
    found = []
    for at in range(max(len(lines[0]) for lines in nearest.values())):
        bent = {name: lines[0][min(at, len(lines[0]) - 1)] for name, lines in nearest.items()}
        rules = dict(manifest.get("overrides", {}))
        for name, version in sorted(bent.items()):
            given = rules.get(name, {})
            rules[name] = {
                **({".": given} if isinstance(given, str) else given),
                task.package: version,
            }
        wanted = {**task.project.manifests, ROOT: {**manifest, "overrides": rules}}
        if project := _solved(task, wanted, _avoiding(task)):
            found.append(project)
    return min(found, key=lambda project: _size(task.project, project), default=None)


def _above(task: Task, project: Project, floor: str | None = None) -> list[str]:
    """Return the patched versions above a vulnerable one, by default the highest, that the project's Node.js runs."""
    packages = project.packages
    hit = (str(packages[path]["version"]) for path in task.vulnerable(packages))
    least = sort_key(floor) if floor else max(map(sort_key, hit))
    nodes = node_versions(project.manifest)
    return [
        version
        for version in task.patched()
        if sort_key(version) > least
        and runs_on(task.registry.manifest(task.package, version) or {}, nodes)
    ]


_RUNGS: Final = (_raise_own_override, _refresh, _refresh_askers, _raise_and_override)


def _avoiding(task: Task) -> Change:
    return Change(avoid=(task.package, task.affected))


def _rebuilt(task: Task, manifests: Manifests, change: Change) -> Project | None:
    try:
        return task.rebuild_all(manifests, change)
    except Unresolvable:
        return None


def _solved(task: Task, manifests: Manifests, change: Change) -> Project | None:
    project = _rebuilt(task, manifests, change)
    return project if project is not None and _is_whole(task, project) else None


def _is_whole(task: Task, project: Project) -> bool:
    """Return whether nothing vulnerable is left and every edge is satisfied that was before."""
    if task.vulnerable(project.packages):
        return False
    loose = _loose(project)
    return not loose or loose <= _loose(task.project)


def _loose(project: Project) -> set[tuple[str, str]]:
    """Return dependent and dependency of every edge that is neither satisfied nor bent by an override."""
    packages, found = project.packages, set()
    bending = Bending(read_overrides(project.manifest), packages)
    for edge, to in edges(packages):
        if to is None:
            fits = edge.may_be_absent
        else:
            version = str(packages[to].get("version"))
            fits = in_range(edge, packages[to]) or any(
                satisfies(version, rule.value) for rule in bending.rules_for(edge)
            )
        if not fits:
            found.add((edge.source, edge.name))
    return found


def _size(before: Project, after: Project) -> int:
    """Return how many entries differ between two locks."""
    old, new = before.packages, after.packages
    paths = (old.keys() | new.keys()) - {ROOT}
    return sum(old.get(path) != new.get(path) for path in paths)
