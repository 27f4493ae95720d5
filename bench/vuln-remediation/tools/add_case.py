r"""
Write a new case: from advisory records, a project and registry metadata.

    python bench/vuln-remediation/tools/add_case.py NUMBER-NAME --record R.json [--record ...] --project DIR \
        --metadata M.json.xz [--package NAME] [--cluster NAME] [--held-out] [--critical] [--tag TAG ...] [--note TEXT]

Records are in the form of OSV or of GitHub (``records.py``), the first is the case's own. DIR has a manifest and its
lock, made with ``--omit-lockfile-registry-resolved``, and the manifests of its workspaces. The metadata maps names to
documents of a registry, or is the ``registry.json`` of another case. What it writes: the case, with fix class and
bounds proposed from what ``ladder`` and npm do; the cassette, by the recorded versions of npm and Node.js only; the
record, and its entry in ``advisories.json``. Other cases change only if their metadata has the advisory's package. It
ends with what a person has to decide.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import tomli_w

from benchgate.loader.imports import bench_package
from benchgate.testing import load_cases

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASS: Final = Path(__file__).resolve().parent.parent
RECORDS: Final = Path(__file__).with_name("records")


def main() -> int:
    """Write a case and print what is left to decide."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument(
        "case", metavar="NUMBER-NAME", help="such as 024-nanoid; the CVE is put in between"
    )
    options.add_argument("--record", type=Path, action="append", required=True)
    options.add_argument("--project", type=Path, required=True)
    options.add_argument("--metadata", type=Path, required=True)
    options.add_argument("--package", help="which package, if the record names several")
    options.add_argument("--cluster", help="default the package")
    options.add_argument("--held-out", action="store_true")
    options.add_argument("--critical", action="store_true")
    options.add_argument("--tag", action="append", default=[])
    options.add_argument("--note", help="instead of the record's")
    options.add_argument("--difficulty", choices=("easy", "medium", "hard"))
    given = options.parse_args()
    if not re.fullmatch(r"\d{3}-[a-z0-9-]+", given.case):
        options.error("NUMBER-NAME is three digits and a name, such as 024-nanoid")
    with bench_package(CLASS.parent):
        return add(given)


def add(given: argparse.Namespace) -> int:
    """Write the case that the options describe."""
    from _benchgate_bench.vuln_remediation.systems.npm_audit_fix import RECORDED
    from _benchgate_bench.vuln_remediation.tools import cassettes
    from _benchgate_bench.vuln_remediation.tools.npm import Npm
    from _benchgate_bench.vuln_remediation.tools.records import RecordError, facts_of, read_record

    npm = Npm.find()
    if npm is None or (npm.version, npm.node) != RECORDED[1:]:
        found = f"npm {npm.version} on Node.js {npm.node}" if npm else "none"
        return _fail(f"needs npm {RECORDED[1]} on Node.js {RECORDED[2]}, found {found}")
    records = [read_record(path) for path in given.record]
    try:
        facts = [
            facts_of(record, None if at else given.package) for at, record in enumerate(records)
        ]
    except RecordError as error:
        return _fail(str(error))
    number, _, name = given.case.partition("-")
    case_id = f"{number}-{facts[0]['cve'].lower()}-{name}"
    folder = CLASS / "cases" / case_id
    if folder.exists():
        return _fail(f"{folder} exists")
    try:
        _write_input(folder / "input", given, facts)
        advisories = _append(records, facts)
        proposal = _proposal(folder / "input", npm, facts, advisories)
        _write_expected(folder, proposal.expected, facts, advisories)
        _write_manifest(folder, case_id, given, facts[0], proposal)
        cassettes.store(case_id, cassettes.record(npm, [case_id])[case_id])
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    touched = _tell_others(case_id, facts)
    again = cassettes.record(npm, touched)
    for other, made in again.items():
        cassettes.store(other, made)
    _report(case_id, proposal, touched)
    return 0


