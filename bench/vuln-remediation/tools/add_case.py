r"""
Write a new case: from advisory records, a project and registry metadata.

    python bench/vuln-remediation/tools/add_case.py NUMBER-NAME --record R.json [--record ...] --project DIR \
        --metadata M.json.xz [--answer DIR] [--no-fix GHSA ...] [--package NAME ...] [--cluster NAME]
        [--held-out] [--critical] [--tag TAG ...] [--note TEXT] [--tests DIR] [--leaving NAME] [--joining NAME]

Records are as OSV or GitHub publish them (``records.py``), the first is the case's own. DIR has a manifest and its
lock, made with ``--omit-lockfile-registry-resolved``, and the manifests of its workspaces. The metadata maps names to
documents of a registry, or is the ``registry.json`` of another case. ``--answer`` is a right answer, where ``ladder``
has none: manifests, and the lock; if it is not there, npm makes it by an install and an ``audit fix``.

A project may have code, with tests of ``node:test`` in ``test/`` that ``npm test`` runs: all but the tests may be
edited then, ``--answer`` has what a person edits, and DIR of ``--tests`` further tests that no system sees. The answer
is kept in ``tests/answers/``. ``--leaving`` is a dependency that no version helps, ``--joining`` one in its place.

What it writes: the case, with fix class and bounds proposed from the right answer and from what npm does; the
cassette, by the recorded versions of npm and Node.js only; the record, and its entry in ``advisories.json``. Other
cases do not change: each knows the advisories of its day. Then it scores the answers that are known, and takes the case
back if the right one does not pass or is said to do harm, or if the metadata lacks what a locked version needs: every
version that a case offers can be resolved with what else it offers. It prints which of the careless systems pass, and
whether ``npm audit fix --force`` does: such a case is marked easy, whatever was said. It ends with what a person has to
decide about this case.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import tomli_w

from benchgate.loader.imports import bench_package
from benchgate.testing import load_cases

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

CLASS: Final = Path(__file__).resolve().parent.parent
RECORDS: Final = Path(__file__).with_name("records")
FORCED: Final = "npm audit fix --force"
"""The one command that a case has to be more than: what it solves is easy."""


def main() -> int:
    """Write a case and print what is left to decide."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    about = "such as 024-nanoid; the CVE is put in between"
    options.add_argument("case", metavar="NUMBER-NAME", help=about)
    options.add_argument("--record", type=Path, action="append", required=True)
    options.add_argument("--project", type=Path, required=True)
    options.add_argument("--metadata", type=Path, required=True)
    options.add_argument("--answer", type=Path, help="folder of a right answer")
    options.add_argument(
        "--no-fix", action="append", default=[], help="an advisory that nothing helps against"
    )
    options.add_argument(
        "--package", action="append", help="which package, if a record names several"
    )
    options.add_argument("--cluster", help="default the package")
    options.add_argument("--held-out", action="store_true")
    options.add_argument("--critical", action="store_true")
    options.add_argument("--tag", action="append", default=[])
    options.add_argument("--note", help="instead of the record's")
    options.add_argument("--tests", type=Path, help="folder of tests that no system sees")
    options.add_argument("--leaving", action="append", default=[], help="a dependency that may go")
    options.add_argument("--joining", action="append", default=[], help="one that may come for it")
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
    try:
        records = [read_record(path) for path in given.record]
        facts = [facts_of(record, given.package) for record in records]
    except RecordError as error:
        return _fail(str(error))
    number, _, name = given.case.partition("-")
    case_id = f"{number}-{(facts[0]['cve'] or facts[0]['ghsa']).lower()}-{name}"
    folder, kept = CLASS / "cases" / case_id, cassettes.ADVISORIES.read_bytes()
    if folder.exists():
        return _fail(f"{folder} exists")
    try:
        _write_input(folder / "input", given, facts)
        advisories = _append(records, facts)
        proposal, answer = _proposal(folder / "input", npm, given, facts, advisories)
        _write_expected(folder, proposal.expected, given, facts, advisories)
        _write_code(folder, given, answer)
        proposal = _said_otherwise(proposal, given)
        _write_manifest(folder, case_id, given, facts[0], proposal)
        _check_answers(case_id, proposal.disposition, answer)
        careless = _careless(case_id, npm)
        if FORCED in careless:
            proposal = replace(proposal, difficulty="easy")
            _write_manifest(folder, case_id, given, facts[0], proposal)
        cassettes.store(case_id, cassettes.record(npm, [case_id])[case_id])
    except BaseException as error:
        for made in (folder, CLASS / "tests" / "answers" / case_id):
            shutil.rmtree(made, ignore_errors=True)
        cassettes.ADVISORIES.write_bytes(kept)
        if isinstance(error, RecordError):
            return _fail(f"{case_id} was taken back: {error}")
        raise
    said = [
        f"{case_id}: {proposal.difficulty}, {proposal.fix_class}, {proposal.observed}",
        f"passed without care by: {', '.join(careless) or 'nobody'}",
        *(f"decide: {text}" for text in proposal.open),
        "then: pytest bench/vuln-remediation/tests, benchgate pin, python bench/tables.py --write vuln-remediation",
    ]
    sys.stdout.write("\n".join(said) + "\n")
    return 0


