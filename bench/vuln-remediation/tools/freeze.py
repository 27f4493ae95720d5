"""Writes package metadata into the ``registry.json`` of a case: only what resolution and lock entries need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.lockfile import has_address, split_alias
from _benchgate_bench.vuln_remediation.semver import is_prerelease, satisfies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

KEPT: Final = (
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "engines",
    "os",
    "cpu",
    "libc",
    "hasInstallScript",
)
_AT_INSTALL: Final = ("preinstall", "install", "postinstall")
_RESOLVED: Final = ("dependencies", "optionalDependencies", "peerDependencies")


def frozen_entry(name: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what npm writes into a lock for a manifest, without version and placement flags."""
    entry = {key: manifest[key] for key in KEPT if manifest.get(key)}
    for table in _RESOLVED:
        if not isinstance(entry.get(table, {}), dict):
            del entry[table]
    # Registries list an optional dependency in both tables; a lock only among the optional ones.
    required = {
        dep: spec
        for dep, spec in entry.get("dependencies", {}).items()
        if dep not in entry.get("optionalDependencies", {})
    }
    if required:
        entry["dependencies"] = required
    else:
        entry.pop("dependencies", None)
    scripts = manifest.get("scripts")
    if isinstance(scripts, dict) and any(scripts.get(name) for name in _AT_INSTALL):
        entry["hasInstallScript"] = True
    if licence := _licence(manifest.get("license")):
        entry["license"] = licence
    if binaries := _binaries(name, manifest.get("bin")):
        entry["bin"] = binaries
    integrity = manifest.get("dist", {}).get("integrity")
    if integrity:
        entry["integrity"] = integrity
    return entry


def _licence(written: Any) -> Any:
    return written.get("type", written) if isinstance(written, dict) else written


def _binaries(name: str, written: Any) -> dict[str, str]:
    if isinstance(written, str):
        written = {name.rpartition("/")[2]: written}
    if not isinstance(written, dict):
        return {}
    return {key: path.removeprefix("./") for key, path in written.items()}


def asked_for(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield package and range of every dependency that a manifest can bring in."""
    meta = manifest.get("peerDependenciesMeta") or {}
    for table in _RESOLVED:
        specs = manifest.get(table) or {}
        for name, spec in specs.items() if isinstance(specs, dict) else ():
            if not (table == "peerDependencies" and (meta.get(name) or {}).get("optional")):
                yield split_alias(name, spec)


def closure(metadata: Mapping[str, Any], start: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Return every package reachable through all stored versions, with the ranges that name it."""
    ranges: dict[str, set[str]] = {}
    waiting = list(start)
    while waiting:
        name, spec = waiting.pop()
        if name not in metadata:
            continue
        fresh = name not in ranges
        ranges.setdefault(name, set()).add(spec)
        if fresh:
            for manifest in metadata[name]["versions"].values():
                waiting.extend(asked_for(manifest))
    return ranges


def install_scripts() -> dict[str, str]:
    """Return the packages that are known to run a script at install, with the versions that do."""
    path = Path(__file__).with_name("install_scripts.json")
    known: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["packages"]
    return known


def freeze(
    metadata: Mapping[str, Any],
    manifest: Mapping[str, Any],
    lock: Mapping[str, Any],
    *packages: str,
) -> dict[str, Any]:
    """
    Return the packages that resolving a project can need: stable versions, prereleases if a range names them.

    :param packages: those of the advisories; included with all versions, even if the project does not depend on them.
    """
    direct = {**manifest.get("dependencies", {}), **manifest.get("devDependencies", {})}
    start = [split_alias(name, spec) for name, spec in direct.items()]
    locked = [
        (entry.get("name") or path.rpartition("node_modules/")[2], entry["version"])
        for path, entry in lock["packages"].items()
        if "node_modules/" in path and not entry.get("link")
    ]
    ranges = closure(metadata, [*start, *locked, *((name, "*") for name in packages)])
    scripted = install_scripts()
    frozen: dict[str, Any] = {}
    for name in sorted(ranges):
        source = metadata[name]
        kept = {
            version: frozen_entry(name, found)
            for version, found in source["versions"].items()
            if not any(has_address(spec) for _, spec in asked_for(found))
            and (
                not is_prerelease(version)
                or name in packages
                or any(satisfies(version, r) for r in ranges[name])
            )
        }
        for version, entry in kept.items():
            if satisfies(version, scripted.get(name, "<0.0.0")):
                entry["hasInstallScript"] = True
        latest = source.get("dist-tags", {}).get("latest")
        frozen[name] = (
            {"latest": latest, "versions": kept} if latest in kept else {"versions": kept}
        )
    return frozen


def render(packages: Mapping[str, Any]) -> str:
    """Return the text of ``registry.json``: one package a line, so that a change is one line."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(packages[name], ensure_ascii=False, separators=(',', ':'), sort_keys=True)}"
        for name in sorted(packages)
    ]
    return '{"schema_version": 1, "packages": {\n' + ",\n".join(lines) + "\n}}\n"
