"""
A project whose packages can be installed: packed here, with own scripts and programs, none from a registry.

The cases have metadata only. What npm runs and puts on the path shows when it installs, so that the hunt needs packages
that exist. The advisory is on ``leaf`` 1.0.0; 1.0.1 is not affected.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.expected import Advisory, Expected
from _benchgate_bench.vuln_remediation.flags import flagged
from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST

from .freeze import frozen_entry, render

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME: Final = "small-world"
_MARK: Final = "node -e \"require('fs').appendFileSync(process.env.INIT_CWD+'/ran','{}\\n')\""

_MANIFESTS: Final[tuple[Mapping[str, Any], ...]] = (
    {"name": "leaf", "version": "1.0.0"},
    {"name": "leaf", "version": "1.0.1", "license": "MIT"},
    {"name": "leaf", "version": "2.0.0"},
    {"name": "middle", "version": "1.0.0", "dependencies": {"leaf": "^1.0.0"}},
    {"name": "middle", "version": "1.1.0", "dependencies": {"leaf": "^1.0.1"}},
    {
        "name": "builder",
        "version": "1.0.0",
        "scripts": {"postinstall": _MARK.format("builder")},
        "optionalDependencies": {"native-here": "1.0.0", "native-there": "1.0.0"},
    },
    {"name": "native-here", "version": "1.0.0", "os": ["linux", "darwin"], "libc": ["glibc"]},
    {"name": "native-there", "version": "1.0.0", "os": ["win32"], "cpu": ["x64"]},
    {
        "name": "@scope/tool",
        "version": "1.0.0",
        "bin": {"tool": "cli.js"},
        "engines": {"node": ">=10"},
        "peerDependencies": {"middle": "^1.0.0", "absent": "*"},
        "peerDependenciesMeta": {"absent": {"optional": True}},
    },
    {"name": "sentinel", "version": "1.0.0"},
    {"name": "sentinel", "version": "1.0.1"},
)

_PROJECT: Final = MappingProxyType(
    {
        "name": NAME,
        "version": "1.0.0",
        "private": True,
        "dependencies": {"builder": "^1.0.0", "middle": "~1.0.0", "sentinel": "1.0.0"},
        "devDependencies": {"@scope/tool": "^1.0.0"},
    }
)
_LOCKED: Final = (
    ("@scope/tool", "1.0.0"),
    ("builder", "1.0.0"),
    ("leaf", "1.0.1"),
    ("middle", "1.0.0"),
    ("native-here", "1.0.0"),
    ("native-there", "1.0.0"),
    ("sentinel", "1.0.0"),
)


@dataclass(frozen=True)
class SmallCase:
    """What the rubric reads of a case."""

    case_id: str
    input_path: Path
    expected_path: Path
    disposition: str = "positive"


@cache
def tarballs() -> Mapping[str, bytes]:
    """Return every package by ``name/-/version.tgz``."""
    return {f"{one['name']}/-/{one['version']}.tgz": _packed(one) for one in _MANIFESTS}


@cache
def packages() -> dict[str, Any]:
    """Return the packages in the form of a case's ``registry.json``."""
    found: dict[str, Any] = {}
    for one in _MANIFESTS:
        body = tarballs()[f"{one['name']}/-/{one['version']}.tgz"]
        digest = base64.b64encode(hashlib.sha512(body).digest()).decode()
        entry = frozen_entry(one["name"], {**one, "dist": {"integrity": f"sha512-{digest}"}})
        held = found.setdefault(one["name"], {"latest": one["version"], "versions": {}})
        held["versions"][one["version"]] = entry
        held["latest"] = one["version"]
    return found


def answer() -> dict[str, Any]:
    """Return the right answer: the project with ``leaf`` refreshed, as manifest and lock."""
    entries: dict[str, Any] = {
        f"node_modules/{name}": {"version": version, **packages()[name]["versions"][version]}
        for name, version in _LOCKED
    }
    return {MANIFEST: json.loads(json.dumps(dict(_PROJECT))), LOCK: _lock(entries)}


def write_case(folder: Path) -> SmallCase:
    """Write the case into a folder, for the rubric to read."""
    (folder / "input").mkdir(parents=True)
    (folder / "expected").mkdir()
    given = answer()
    leaf = given[LOCK]["packages"]["node_modules/leaf"]
    leaf.clear()
    leaf.update({"version": "1.0.0", **packages()["leaf"]["versions"]["1.0.0"]})
    for name in (MANIFEST, LOCK):
        (folder / "input" / name).write_text(json.dumps(given[name]), encoding="utf-8")
    (folder / "input" / "registry.json").write_text(render(packages()), encoding="utf-8")
    expected = Expected(
        schema_version=1,
        target=Advisory(ghsa="GHSA-aaaa-aaaa-aaaa", package="leaf", vulnerable_range="<1.0.1"),
        fix_classes={"lock-refresh": 1.0},
        may_change=frozenset({"leaf"}),
        spec_edits_allowed=frozenset(),
        majors_allowed=frozenset(),
        overrides_allowed=frozenset(),
        range_breaks_allowed=frozenset(),
        sentinels={"sentinel": "1.0.0"},
        advisories=(),
    )
    text = expected.model_dump_json(exclude={"also"})
    (folder / "expected" / "expected.json").write_text(text, encoding="utf-8")
    return SmallCase(NAME, folder / "input", folder / "expected")


def _lock(entries: Mapping[str, Any]) -> dict[str, Any]:
    root = {key: value for key, value in _PROJECT.items() if key != "private"}
    return json.loads(  # type: ignore[no-any-return]  # a copy that may be changed
        json.dumps(
            {
                "name": NAME,
                "version": "1.0.0",
                "lockfileVersion": 3,
                "requires": True,
                "packages": flagged({"": root, **entries}),
            }
        )
    )


def _packed(manifest: Mapping[str, Any]) -> bytes:
    name = f"{manifest['name']} {manifest['version']}"
    files = {
        "package.json": json.dumps(manifest),
        "index.js": f"module.exports = {json.dumps(name)}\n",
        "cli.js": f"#!/usr/bin/env node\nconsole.log({json.dumps(name)})\n",
    }
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for path, text in files.items():
            body = text.encode()
            member = tarfile.TarInfo(f"package/{path}")
            member.size, member.mode = len(body), 0o755
            archive.addfile(member, io.BytesIO(body))
    return gzip.compress(held.getvalue(), mtime=0)