def _said_otherwise(proposal: Any, given: argparse.Namespace) -> Any:
    """Return a proposal with what the options say in its place."""
    if given.difficulty:
        proposal = replace(proposal, difficulty=given.difficulty)
    if given.leaving:
        said = f"{', '.join(given.leaving)} replaced by {', '.join(given.joining) or 'code'}"
        proposal = replace(proposal, fix_class="direct-replaced", observed=said)
    return proposal


def _check_answers(case_id: str, disposition: str, answer: Mapping[str, Any]) -> None:
    """Raise if the rubric has something against the right answer, or takes the project as it was given for one."""
    from _benchgate_bench.vuln_remediation.observers.npm_test import npm_test
    from _benchgate_bench.vuln_remediation.rubric import VulnRemediationRubric

    case, rubric = load_cases(CLASS)[case_id], VulnRemediationRubric()
    right = rubric.score(npm_test.seen(case, answer), answer)
    if not right.passed or right.safety_penalty:
        _stop(
            f"its right answer scores {right.score:.2f} with a penalty of {right.safety_penalty}: {right.explanation} "
            f"{dict(right.evidence)} {right.failure_modes}"
        )
    names = ("package.json", "package-lock.json")
    given = {name: (case.input_path / name).read_text(encoding="utf-8") for name in names}
    idle = rubric.score(npm_test.seen(case, {"files": given}), {"files": given})
    if idle.passed is (disposition == "positive") or idle.safety_penalty:
        _stop(f"the project as it was given scores {idle.score:.2f}: {idle.failure_modes}")


def _careless(case_id: str, npm: Any) -> list[str]:
    """Return who passes a case without care: systems that follow one habit, and npm that is told to force a fix."""
    from _benchgate_bench.vuln_remediation.observers.npm_test import npm_test
    from _benchgate_bench.vuln_remediation.rubric import VulnRemediationRubric
    from _benchgate_bench.vuln_remediation.systems import blind_override, careless
    from _benchgate_bench.vuln_remediation.tools import cassettes

    case, rubric = load_cases(CLASS)[case_id], VulnRemediationRubric()
    systems: tuple[Any, ...] = (
        blind_override.BlindOverride(),
        careless.CutOut(),
        careless.InstallLatest(),
        careless.OldestVersions(),
        careless.UpgradeAll(),
    )
    answers = {one.name: one(case) for one in systems}
    answers[FORCED] = {"files": cassettes.forced(npm, [case_id])[case_id].files}
    return [
        name
        for name, answer in answers.items()
        if rubric.score(npm_test.seen(case, answer), answer).passed
    ]


