"""Careless habits that remove a vulnerability and break something else: controls for the axes other than the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.lockfile import (
    FOLDER,
    ROOT,
    ROOT_TABLES,
    folder_name,
    split_alias,
)
from _benchgate_bench.vuln_remediation.metadata import Registry, fits
from _benchgate_bench.vuln_remediation.project import Project
from _benchgate_bench.vuln_remediation.semver import affects

from .resolver import Change, Unresolvable, resolve_tree
from .sources import sources_digest
from .workspace import Task, answer, unchanged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase


class _Careless:
    """Makes one kind of change, without checking whether it was needed or what it broke."""

    name: str

    def digest(self) -> str:
        """Return the SHA-256 over the sources these systems are made of."""
        return sources_digest()

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Return the changed project, or the given one if the change cannot be made."""
        try:
            tasks = Task.read(case.input_path)
            project = tasks[0].project
            for task in tasks:
                project = self._follow(task.on(project))
            return answer(project, "fixed")
        except Unresolvable:
            return unchanged(case.input_path, "failed")

    def _follow(self, task: Task) -> Project:
        raise NotImplementedError


class UpgradeAll(_Careless):
    """Raises every direct dependency to its newest version and refreshes all others: ``ncu -u``, then install."""

    name: Final = "upgrade-all"

    def _follow(self, task: Task) -> Project:
        manifest = dict(task.project.manifest)
        for table in ROOT_TABLES:
            if manifest.get(table):
                manifest[table] = {
                    name: _newest(task.registry, name, spec)
                    for name, spec in manifest[table].items()
                }
        return task.rebuild(manifest, Change(refresh=_names(task)))


class InstallLatest(_Careless):
    """Adds the newest version of the vulnerable package as a dependency: ``npm install PACKAGE@latest``."""

    name: Final = "install-latest"

    def _follow(self, task: Task) -> Project:
        manifest = dict(task.project.manifest)
        wanted = _newest(task.registry, task.package, "*")
        manifest["dependencies"] = {**manifest.get("dependencies", {}), task.package: wanted}
        return task.rebuild(manifest, Change(avoid=(task.package, task.affected)))


class OldestVersions(_Careless):
    """Discards the lock and takes the oldest version in range of every package, avoiding the advisory's."""

    name: Final = "oldest-versions"

    def _follow(self, task: Task) -> Project:
        manifest, lock = task.project.manifest, task.project.lock
        registry = _OldestFirst(task.registry.packages)
        change = Change(avoid=(task.package, task.affected))
        own = {
            path: entry
            for path, entry in lock["packages"].items()
            if FOLDER not in path or entry.get("link")
        }
        fresh = resolve_tree(own, registry, change)
        return Project(manifest, {**lock, "packages": fresh}, task.project.workspaces)


class CutOut(_Careless):
    """Deletes the vulnerable entries from the lock, and the direct dependency of that name; installs nothing."""

    name: Final = "cut-out"

    def _follow(self, task: Task) -> Project:
        project = task.project
        hit = task.vulnerable(project.packages)
        kept = {path: entry for path, entry in project.packages.items() if path not in hit}
        kept[ROOT] = _without(project.packages[ROOT], task.package)
        manifest = _without(project.manifest, task.package)
        return Project(manifest, {**project.lock, "packages": kept})


class _OldestFirst(Registry):
    def pick(self, name: str, spec: str, avoid: str | None = None) -> str | None:
        fitting = [version for version in self.versions(name) if fits(version, spec)]
        wanted = [v for v in fitting if avoid is None or not affects(v, avoid)] or fitting
        return wanted[0] if wanted else None


def _without(held: Mapping[str, Any], package: str) -> dict[str, Any]:
    """Return a manifest, or the root entry of a lock, without a direct dependency."""
    tables = {table: dict(held[table]) for table in ROOT_TABLES if table in held}
    for table in tables.values():
        table.pop(package, None)
    return {**held, **tables}


def _newest(registry: Registry, name: str, spec: str) -> str:
    package = split_alias(name, spec)[0]
    version = registry.pick(package, "*")
    if version is None:
        return spec
    return f"^{version}" if package == name else f"npm:{package}@^{version}"


def _names(task: Task) -> frozenset[str]:
    return frozenset(folder_name(path) for path in task.project.packages if path)
