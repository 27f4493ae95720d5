"""Shared by the tests: the cases as objects, and outputs to edit."""

from __future__ import annotations

import copy
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _benchgate_bench.vuln_remediation.observers.npm_test import npm_test
from _benchgate_bench.vuln_remediation.observers.runner import Unavailable
from _benchgate_bench.vuln_remediation.rubric import VulnRemediationRubric
from _benchgate_bench.vuln_remediation.systems.blind_override import BlindOverride
from _benchgate_bench.vuln_remediation.systems.careless import (
    CutOut,
    InstallLatest,
    OldestVersions,
    UpgradeAll,
)
from _benchgate_bench.vuln_remediation.systems.controls import ClaimsSuccess, DoNothing
from _benchgate_bench.vuln_remediation.systems.ladder import Ladder
from _benchgate_bench.vuln_remediation.systems.npm_audit_fix import NpmAuditFix
from _benchgate_bench.vuln_remediation.tools.npm import Npm
from _benchgate_bench.vuln_remediation.tools.record_observations import coded, right

from benchgate.testing import load_cases

if TYPE_CHECKING:
    from benchgate import BenchCase, BenchScore

CLASS = Path(__file__).resolve().parent.parent
LOADED = load_cases(CLASS)
CASES = list(LOADED)
CODED = [case.case_id for case in coded()]
"""The cases with code and tests."""

SYSTEMS: dict[str, Any] = {
    one.name: one
    for one in (BlindOverride(), ClaimsSuccess(), DoNothing(), Ladder(), NpmAuditFix())
}
CARELESS: dict[str, Any] = {
    one.name: one for one in (CutOut(), InstallLatest(), OldestVersions(), UpgradeAll())
}

LODASH = "001-cve-2021-23337-lodash"
ANSI = "003-cve-2021-3807-ansi-regex"
WS = "004-cve-2024-37890-ws"
AXIOS = "005-cve-2021-3749-axios"
IP = "007-cve-2024-29415-ip"
SEMVER = "008-cve-2022-25883-semver"
BRACES = "009-cve-2024-4068-braces"
COOKIE = "010-cve-2024-47764-cookie"
JWT = "011-cve-2022-23539-jsonwebtoken"
NO_FIX = "013-cve-2024-29415-ip-direct"
ALIAS = "022-cve-2021-23337-lodash-alias"
BACKPORT = "023-cve-2023-45857-axios-backport"
TWO = "024-cve-2024-55565-nanoid"
ROLLUP = "030-cve-2024-47068-rollup"
WORKSPACES = "031-cve-2025-7783-form-data"

GUARDS = {LODASH, COOKIE, NO_FIX, WORKSPACES}
"""A case of each kind: a fix in the direct dependency, an override, no fix at all, and a workspace."""


def few(cases: list[str]) -> list[Any]:
    """Return cases as parameters of a rule that holds for each: one of each kind before a change, the rest at night."""
    searched = [case for case in cases if case not in GUARDS]
    return [
        *(case for case in cases if case in GUARDS),
        *(pytest.param(case, marks=pytest.mark.nightly) for case in searched),
    ]


load = LOADED.__getitem__


def expected_folder(case_id: str) -> Path:
    folder = load(case_id).expected_path
    assert folder is not None
    return folder


def disposed(disposition: str) -> list[str]:
    """Return the cases of a disposition."""
    return [case_id for case_id in CASES if load(case_id).disposition == disposition]


def required_npm() -> Npm:
    """Return npm; skips the test where there is none, unless it is required."""
    npm = Npm.find()
    if npm is None and os.environ.get("BENCHGATE_REQUIRE_NPM") != "1":
        pytest.skip("npm is not installed")
    assert npm is not None, "BENCHGATE_REQUIRE_NPM=1, and there is no npm"
    return npm


class Output:
    """An output whose manifest and lock can be edited before it is scored; ``further`` are manifests of workspaces."""

    def __init__(
        self,
        manifest: dict[str, Any],
        lock: dict[str, Any],
        status: str = "fixed",
        further: dict[str, str] | None = None,
    ):
        self.manifest = manifest
        self.lock = lock
        self.status = status
        self.further = further or {}

    @property
    def packages(self) -> dict[str, Any]:
        packages: dict[str, Any] = self.lock["packages"]
        return packages

    @property
    def root(self) -> dict[str, Any]:
        root: dict[str, Any] = self.packages[""]
        return root

    def direct(self, name: str, spec: str | None, table: str = "dependencies") -> None:
        """Set a direct dependency in both files, or take it out of them."""
        for held in (self.manifest, self.root):
            held.setdefault(table, {})
            if spec is None:
                del held[table][name]
            else:
                held[table][name] = spec

    def take(self, case_id: str, path: str, package: str, version: str) -> None:
        """Put a version with its true metadata into a folder of the lock."""
        registry = json.loads((load(case_id).input_path / "registry.json").read_text())
        flags = {k: v for k, v in self.packages.get(path, {}).items() if k in ("dev", "optional")}
        known = registry["packages"][package]["versions"][version]
        self.packages[path] = {"version": version, **known, **flags}

    def files(self) -> dict[str, Any]:
        texts = {"package.json": self.manifest, "package-lock.json": self.lock}
        return {
            "files": {**self.further, **{name: json.dumps(held) for name, held in texts.items()}},
            "status": self.status,
        }


@cache
def _solved(case_id: str) -> dict[str, Any]:
    case = load(case_id)
    return right(case) if case_id in CODED else dict(SYSTEMS["ladder"](case))


def solved(case_id: str) -> Output:
    """Return the right answer to a case: the ladder's, or a person's where there is code."""
    made = _solved(case_id)
    further = dict(made["files"])
    manifest, lock = (
        json.loads(further.pop(name)) for name in ("package.json", "package-lock.json")
    )
    return Output(manifest, lock, made["status"], further)


def untouched(case_id: str, status: str = "fixed") -> Output:
    """Return the project of a case as it was given."""
    folder = load(case_id).input_path
    texts = ((folder / name).read_text() for name in ("package.json", "package-lock.json"))
    manifest, lock = (json.loads(text) for text in texts)
    return Output(copy.deepcopy(manifest), copy.deepcopy(lock), status)


def score(case_id: str, output: Output | dict[str, Any]) -> BenchScore:
    given = output.files() if isinstance(output, Output) else output
    return score_of(load(case_id), given)


def score_of(case: BenchCase, output: dict[str, Any]) -> BenchScore:
    """Score an output; of one that nobody tested the tests are taken to pass, as what is asked here is of its files."""
    try:
        seen = npm_test.seen(case, output)
    except Unavailable:
        seen = case.model_copy(update={"observation": {"passed": True}})
    return VulnRemediationRubric().score(seen, output)


def score_made(
    folder: Path,
    before: Output,
    output: Output | dict[str, Any],
    told: dict[str, Any],
    **changed: Any,
) -> BenchScore:
    """Score an output of a project made for a test, by ``registry`` and ``expected``, which ``told`` has."""
    texts = before.files()["files"]
    texts["registry.json"] = json.dumps({"packages": told["registry"]})
    texts["expected.json"] = json.dumps(told["expected"])
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    places = {"input_path": folder, "expected_path": folder, **changed}
    given = output.files() if isinstance(output, Output) else output
    return VulnRemediationRubric().score(load(LODASH).model_copy(update=places), given)