def _write_input(folder: Path, given: argparse.Namespace, facts: list[dict[str, Any]]) -> None:
    from _benchgate_bench.vuln_remediation.explain import listed
    from _benchgate_bench.vuln_remediation.lockfile import package_name
    from _benchgate_bench.vuln_remediation.systems.npmjson import lock_text, manifest_text
    from _benchgate_bench.vuln_remediation.tools.freeze import render, unresolved

    folder.mkdir(parents=True)
    for path in sorted(given.project.rglob("*" if given.tests else "package*.json")):
        target = folder / path.relative_to(given.project)
        if path.is_dir():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if re.fullmatch(r"package(-lock)?\.json", path.name):
            held = json.loads(path.read_text(encoding="utf-8"))
            target.write_text(manifest_text(held), encoding="utf-8")
        else:
            target.write_bytes(path.read_bytes())
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    frozen = frozen_for(lock, facts, read_metadata(given.metadata), given.joining)
    lacking = [f"{name} {version} needs {asked}" for name, version, asked in unresolved(frozen)]
    if lacking:
        _stop(f"the metadata has no version for what is locked: {listed(lacking)}")
    (folder / "registry.json").write_text(render(frozen), encoding="utf-8")
    for path, entry in lock["packages"].items():
        known = frozen.get(package_name(path, entry), {"versions": {}})["versions"]
        if known.get(entry.get("version"), {}).get("hasInstallScript"):
            entry["hasInstallScript"] = True
    (folder / "package-lock.json").write_text(lock_text(lock), encoding="utf-8")
    shown = ("cve", "ghsa", "package", "vulnerable_range", "ranges", "severity", "first_patched")
    public = [{key: one[key] for key in shown} for one in facts]
    _json(folder / "advisory.json", {**public[0], **({"also": public[1:]} if public[1:] else {})})


def frozen_for(
    lock: Mapping[str, Any],
    facts: list[dict[str, Any]],
    metadata: Mapping[str, Any],
    joining: Collection[str] = (),
) -> dict[str, Any]:
    """Return what of some metadata a case on these advisories needs, with packages that may join the project."""
    from _benchgate_bench.vuln_remediation.tools.freeze import freeze

    gone: dict[str, list[str]] = {}
    for one in facts:
        gone.setdefault(one["package"], []).append(one["vulnerable_range"])
    return freeze(metadata, lock, {*gone, *joining, *_near(lock, facts)}, gone)


def _near(lock: Mapping[str, Any], facts: list[dict[str, Any]]) -> set[str]:
    """Return the packages that are vulnerable in a lock, and all that lead to them."""
    from _benchgate_bench.vuln_remediation.lockfile import FOLDER, edges, package_name, vulnerable

    packages = lock["packages"]
    reached = {
        path
        for one in facts
        for path in vulnerable(packages, one["package"], one["vulnerable_range"])
    }
    found, askers = set(reached), [(edge.source, to) for edge, to in edges(packages)]
    while reached:
        reached = {source for source, to in askers if to in reached} - found
        found |= reached
    return {package_name(path, packages[path]) for path in found if FOLDER in path}


def read_metadata(path: Path) -> dict[str, Any]:
    """Return documents of a registry by name."""
    body = path.read_bytes()
    held = json.loads(lzma.decompress(body) if path.suffix == ".xz" else body)
    if "schema_version" in held:
        for one in held["packages"].values():
            one["dist-tags"] = {key: one[key] for key in ("latest",) if key in one}
            for entry in one["versions"].values():
                entry["dist"] = {"integrity": entry.get("integrity")}
        return dict(held["packages"])
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
            number = 1 + max((entry["id"] for entry in chain(*held.values())), default=0)
            held.setdefault(one["package"], []).append(bulk_entry(record, one, number))
    _json(ADVISORIES, held)
    return held


def _proposal(
    folder: Path,
    npm: Any,
    given: argparse.Namespace,
    facts: list[dict[str, Any]],
    advisories: Mapping[str, Any],
) -> tuple[Any, Mapping[str, Any]]:
    """Return the proposal and the right answer that it rests on."""
    from _benchgate_bench.vuln_remediation.metadata import Registry
    from _benchgate_bench.vuln_remediation.project import LOCK, read_input, read_output
    from _benchgate_bench.vuln_remediation.systems.ladder import Ladder
    from _benchgate_bench.vuln_remediation.tools.cassettes import COMMAND, project_files
    from _benchgate_bench.vuln_remediation.tools.loopback_registry import LoopbackRegistry
    from _benchgate_bench.vuln_remediation.tools.propose import propose

    registry, before = Registry.load(folder / "registry.json"), read_input(folder)
    with LoopbackRegistry({"new": registry.packages}, {"new": advisories}) as served:
        by_npm = npm.run(COMMAND, project_files(folder), served.url("new"))
        if given.answer is None:
            answer = Ladder()(SimpleNamespace(input_path=folder))  # type: ignore[arg-type]  # all that it reads of a case
        else:
            files = {**project_files(folder), **_texts(given.answer)}
            if not (given.answer / LOCK).is_file():
                for command in (("install", "--no-audit"), COMMAND):
                    run = npm.run(command, files, served.url("new"))
                    if run.exit_code not in (0, 1) or "npm error" in run.stderr:
                        _stop(f"npm cannot lock the answer: {run.stderr.strip()[-800:]}")
                    files |= run.files
            answer = {"files": files, "status": "fixed"}
    made = (read_output(answer, before), answer["status"])
    npm_made = read_output({"files": by_npm.files}, before)
    fixable = [one for one in facts if one["ghsa"] not in given.no_fix]
    return propose(before, made, npm_made, fixable, registry), answer