def _write_input(folder: Path, given: argparse.Namespace, facts: list[dict[str, Any]]) -> None:
    from _benchgate_bench.vuln_remediation.lockfile import package_name
    from _benchgate_bench.vuln_remediation.systems.npmjson import lock_text
    from _benchgate_bench.vuln_remediation.tools.freeze import freeze, render

    folder.mkdir(parents=True)
    for path in sorted(given.project.rglob("package*.json")):
        target = folder / path.relative_to(given.project)
        target.parent.mkdir(parents=True, exist_ok=True)
        _json(target, json.loads(path.read_text(encoding="utf-8")))
    manifest, lock = (
        json.loads((folder / name).read_text()) for name in ("package.json", "package-lock.json")
    )
    frozen = freeze(
        read_metadata(given.metadata), manifest, lock, *(one["package"] for one in facts)
    )
    (folder / "registry.json").write_text(render(frozen), encoding="utf-8")
    for path, entry in lock["packages"].items():
        known = (
            frozen.get(package_name(path, entry), {})
            .get("versions", {})
            .get(entry.get("version"), {})
        )
        if known.get("hasInstallScript"):
            entry["hasInstallScript"] = True
    (folder / "package-lock.json").write_text(lock_text(lock), encoding="utf-8")
    public = [
        {
            key: one[key]
            for key in (
                "cve",
                "ghsa",
                "package",
                "vulnerable_range",
                "ranges",
                "severity",
                "first_patched",
            )
        }
        for one in facts
    ]
    _json(folder / "advisory.json", {**public[0], **({"also": public[1:]} if public[1:] else {})})


def read_metadata(path: Path) -> dict[str, Any]:
    """Return documents of a registry by name, with the install scripts that are known of them."""
    body = path.read_bytes()
    held = json.loads(lzma.decompress(body) if path.suffix == ".xz" else body)
    if "schema_version" in held:
        return {
            name: {
                "dist-tags": {"latest": one["latest"]} if "latest" in one else {},
                "versions": {
                    version: {**entry, "dist": {"integrity": entry.get("integrity")}}
                    for version, entry in one["versions"].items()
                },
            }
            for name, one in held["packages"].items()
        }
    return dict(held)


