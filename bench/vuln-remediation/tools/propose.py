"""What a new case should accept, proposed from what ``ladder`` and npm do to it; a person decides."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation import changes
from _benchgate_bench.vuln_remediation.lockfile import ROOT, edges, package_name, vulnerable
from _benchgate_bench.vuln_remediation.metadata import Registry, fits
from _benchgate_bench.vuln_remediation.ranges import next_line
from _benchgate_bench.vuln_remediation.semver import breaking_line

from .freeze import asked_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _benchgate_bench.vuln_remediation.project import Project

NAMES: Final = {
    "direct-spec-bump": "direct-spec-bump-same-major",
    "parent-bump": "parent-bump-same-major",
    "parent-major": "parent-major-or-override",
    "scoped-override": "override-only",
    "own-override": "own-override-raised",
}
"""Kinds of fix whose name in ``facts.fix_class`` is a longer one."""
SENTINELS: Final = ("chalk", "commander", "debug")


@dataclass(frozen=True)
class Proposal:
    """
    A proposed case.

    :param expected: ``expected.json``, without advisories.
    :param open: what a person has to decide, one sentence each.
    """

    fix_class: str
    disposition: str
    difficulty: str
    parent_chain: list[str]
    observed: str
    expected: dict[str, Any]
    open: list[str] = field(default_factory=list)


def propose(
    before: Project,
    ladder: tuple[Project, str],
    npm: Project,
    targets: Iterable[Mapping[str, str]],
    registry: Registry,
) -> Proposal:
    """
    Return fix class and bounds of a project.

    :param ladder: what ``ladder`` makes of it, and its status.
    :param npm: what ``npm audit fix`` makes of it.
    :param targets: the advisories to fix.
    """
    after, status = ladder
    wanted = list(targets)
    hit = _hit(before, wanted)
    if status in ("no-fix", "not-affected"):
        return Proposal(status, "negative", "medium", _chain(before, hit), status, _bounds(before))
    kind = changes.fix_class(before, after, hit)
    solved_by_npm = not _hit(npm, wanted)
    solutions = [after, *([npm] if solved_by_npm else [])]
    changed = set().union(*(changes.changed_packages(before, one) for one in solutions))
    edited = changes.edited_specs(before, after)
    majors = changes.major_bumps(before, after)
    grown = {after.direct[key].name for key in edited} or (
        changed - {one["package"] for one in wanted} if "parent" in kind else set()
    )
    below = _closure(registry, _lines(before, after, grown))
    moved = {name for name in SENTINELS for one in solutions if _moved(before, one, name)}
    broken = changes.broken_ranges(after) - changes.broken_ranges(before)
    overridden = {rule.name for rule in changes.fresh_overrides(before, after)}
    expected = {
        **_bounds(before, moved),
        "fix_classes": {kind: 1.0},
        "may_change": sorted(changed | below),
        "spec_edits_allowed": sorted(edited),
        "majors_allowed": sorted(majors),
        "lines_allowed": _line_ends(before, after, majors),
        "overrides_allowed": sorted(overridden),
        "range_breaks_allowed": sorted(map(list, broken)),
    }
    return Proposal(
        fix_class=NAMES.get(kind, kind),
        disposition="positive",
        difficulty="easy" if kind == "lock-refresh" else "hard" if "major" in kind else "medium",
        parent_chain=_chain(before, hit),
        observed=_observed(before, after),
        expected=expected,
        open=_open(before, solutions, kind, moved, below),
    )


def _open(
    before: Project, solutions: list[Project], kind: str, moved: set[str], below: set[str]
) -> list[str]:
    """Return what is open about this project, and nothing that is so of every one."""
    after, changed = solutions[0], changes.changed_packages(before, solutions[0])
    said = []
    if len(solutions) > 1:
        theirs = changes.changed_packages(before, solutions[1])
        if theirs != changed:
            unlike = ", ".join(sorted(theirs ^ changed)[:6])
            said.append(
                f"npm audit fix solves it as well and changes other packages: is either too much? {unlike}"
            )
    elif kind in ("lock-refresh", "lock-refresh-of-parent"):
        said.append("npm audit fix leaves it vulnerable where a refresh helps: why?")
    if kind == "parent-major":
        crossed = changes.major_bumps(before, after)
        said.append(
            f"{', '.join(sorted(crossed))}: would a maintainer rather override than cross the line?"
        )
    if kind == "scoped-override":
        broken = sorted(changes.broken_ranges(after) - changes.broken_ranges(before))
        said.append(
            f"does the override run? {', '.join(f'{a} with another {b}' for a, b in broken)}"
        )
    if moved:
        said.append(
            f"{', '.join(sorted(moved))} changes in every solution seen, and is no sentinel here"
        )
    if wide := below - changed:
        names = ", ".join(sorted(wide)[:6])
        said.append(f"may_change has {len(wide)} packages that the answer leaves alone: {names}")
    return said


def _bounds(before: Project, moved: Iterable[str] = ()) -> dict[str, Any]:
    locked = changes.direct_versions(before)
    kept = [name for name in SENTINELS if name in locked and name not in set(moved)]
    lists = (
        "may_change",
        "spec_edits_allowed",
        "majors_allowed",
        "overrides_allowed",
        "range_breaks_allowed",
    )
    empty: dict[str, Any] = {key: [] for key in lists}
    return {"fix_classes": {}, **empty, "sentinels": {name: locked[name] for name in kept}}


def _hit(project: Project, targets: Iterable[Mapping[str, str]]) -> list[str]:
    return [
        path
        for one in targets
        for path in vulnerable(project.packages, one["package"], one["vulnerable_range"])
    ]


def _moved(before: Project, after: Project, name: str) -> bool:
    old, new = changes.direct_versions(before), changes.direct_versions(after)
    return name in old and old[name] != new.get(name)


def _lines(before: Project, after: Project, names: Iterable[str]) -> dict[str, str]:
    """Return the versions from the one that was locked to the end of the new one's breaking line."""
    old, new = changes.versions(before.packages), changes.versions(after.packages)
    found = {}
    for name in names:
        if name in old and name in new:
            line = breaking_line(max(new[name]))
            end = f"{line[0] + 1}.0.0" if line[0] else f"0.{line[1] + 1}.0"
            found[name] = f">={min(old[name])} <{end}"
    return found


