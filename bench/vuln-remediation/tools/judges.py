"""
Checks the rubric against npm, which shares no code with it.

``npm audit`` says which installed packages are vulnerable, ``npm ls`` whether every edge is satisfied. Of the other
faults of a lock npm finds some and misses some, so only edges are compared.
"""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.consistency import lock_problems
from _benchgate_bench.vuln_remediation.lockfile import FOLDER, package_name, vulnerable
from _benchgate_bench.vuln_remediation.metadata import Registry
from _benchgate_bench.vuln_remediation.project import (
    LOCK,
    MANIFEST,
    Project,
    read_input,
    read_output,
)
from _benchgate_bench.vuln_remediation.semver import satisfies

from .cassettes import CLASS, REFUSALS, WORKERS, frozen_packages, known_advisories, project_files
from .registry import serve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate import BenchCase
    from benchgate.registry import System

    from .npm import Npm

    Packages = Mapping[str, Mapping[str, Any]]

EDGE_CODES: Final = frozenset(
    {"edge_unresolved", "edge_out_of_range", "override_not_locked", "override_conflict", "override_malformed"}
)  # fmt: skip
"""The failure modes that ``npm ls`` detects as well."""


@dataclass(frozen=True)
class Item:
    """
    One project to check.

    :param label: the system that made it, or how it was damaged.
    """

    case_id: str
    label: str
    files: Mapping[str, str]

    @property
    def project(self) -> Project:
        """The files, read as the rubric reads an output."""
        return read_output(
            {"files": self.files}, read_input(CLASS / "cases" / self.case_id / "input")
        )


@dataclass(frozen=True)
class Verdict:
    """
    What the rubric and npm found in one project.

    :param instances: package to the paths of its vulnerable entries, by the rubric.
    :param npm_instances: the same by ``npm audit``, of the packages that an advisory names.
    :param mixed: packages that npm also counts for their dependencies; npm may list more paths.
    """

    item: Item
    instances: Mapping[str, frozenset[str]]
    npm_instances: Mapping[str, frozenset[str]]
    mixed: frozenset[str]
    whole: bool
    npm_whole: bool

    @property
    def audit_agrees(self) -> bool:
        """Whether both name the same vulnerable entries."""
        names = self.instances.keys() | self.npm_instances.keys()
        return all(self._same(name) for name in names)

    @property
    def ls_agrees(self) -> bool:
        """Whether both find the edges satisfied, or both do not."""
        return self.whole == self.npm_whole

    @property
    def agrees(self) -> bool:
        """Whether there is no difference at all."""
        return self.audit_agrees and self.ls_agrees

    def _same(self, name: str) -> bool:
        ours = self.instances.get(name, frozenset())
        theirs = self.npm_instances.get(name, frozenset())
        return ours <= theirs if name in self.mixed else ours == theirs


def distinct(items: Iterable[Item]) -> list[Item]:
    """Return the items without duplicates: outputs that are equal as JSON are checked once."""
    found: dict[str, Item] = {}
    for item in items:
        read = {name: json.loads(text) for name, text in item.files.items()}
        found.setdefault(json.dumps([item.case_id, read], sort_keys=True), item)
    return list(found.values())


def judge(npm: Npm, items: list[Item]) -> list[Verdict]:
    """Check every item with npm and with the rubric's modules."""
    packages = {case_id: frozen_packages(case_id) for case_id in {item.case_id for item in items}}
    with serve() as address, ThreadPoolExecutor(WORKERS) as pool:
        urls = [f"{address}/{item.case_id}/" for item in items]
        held = [packages[item.case_id] for item in items]
        return list(pool.map(_judge, [npm] * len(items), items, held, urls))


def _judge(npm: Npm, item: Item, packages: Packages, url: str) -> Verdict:
    project = item.project
    files = {**project_files(CLASS / "cases" / item.case_id / "input"), **item.files}
    audit = json.loads(npm.run(("audit", "--json"), files, url).stdout)
    error = audit.get("error", {})
    if error.get("code") in REFUSALS or "Override without name" in error.get("summary", ""):
        audit = {"vulnerabilities": {}, "refused": True}  # npm looks no further
    if "vulnerabilities" not in audit:
        msg = f"{item.case_id}: npm audit failed: {audit.get('message')}"
        raise RuntimeError(msg)
    named = {
        name: found
        for name, found in audit["vulnerabilities"].items()
        if any(isinstance(via, dict) for via in found["via"])
    }
    # All edges, those of the given lock as well: npm does not know what was given.
    codes = set(lock_problems(project, Registry(packages)))
    return Verdict(
        item=item,
        instances={} if "refused" in audit else _instances(item.case_id, project),
        npm_instances={name: frozenset(found["nodes"]) for name, found in named.items()},
        mixed=frozenset(
            name for name, one in named.items() if any(isinstance(via, str) for via in one["via"])
        ),
        whole=not codes & EDGE_CODES,
        npm_whole=npm.run(("ls", "--all"), files, url).exit_code == 0,
    )


def _instances(case_id: str, project: Project) -> dict[str, frozenset[str]]:
    found = {
        name: frozenset(
            path
            for one in listed
            for path in vulnerable(project.packages, name, one["vulnerable_versions"])
        )
        for name, listed in known_advisories(case_id).items()
    }
    return {name: paths for name, paths in found.items() if paths}


def damaged(item: Item, seed: int) -> Item:
    """Return an item with one entry of its lock removed, or set to another existing version."""
    rng = random.Random(f"{seed} {item.case_id}")  # noqa: S311 - a choice, no secret
    lock = json.loads(item.files[LOCK])
    entries = lock["packages"]
    installed = [path for path in entries if FOLDER in path and not entries[path].get("link")]
    path = rng.choice(sorted(installed))
    name, old = package_name(path, entries[path]), entries[path]
    known = frozen_packages(item.case_id)[name]["versions"]
    others = sorted(version for version in known if not satisfies(version, old["version"]))
    if others and rng.random() < 0.7:
        version = rng.choice(others)
        kept = {key: old[key] for key in ("name", "dev", "optional", "peer") if key in old}
        entries[path] = {**kept, **known[version], "version": version}
        label = f"{path} at {version}"
    else:
        del entries[path]
        label = f"without {path}"
    files = {MANIFEST: item.files[MANIFEST], LOCK: json.dumps(lock)}
    return Item(item.case_id, label, files)


def outputs(cases: Iterable[BenchCase], systems: Mapping[str, System]) -> list[Item]:
    """Return what every system makes of every case."""
    return [
        Item(case.case_id, name, system(case)["files"])
        for case in cases
        for name, system in systems.items()
    ]


def damaged_inputs(cases: Iterable[BenchCase], seeds: int) -> list[Item]:
    """Return the given projects, each damaged once for every seed."""
    given = [Item(case.case_id, "input", project_files(case.input_path)) for case in cases]
    return [damaged(item, seed) for seed in range(seeds) for item in given]


def sentence(made: int, verdicts: list[Verdict]) -> str:
    """Return the counts as the sentence in ``details/history.md``."""
    instances = sum(len(paths) for found in verdicts for paths in found.instances.values())
    return (
        f"{made} projects, {len(verdicts)} of them different: npm audit agrees on "
        f"{sum(found.audit_agrees for found in verdicts)} ({instances} vulnerable entries), npm ls on "
        f"{sum(found.ls_agrees for found in verdicts)} ({sum(not found.whole for found in verdicts)} "
        f"of them broken)"
    )
