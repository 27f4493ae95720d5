"""Records what ``npm audit fix`` does to each case, and compares recordings."""

from __future__ import annotations

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from _benchgate_bench.vuln_remediation.expected import read_expected
from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST
from _benchgate_bench.vuln_remediation.systems.npm_audit_fix import INPUTS, SCHEMA_VERSION, SYSTEM

from .npm import FLAGS, Npm, NpmRun
from .registry import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_Made = TypeVar("_Made")

CLASS: Final = Path(__file__).resolve().parent.parent
ADVISORIES: Final = Path(__file__).with_name("advisories.json")
COMMAND: Final = ("audit", "fix")
PLACES: Final = ("--cache=<an empty folder>", "--registry=<tools/loopback_registry.py>")
WORKERS: Final = 2
REFUSALS: Final = ("ERESOLVE", "EOVERRIDE")
"""Errors by which npm says that it cannot resolve a project; it leaves the files as they were."""


def every_case() -> list[str]:
    """Return the ids of the cases."""
    return sorted(path.name for path in (CLASS / "cases").iterdir())


def frozen_advisories() -> dict[str, list[dict[str, Any]]]:
    """Return the frozen advisories in the form of npm's bulk endpoint."""
    found: dict[str, list[dict[str, Any]]] = json.loads(ADVISORIES.read_bytes())
    return found


def frozen_packages(case_id: str) -> dict[str, Any]:
    """Return the frozen metadata of a case."""
    path = CLASS / "cases" / case_id / "input" / "registry.json"
    found: dict[str, Any] = json.loads(path.read_bytes())["packages"]
    return found


def known_advisories(case_id: str) -> dict[str, list[dict[str, Any]]]:
    """Return the advisories that a case knows, in the form of npm's bulk endpoint; later ones do not change it."""
    expected = read_expected(CLASS / "cases" / case_id / "expected")
    ids = {one.ghsa for one in (*expected.targets, *expected.no_fix, *expected.advisories)}
    found = {
        name: [one for one in listed if one["url"].rpartition("/")[2] in ids]
        for name, listed in frozen_advisories().items()
    }
    return {name: listed for name, listed in found.items() if listed}


def project_files(folder: Path) -> dict[str, str]:
    """Return the files of a case's project: manifest, lock, and the manifests of its workspaces."""
    paths = [path for path in (folder / LOCK, *sorted(folder.rglob(MANIFEST))) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def forced(npm: Npm, case_ids: Iterable[str]) -> dict[str, NpmRun]:
    """Return case id to what ``npm audit fix --force`` does; nothing of it is kept."""

    def run(case_id: str, url: str) -> NpmRun:
        return npm.run(
            (*COMMAND, "--force"), project_files(CLASS / "cases" / case_id / "input"), url
        )

    return _on_each(case_ids, run)


def _on_each(case_ids: Iterable[str], make: Callable[[str, str], _Made]) -> dict[str, _Made]:
    """Return case id to what is made of a case and the address of its registry."""
    ids = list(case_ids)
    with serve() as address, ThreadPoolExecutor(WORKERS) as pool:
        made = pool.map(lambda case_id: make(case_id, f"{address}/{case_id}/"), ids)
        return dict(zip(ids, made, strict=True))


def record(npm: Npm, case_ids: Iterable[str]) -> dict[str, bytes]:
    """Return case id to the cassette that npm gives for it now."""
    return _on_each(case_ids, lambda case_id, url: _record(npm, case_id, url))


def _record(npm: Npm, case_id: str, url: str) -> bytes:
    folder = CLASS / "cases" / case_id / "input"
    inputs = {name: (folder / name).read_bytes() for name in INPUTS}
    run = npm.run(COMMAND, project_files(folder), url)
    refused = any(f"npm error code {code}" in run.stderr for code in REFUSALS)
    if run.exit_code not in (0, 1) or ("npm error" in run.stderr and not refused):
        msg = f"{case_id}: npm ended with {run.exit_code}: {run.stderr.strip()}"
        raise RuntimeError(msg)
    cassette = {
        "schema_version": SCHEMA_VERSION,
        "tool": "npm",
        "version": npm.version,
        "node": npm.node,
        "arguments": [*COMMAND, *FLAGS, *PLACES],
        "exit_code": run.exit_code,
        "inputs": {
            **{name: _sha256(body) for name, body in inputs.items()},
            ADVISORIES.name: advisories_digest(case_id),
        },
        "files": dict(run.files),
    }
    return (json.dumps(cassette, indent=2, ensure_ascii=False) + "\n").encode()


def advisories_digest(case_id: str) -> str:
    """Return the digest of the advisories that a case knows."""
    return _sha256(json.dumps(known_advisories(case_id), sort_keys=True).encode())


def store(case_id: str, cassette: bytes) -> None:
    """Write a cassette into its case, and its digest into the ``case.toml``."""
    folder = CLASS / "cases" / case_id
    path = folder / "cassettes" / f"{SYSTEM}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(cassette)
    manifest = folder / "case.toml"
    text = without_cassette(manifest.read_text(encoding="utf-8"))
    place = path.relative_to(folder).as_posix()
    text += f'\n[cassettes.{SYSTEM}]\npath = "{place}"\nsha256 = "{_sha256(cassette)}"\n'
    manifest.write_text(text, encoding="utf-8")


def without_cassette(text: str) -> str:
    """Return the text of a ``case.toml`` without its table about this system, which is the last."""
    return re.sub(rf"\n\[cassettes\.{SYSTEM}\]\n[^\[]*\Z", "", text)


def differences(recorded: bytes, made: bytes) -> list[str]:
    """
    Return the fields in which a new recording differs from a cassette; the tool's version is not one.

    With the tool that made the cassette, all bytes must be equal. Another version of npm may lay out its files
    differently, so that they are compared as JSON.
    """
    old, new = json.loads(recorded), json.loads(made)
    if _tool(old) == _tool(new):
        return [] if recorded == made else _unlike(old, new) or ["layout"]
    return _unlike(_comparable(old), _comparable(new))


def _tool(cassette: Mapping[str, Any]) -> tuple[str, ...]:
    return cassette["tool"], cassette["version"], cassette["node"]


def _comparable(cassette: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: cassette[key] for key in cassette if key not in ("version", "node", "files")}
    return {**kept, **{name: json.loads(text) for name, text in cassette["files"].items()}}


def _unlike(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