def _texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _stop(said: str) -> None:
    from _benchgate_bench.vuln_remediation.tools.records import RecordError

    raise RecordError(said)


def _write_expected(
    folder: Path,
    proposed: dict[str, Any],
    given: argparse.Namespace,
    facts: list[dict[str, Any]],
    advisories: Mapping[str, Any],
) -> None:
    registry = json.loads((folder / "input" / "registry.json").read_bytes())["packages"]
    named = [_brief(one["ghsa"], one["package"], one["vulnerable_range"]) for one in facts]
    targets = [one for one in named if one["ghsa"] not in given.no_fix]
    hopeless = [one for one in named if one["ghsa"] in given.no_fix]
    known = [
        _brief(entry["url"].rpartition("/")[2], package, entry["vulnerable_versions"])
        for package, entries in advisories.items() if package in registry
        for entry in entries
    ]  # fmt: skip
    others = [one for one in known if one not in named]
    (folder / "expected").mkdir()
    expected = {
        "schema_version": 1,
        "target": targets[0],
        **({"also": targets[1:]} if targets[1:] else {}),
        **({"no_fix": hopeless} if hopeless else {}),
        "advisories_of": datetime.now(UTC).strftime("%Y-%m-%d"),
        **proposed,
        "advisories": sorted(others, key=lambda one: one["ghsa"]),
    }
    _json(folder / "expected" / "expected.json", expected)


def _write_code(folder: Path, given: argparse.Namespace, answer: Mapping[str, Any]) -> None:
    """Write the tests that no system sees and the right answer, and allow to edit all code but the tests."""
    from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST

    if not given.tests:
        return
    own = [path.relative_to(given.project) for path in given.project.rglob("*") if path.is_file()]
    code = [one.as_posix() for one in own if one.parts[0] not in ("test", MANIFEST, LOCK)]
    shutil.copytree(given.tests, folder / "expected" / "tests")
    for name, text in answer["files"].items():
        target = CLASS / "tests" / "answers" / folder.name / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    path = folder / "expected" / "expected.json"
    held = json.loads(path.read_bytes())
    kind = {"fix_classes": {"direct-replaced": 1.0}} if given.leaving else {}
    lists = {"leaving_allowed": given.leaving, "joining_allowed": given.joining}
    _json(
        path,
        {
            **held,
            **kind,
            **{key: one for key, one in lists.items() if one},
            "code_allowed": sorted(code),
        },
    )


def _write_manifest(
    folder: Path, case_id: str, given: argparse.Namespace, facts: Mapping[str, Any], proposal: Any
) -> None:
    severe = facts["severity"] == "CRITICAL" or proposal.disposition == "negative"
    critical = given.critical or severe
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    case = {
        "case_id": case_id,
        "task_class": "vuln-remediation",
        "disposition": proposal.disposition,
        "difficulty": proposal.difficulty,
        "source": "curated",
        "added_at": today,
        "last_validated_at": today,
        "held_out": given.held_out,
        "tags": ["npm", proposal.fix_class, *given.tag],
        "timeout_seconds": 60,
        "cluster": given.cluster or facts["package"].replace("@", "").replace("/", "-"),
        **({"critical": True} if critical else {}),
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


def _brief(ghsa: str, package: str, affected: str) -> dict[str, str]:
    return {"ghsa": ghsa, "package": package, "vulnerable_range": affected}


def _json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _fail(text: str) -> int:
    sys.stderr.write(text + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
