"""The naive system: forces one patched version everywhere, whatever range or package a dependent asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.lockfile import ROOT, ROOT_TABLES, folder_name
from _benchgate_bench.vuln_remediation.semver import affects, sort_key

from .resolver import Change, Unresolvable
from .sources import sources_digest
from .workspace import Task, answer, unchanged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase


class BlindOverride:
    """Writes a global override to the lowest patched version above the installed one."""

    name: Final = "blind-override"

    def digest(self) -> str:
        """Return the SHA-256 over the sources this system is made of."""
        return sources_digest()

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Return the project with the override, or as it was if there is no patched version."""
        tasks = Task.read(case.input_path)
        project = tasks[0].project
        bent: dict[tuple[str, str], str] = {}
        try:
            for one in tasks:
                task = one.on(project)
                version = _target_version(task)
                if version is None:
                    return unchanged(case.input_path, "no-fix")
                bent["", task.package] = version
                project = task.rebuild(_forced(task, version), Change(bent=bent))
        except Unresolvable:
            return unchanged(case.input_path, "failed")
        return answer(project, "fixed")


def _target_version(task: Task) -> str | None:
    # By the folder's name, so that an alias is mistaken for the package whose name it has.
    called = [
        entry["version"]
        for path, entry in task.project.packages.items()
        if path != ROOT and folder_name(path) == task.package
    ]
    hit = [sort_key(version) for version in called if affects(version, task.affected)]
    return next((found for found in task.patched() if hit and sort_key(found) > max(hit)), None)


def _forced(task: Task, version: str) -> dict[str, Any]:
    manifest = dict(task.project.manifest)
    # npm refuses an override that says something else than the project's own range for a direct dependency.
    for table in ROOT_TABLES:
        if task.package in manifest.get(table, {}):
            manifest[table] = {**manifest[table], task.package: version}
    manifest["overrides"] = {**manifest.get("overrides", {}), task.package: version}
    return manifest
