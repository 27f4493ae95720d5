"""The real tool: replays what ``npm audit fix`` did to each case, recorded once in a cassette."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST

from .sources import sources_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase

SYSTEM: Final = "npm-audit-fix"
RECORDED: Final = ("npm", "11.17.0", "24.19.0")
"""Tool, its version and that of Node.js that every cassette was recorded with."""
SCHEMA_VERSION: Final = 1
INPUTS: Final = (MANIFEST, LOCK, "registry.json")
"""The files of a case that the recorded result depends on."""


_FIELDS: Final = frozenset({"schema_version", "exit_code", "files", "inputs"})


class CassetteError(ValueError):
    """A case has no usable recording: it is missing, was changed since, or was made from other inputs."""

    def __init__(self, case_id: str, reason: str) -> None:
        self.case_id = case_id
        self.reason = reason
        super().__init__(f"case {case_id}: {reason}; see tools/record_npm.py")


class NpmAuditFix:
    """Replays the files that npm wrote."""

    name: Final = SYSTEM

    def digest(self) -> str:
        """Return the SHA-256 over this module, which names the recorded versions; cassettes have their own."""
        return sources_digest(Path(__file__).name)

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """
        Return the recorded files; npm's exit code is all it says about success.

        :raises CassetteError: there is no cassette, or not the one that the case names and was made from.
        """
        cassette = _read(case)
        status = "fixed" if cassette["exit_code"] == 0 else "vulnerable"
        return {"files": cassette["files"], "status": status}


def _read(case: BenchCase) -> dict[str, Any]:
    named = case.cassettes.get(SYSTEM)
    if named is None:
        raise CassetteError(case.case_id, f"no [cassettes.{SYSTEM}] in case.toml")
    try:
        body = named.path.read_bytes()
    except OSError as error:
        raise CassetteError(case.case_id, f"cassette cannot be read: {error.strerror}") from error
    found = hashlib.sha256(body).hexdigest()
    if found != named.sha256:
        reason = f"cassette has sha256 {found}, case.toml says {named.sha256}"
        raise CassetteError(case.case_id, reason)
    try:
        cassette = json.loads(body)
    except ValueError as error:
        raise CassetteError(case.case_id, f"cassette is no JSON: {error}") from error
    if not isinstance(cassette, dict) or not cassette.keys() >= _FIELDS:
        raise CassetteError(case.case_id, f"cassette lacks one of {sorted(_FIELDS)}")
    _check(case, cassette)
    return cassette


def _check(case: BenchCase, cassette: Mapping[str, Any]) -> None:
    made_with = tuple(cassette.get(key) for key in ("tool", "version", "node"))
    if cassette.get("schema_version") != SCHEMA_VERSION or made_with != RECORDED:
        reason = f"cassette of schema {cassette.get('schema_version')} by {made_with}"
        raise CassetteError(case.case_id, f"{reason}, expected {SCHEMA_VERSION} by {RECORDED}")
    for name in INPUTS:
        found = hashlib.sha256((case.input_path / name).read_bytes()).hexdigest()
        if found != cassette["inputs"].get(name):
            raise CassetteError(case.case_id, f"{name} is not the one that was recorded with")