def _line_ends(before: Project, after: Project, names: Iterable[str]) -> dict[str, str]:
    """Return the range from the version that was locked to the end of the new one's breaking line."""
    old, new = changes.direct_versions(before), changes.direct_versions(after)
    return {name: f">{old[name]} <{next_line(new[name])}" for name in sorted(names)}


def _closure(registry: Registry, start: Mapping[str, str]) -> set[str]:
    """Return the packages that some resolution of the given ranges can bring in."""
    seen: set[tuple[str, str]] = set()
    waiting = list(start.items())
    while waiting:
        asked = waiting.pop()
        if asked not in seen:
            seen.add(asked)
            name, spec = asked
            for version in registry.versions(name):
                if fits(version, spec):
                    waiting.extend(asked_for(registry.manifest(name, version) or {}))
    return {name for name, _ in seen if name in registry.packages}


def _chain(project: Project, hit: Iterable[str]) -> list[str]:
    """Return the names from the project down to a vulnerable entry, by the shortest way."""
    packages, wanted = project.packages, set(hit)
    below: dict[str, list[str]] = {}
    for edge, to in edges(packages):
        if to is not None:
            below.setdefault(edge.source, []).append(to)
    waiting: deque[tuple[str, tuple[str, ...]]] = deque(
        (path, ()) for path in packages if "node_modules/" not in path
    )
    seen = {ROOT}
    while waiting:
        path, names = waiting.popleft()
        if path in wanted:
            return list(names)
        for to in below.get(path, []):
            if to not in seen:
                seen.add(to)
                waiting.append((to, (*names, package_name(to, packages[to]))))
    return []


def _observed(before: Project, after: Project) -> str:
    """Return what the fix changed, in words."""
    old, new = changes.direct_versions(before), changes.direct_versions(after)
    edits = [
        f"{name} {before.direct[name].spec} -> {after.direct[name].spec}"
        for name in sorted(changes.edited_specs(before, after))
    ]
    if edits:
        return f"direct {', '.join(edits)}"
    if after.manifest.get("overrides") != before.manifest.get("overrides"):
        return f"overrides {json.dumps(after.manifest.get('overrides'))}"
    moved = [name for name in old if old[name] != new.get(name)]
    names = sorted(changes.changed_packages(before, after))
    return f"in-range update of {', '.join(moved or names)}"