def _append(
    records: list[dict[str, Any]], facts: list[dict[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """Keep the records, and add to the frozen advisories those that are not there yet."""
    from _benchgate_bench.vuln_remediation.tools.cassettes import ADVISORIES, frozen_advisories
    from _benchgate_bench.vuln_remediation.tools.records import bulk_entry

    held = frozen_advisories()
    RECORDS.mkdir(exist_ok=True)
    for record, one in zip(records, facts, strict=True):
        _json(RECORDS / f"{record['id']}.json", record)
        known = [entry["url"].rpartition("/")[2] for entry in held.get(one["package"], [])]
        if one["ghsa"] not in known:
            number = 1 + max(
                (entry["id"] for entries in held.values() for entry in entries), default=0
            )
            held.setdefault(one["package"], []).append(bulk_entry(record, one, number))
    _json(ADVISORIES, held)
    return held


def _proposal(
    folder: Path, npm: Any, facts: list[dict[str, Any]], advisories: Mapping[str, Any]
) -> Any:
    from _benchgate_bench.vuln_remediation.metadata import Registry
    from _benchgate_bench.vuln_remediation.project import read_input, read_output
    from _benchgate_bench.vuln_remediation.systems.ladder import Ladder
    from _benchgate_bench.vuln_remediation.tools.cassettes import COMMAND, project_files
    from _benchgate_bench.vuln_remediation.tools.loopback_registry import LoopbackRegistry
    from _benchgate_bench.vuln_remediation.tools.propose import propose

    solved = Ladder()(SimpleNamespace(input_path=folder))  # type: ignore[arg-type]  # all that it reads of a case
    registry = Registry.load(folder / "registry.json")
    with LoopbackRegistry({"new": registry.packages}, advisories) as served:
        run = npm.run(COMMAND, project_files(folder), served.url("new"))
    by_npm = read_output({"files": run.files})
    return propose(
        read_input(folder), (read_output(solved), solved["status"]), by_npm, facts, registry
    )


def _write_expected(
    folder: Path,
    proposed: dict[str, Any],
    facts: list[dict[str, Any]],
    advisories: Mapping[str, Any],
) -> None:
    registry = json.loads((folder / "input" / "registry.json").read_text(encoding="utf-8"))[
        "packages"
    ]
    targets = [_brief(one["ghsa"], one["package"], one["vulnerable_range"]) for one in facts]
    others = [
        brief
        for package, entries in advisories.items()
        for entry in entries
        if package in registry
        and (
            brief := _brief(entry["url"].rpartition("/")[2], package, entry["vulnerable_versions"])
        )
        not in targets
    ]
    (folder / "expected").mkdir()
    expected = {
        "schema_version": 1,
        "target": targets[0],
        **({"also": targets[1:]} if targets[1:] else {}),
        **proposed,
        "advisories": sorted(others, key=lambda one: one["ghsa"]),
    }
    _json(folder / "expected" / "expected.json", expected)


def _tell_others(case_id: str, facts: list[dict[str, Any]]) -> list[str]:
    """Add the advisories to the other cases whose metadata has their package; return these cases."""
    touched = []
    for other in load_cases(CLASS).values():
        path = CLASS / "cases" / other.case_id / "expected" / "expected.json"
        held = json.loads(path.read_text(encoding="utf-8"))
        known = {
            one["ghsa"] for one in (held["target"], *held.get("also", []), *held["advisories"])
        }
        packages = json.loads((other.input_path / "registry.json").read_text(encoding="utf-8"))[
            "packages"
        ]
        fresh = [one for one in facts if one["package"] in packages and one["ghsa"] not in known]
        if other.case_id == case_id or not fresh:
            continue
        held["advisories"] += [
            _brief(one["ghsa"], one["package"], one["vulnerable_range"]) for one in fresh
        ]
        held["advisories"].sort(key=lambda one: one["ghsa"])
        _json(path, held)
        touched.append(other.case_id)
    return touched


def _write_manifest(
    folder: Path, case_id: str, given: argparse.Namespace, facts: Mapping[str, Any], proposal: Any
) -> None:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    case = {
        "case_id": case_id,
        "task_class": "vuln-remediation",
        "disposition": proposal.disposition,
        "difficulty": given.difficulty or proposal.difficulty,
        "source": "curated",
        "added_at": today,
        "last_validated_at": today,
        "held_out": given.held_out,
        "tags": ["npm", proposal.fix_class, *given.tag],
        "timeout_seconds": 60,
        "cluster": given.cluster or facts["package"].replace("@", "").replace("/", "-"),
        **({"critical": True} if given.critical or proposal.disposition == "negative" else {}),
    }
    taken = ("cve", "ghsa", "package", "vulnerable_range", "ranges", "severity", "cwe")
    table = {
        **{key: facts[key] for key in taken},
        "ecosystem": "npm",
        "first_patched": facts["first_patched"],
        "fix_class": proposal.fix_class,
        "parent_chain": proposal.parent_chain,
        "observed": proposal.observed,
        "note": facts["note"] if given.note is None else given.note,
        "source": facts["source"],
    }
    text = tomli_w.dumps({"case": case, "facts": table}).replace(" 00:00:00+00:00", "T00:00:00Z")
    (folder / "case.toml").write_text(text, encoding="utf-8")


def _report(case_id: str, proposal: Any, touched: list[str]) -> None:
    said = [
        f"{case_id}: {proposal.fix_class}, {proposal.observed}",
        *(f"decide: {text}" for text in proposal.open),
    ]
    said.append(f"other cases told of the advisory: {', '.join(touched) or 'none'}")
    said.append(
        "then: pytest bench/vuln-remediation/tests, benchgate pin, and the tables of README.md"
    )
    sys.stdout.write("\n".join(said) + "\n")


def _brief(ghsa: str, package: str, affected: str) -> dict[str, str]:
    return {"ghsa": ghsa, "package": package, "vulnerable_range": affected}


def _json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _fail(text: str) -> int:
    sys.stderr.write(text + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
