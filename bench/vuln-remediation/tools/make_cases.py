"""
Write the cases from frozen data.

    python -m _benchgate_bench.vuln_remediation.tools.make_cases --advisories A --projects P --metadata M [CASE ...]

``A`` holds the advisories, ``P`` a folder per CVE with a manifest and its lock, ``M`` the package metadata (xz).
What is decided by hand is in ``cases.toml`` beside this file. Existing cases are overwritten, and keep their
cassettes; a case without a folder in ``P`` keeps its project. All advisories go into ``advisories.json`` as well.
"""

from __future__ import annotations

import argparse
import json
import lzma
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tomli
import tomli_w
from _benchgate_bench.vuln_remediation.lockfile import ROOT, edges
from _benchgate_bench.vuln_remediation.metadata import Registry, fits
from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST, Project, read_input

from .cassettes import ADVISORIES, CLASS
from .freeze import asked_for, freeze, render

if TYPE_CHECKING:
    from collections.abc import Mapping

STAMP: Final = datetime(2026, 11, 21, tzinfo=UTC)
SENTINELS: Final = ("chalk", "commander", "debug")


def main() -> None:
    """Write every case of ``cases.toml``, or those named."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    for name in ("advisories", "projects", "metadata"):
        options.add_argument(f"--{name}", type=Path, required=True)
    options.add_argument("cases", nargs="*")
    given = options.parse_args()
    decided = tomli.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))
    advisories = json.loads(given.advisories.read_text(encoding="utf-8"))["advisories"]
    metadata = json.loads(lzma.decompress(given.metadata.read_bytes()))
    for case_id in given.cases or sorted(decided):
        chosen = decided[case_id]
        made = given.projects / chosen.get("project", chosen["cve"])
        project = read_input(made if made.is_dir() else CLASS / "cases" / case_id / "input")
        _write_case(case_id, chosen, project, advisories, metadata)
    _json(ADVISORIES, _bulk(advisories))


def _bulk(advisories: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the advisories by package, as npm's bulk endpoint answers."""
    bulk: dict[str, list[dict[str, Any]]] = {}
    for number, advisory in enumerate(sorted(advisories, key=lambda one: str(one["ghsa"])), 1):
        rated = advisory["cvss_v3"] or {"base": 0, "vector": None}
        entry = {
            "id": number,
            "url": f"https://github.com/advisories/{advisory['ghsa']}",
            "title": f"{advisory['cve']} in {advisory['package']}",
            "severity": advisory["severity"].lower(),
            "vulnerable_versions": advisory["vulnerable_range"],
            "cwe": advisory["cwe"],
            "cvss": {"score": rated["base"], "vectorString": rated["vector"]},
        }
        bulk.setdefault(advisory["package"], []).append(entry)
    return bulk


def _write_case(
    case_id: str,
    chosen: Mapping[str, Any],
    project: Project,
    advisories: list[dict[str, Any]],
    metadata: Mapping[str, Any],
) -> None:
    advisory = next(found for found in advisories if found["cve"] == chosen["cve"])
    folder = CLASS / "cases" / case_id
    for part in ("input", "expected"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    frozen = freeze(metadata, project.manifest, project.lock, advisory["package"])
    (folder / "input" / "registry.json").write_text(render(frozen), encoding="utf-8")
    _json(folder / "input" / MANIFEST, project.manifest)
    _json(folder / "input" / LOCK, project.lock)
    _json(folder / "input" / "advisory.json", {**_public(advisory), **chosen.get("advisory", {})})
    expected = _expected(chosen, project, advisory, advisories, Registry(frozen))
    _json(folder / "expected" / "expected.json", expected)
    manifest = folder / "case.toml"
    tables = {**_case_tables(case_id, chosen, advisory), **_cassettes(manifest)}
    text = tomli_w.dumps(tables).replace(" 00:00:00+00:00", "T00:00:00Z")
    manifest.write_text(text, encoding="utf-8")


def _cassettes(manifest: Path) -> dict[str, Any]:
    if not manifest.is_file():
        return {}
    held = tomli.loads(manifest.read_text(encoding="utf-8"))
    return {key: held[key] for key in ("cassettes",) if key in held}


def _json(path: Path, value: Any) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _public(advisory: Mapping[str, Any]) -> dict[str, Any]:
    fields = ("cve", "ghsa", "package", "vulnerable_range", "ranges", "severity")
    return {
        **{field: advisory[field] for field in fields},
        "first_patched": advisory["first_patched"] or [],
    }


def _expected(
    chosen: Mapping[str, Any],
    project: Project,
    advisory: Mapping[str, Any],
    advisories: list[dict[str, Any]],
    registry: Registry,
) -> dict[str, Any]:
    below = _closure(registry, chosen.get("may_change_below", {}))
    locked = {
        edge.name: project.packages[to]["version"]
        for edge, to in edges(project.packages)
        if edge.source == ROOT and to is not None
    }
    return {
        "schema_version": 1,
        "target": _brief(advisory),
        "fix_classes": chosen.get("fix_classes", {}),
        "may_change": sorted({*chosen.get("may_change", []), *below}),
        "spec_edits_allowed": chosen.get("spec_edits_allowed", []),
        "majors_allowed": chosen.get("majors_allowed", []),
        "overrides_allowed": chosen.get("overrides_allowed", []),
        "range_breaks_allowed": chosen.get("range_breaks_allowed", []),
        "sentinels": {name: locked[name] for name in chosen.get("sentinels", SENTINELS)},
        "advisories": [
            _brief(other)
            for other in sorted(advisories, key=lambda found: str(found["ghsa"]))
            if other is not advisory and other["package"] in registry.packages
        ],
    }


def _brief(advisory: Mapping[str, Any]) -> dict[str, str]:
    return {field: advisory[field] for field in ("ghsa", "package", "vulnerable_range")}


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


def _case_tables(
    case_id: str, chosen: Mapping[str, Any], advisory: Mapping[str, Any]
) -> dict[str, Any]:
    case = {
        "case_id": case_id,
        "task_class": "vuln-remediation",
        "disposition": chosen.get("disposition", "positive"),
        "difficulty": chosen["difficulty"],
        "source": "curated",
        "added_at": STAMP,
        "last_validated_at": STAMP,
        "held_out": chosen.get("held_out", False),
        "tags": chosen["tags"],
        "timeout_seconds": 60,
    }
    taken = ("cve", "ghsa", "package", "vulnerable_range", "ranges", "severity", "cwe")
    facts = {
        **{field: advisory[field] for field in taken},
        "ecosystem": "npm",
        "first_patched": advisory["first_patched"] or [],
        "fix_class": chosen.get("fix_class", advisory["fix_class"]),
        "parent_chain": chosen.get("parent_chain", advisory["parent_chain"]),
        "observed": chosen.get("observed", advisory["observed"]["smallest_fix_found"]),
        "note": chosen.get("note", advisory["note"] or ""),
        "source": advisory["source"],
    }
    return {"case": case, "facts": facts}


if __name__ == "__main__":
    main()
