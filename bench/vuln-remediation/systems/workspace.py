"""What a system gets, and the form of its answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from _benchgate_bench.vuln_remediation.lockfile import ROOT, ROOT_TABLES, vulnerable
from _benchgate_bench.vuln_remediation.metadata import Registry
from _benchgate_bench.vuln_remediation.overrides import read_overrides
from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST, Project, read_input
from _benchgate_bench.vuln_remediation.semver import affects

from .npmjson import lock_text, manifest_text
from .resolver import Change, Unresolvable, resolve_tree

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Task:
    """
    One advisory to fix in one project.

    :param affected: the affected versions as an npm range.
    """

    project: Project
    registry: Registry
    package: str
    affected: str

    @classmethod
    def read(cls, folder: Path) -> tuple[Task, ...]:
        """Read a case's ``input/``: one task for each advisory."""
        advisory = json.loads((folder / "advisory.json").read_text(encoding="utf-8"))
        project, registry = read_input(folder), Registry.load(folder / "registry.json")
        return tuple(
            cls(project, registry, one["package"], one["vulnerable_range"])
            for one in (advisory, *advisory.get("also", []))
        )

    def on(self, project: Project) -> Task:
        """Return the same task in another state of the project."""
        return replace(self, project=project)

    def vulnerable(self, packages: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Return the folders of the affected entries of a tree."""
        return vulnerable(packages, self.package, self.affected)

    def patched(self) -> list[str]:
        """Return the known versions that are not affected, lowest first."""
        versions = self.registry.versions(self.package)
        return [version for version in versions if not affects(version, self.affected)]

    @cached_property
    def refreshed(self) -> Project | None:
        """The project with the package refreshed within its dependents' ranges; ``None`` if that cannot be."""
        try:
            change = Change(avoid=(self.package, self.affected))
            return self.rebuild_all(self.project.manifests, change)
        except Unresolvable:
            return None

    def rebuild(self, manifest: Mapping[str, Any], change: Change) -> Project:
        """
        Return the project with a new manifest and the lock that matches it.

        :raises Unresolvable: there is no such lock.
        """
        return self.rebuild_all({**self.project.manifests, ROOT: manifest}, change)

    def rebuild_all(self, manifests: Mapping[str, Mapping[str, Any]], change: Change) -> Project:
        """
        Return the project with new manifests, by folder, and the lock that matches them.

        :raises Unresolvable: there is no such lock.
        """
        lock = self.project.lock
        packages = dict(lock["packages"])
        for folder, manifest in manifests.items():
            kept = {key: held for key, held in packages[folder].items() if key not in ROOT_TABLES}
            asked = {table: manifest[table] for table in ROOT_TABLES if manifest.get(table)}
            packages[folder] = {**kept, **asked}
        bent = {**_given(manifests[ROOT]), **change.bent}
        made = resolve_tree(packages, self.registry, replace(change, bent=bent))
        workspaces = {folder: held for folder, held in manifests.items() if folder != ROOT}
        return Project(manifests[ROOT], {**lock, "packages": made}, workspaces)


def _given(manifest: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return the ranges that a manifest's overrides force, as :class:`.tree.Tree` takes them."""
    return {
        (rule.scope[-1][0] if rule.scope else "", rule.name): rule.value
        for rule in read_overrides(manifest)
        if not rule.when
    }


def answer(project: Project, status: str) -> dict[str, Any]:
    """Return a system's output for a project."""
    files = {MANIFEST: manifest_text(project.manifest), LOCK: lock_text(project.lock)}
    for folder, manifest in project.workspaces.items():
        files[f"{folder}/{MANIFEST}"] = manifest_text(manifest)
    return {"files": files, "status": status}


def unchanged(folder: Path, status: str) -> dict[str, Any]:
    """Return the output with the files of a case unchanged."""
    files = {name: (folder / name).read_text(encoding="utf-8") for name in (MANIFEST, LOCK)}
    return {"files": files, "status": status}
