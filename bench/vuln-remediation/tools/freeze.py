"""Writes package metadata into the ``registry.json`` of a case: only what resolution and lock entries need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.lockfile import (
    AT_INSTALL,
    has_address,
    package_name,
    split_alias,
)
from _benchgate_bench.vuln_remediation.metadata import NODE_VERSION
from _benchgate_bench.vuln_remediation.ranges import runs_on
from _benchgate_bench.vuln_remediation.semver import (
    affects,
    ascending,
    breaking_line,
    is_prerelease,
    satisfies,
    sort_key,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

KEPT: Final = (
    "dependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta", "engines", "os", "cpu", "libc",
    "hasInstallScript", "hasShrinkwrap", "bundleDependencies", "deprecated",
)  # fmt: skip
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
    if isinstance(scripts, dict) and any(scripts.get(name) for name in AT_INSTALL):
        entry["hasInstallScript"] = True
    licence = manifest.get("license")
    if licence := licence.get("type", licence) if isinstance(licence, dict) else licence:
        entry["license"] = licence
    if binaries := _binaries(name, manifest.get("bin")):
        entry["bin"] = binaries
    if integrity := manifest.get("dist", {}).get("integrity"):
        entry["integrity"] = integrity
    return entry


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


def thin(  # noqa: C901 - one pass over what is locked, then over what is asked for
    metadata: Mapping[str, Any],
    lock: Mapping[str, Any],
    specs: Iterable[tuple[str, str]],
    near: Collection[str],
    gone: Mapping[str, Collection[str]],
) -> dict[str, set[str]]:
    """
    Return the versions that a project needs, and those that a careless fix could take: a part of what there is.

    Of packages ``near`` the vulnerable ones, with what leads to them, all from the lowest that is locked; of others
    what is locked and the highest of each breaking line above. Of everything that these or the project ask for, what
    :func:`picked` names, and what that asks for; of what the project asks for, the newest too. Versions that ask for
    what is not in the metadata are left out, and what asks for these.

    :param specs: package and range of everything that the project's manifests ask for.
    :param gone: package to the ranges of its advisories.
    """
    locked: dict[str, set[str]] = {}
    for path, entry in lock["packages"].items():
        if "node_modules/" in path and not entry.get("link"):
            locked.setdefault(package_name(path, entry), set()).add(entry["version"])
    kept: dict[str, set[str]] = {}
    waiting: list[tuple[str, str]] = []

    def keep(name: str, versions: Iterable[str]) -> None:
        fresh = set(versions) - kept.setdefault(name, set())
        kept[name] |= fresh
        for version in fresh:
            waiting.extend(asked_for(metadata[name]["versions"][version]))

    def stable(name: str) -> list[str]:
        found = metadata[name]["versions"]
        return ascending(
            v for v in found
            if not is_prerelease(v) and not any(has_address(spec) for _, spec in asked_for(found[v]))
        )  # fmt: skip

    for name in sorted({*locked, *near} & metadata.keys()):
        held = [v for v in locked.get(name, ()) if v in metadata[name]["versions"]]
        lowest = min(map(sort_key, held), default=sort_key("0.0.0"))
        above = [v for v in stable(name) if sort_key(v) >= lowest]
        ends = {breaking_line(v): v for v in above}
        keep(name, {*held, *(above if name in near else ends.values())})
    asked = list(specs)
    waiting += [*asked, *((name, "*") for name, _ in asked)]
    seen: set[tuple[str, str]] = set()
    while waiting:
        name, spec = waiting.pop()
        if (name, spec) in seen or name not in metadata:
            continue
        seen.add((name, spec))
        found = metadata[name]
        fitting = [v for v in stable(name) if satisfies(v, spec)] or [
            v for v in ascending(found["versions"]) if satisfies(v, spec)
        ]
        keep(name, picked(found, fitting, gone.get(name, ())))
    return _closed(metadata, kept, locked)


def picked(found: Mapping[str, Any], fitting: list[str], gone: Collection[str]) -> set[str]:
    """
    Return the versions of a package that somebody may take for a range.

    npm takes ``latest``, else the highest, and prefers what runs on its Node.js and is not deprecated. Whoever resolves
    to the oldest takes the lowest. Either may avoid what an advisory affects.

    :param found: the package's document.
    :param fitting: the versions in the range, lowest first.
    """
    safe = [v for v in fitting if not any(affects(v, one) for one in gone)]
    latest = found["dist-tags"].get("latest")
    kept = {latest} & set(fitting)
    for some in (fitting, safe):
        running = [v for v in some if runs_on(found["versions"][v], [NODE_VERSION])]
        current = [v for v in some if not found["versions"][v].get("deprecated")]
        kept.update(some[:1], some[-1:], running[-1:], current[-1:])
    return kept


def _closed(
    metadata: Mapping[str, Any], kept: dict[str, set[str]], locked: Mapping[str, set[str]]
) -> dict[str, set[str]]:
    """Return the versions without those that ask for something that none of them is, but for those that are locked."""
    while True:
        lost = [
            (name, version)
            for name, versions in kept.items()
            for version in versions - locked.get(name, set())
            for asked, spec in asked_for(metadata[name]["versions"][version])
            if not any(satisfies(one, spec) for one in kept.get(asked, ()))
        ]
        if not lost:
            return {name: versions for name, versions in kept.items() if versions}
        for name, version in lost:
            kept[name].discard(version)


def unresolved(packages: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """
    Return what cannot be resolved within these packages alone: package, version, and what that version asks for.

    Optional dependencies count: npm goes on without them, but writes another lock than with the real registry.

    :param packages: in the form of ``registry.json``.
    """
    asking: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name, one in packages.items():
        for version, entry in one["versions"].items():
            for asked in asked_for(entry):
                asking.setdefault(asked, []).append((name, version))
    return [
        (*by, f"{name}@{spec}")
        for (name, spec), listed in sorted(asking.items())
        if not any(satisfies(one, spec) for one in packages.get(name, {"versions": {}})["versions"])
        for by in listed
    ]


def freeze(
    metadata: Mapping[str, Any],
    lock: Mapping[str, Any],
    near: Collection[str],
    gone: Mapping[str, Collection[str]],
) -> dict[str, Any]:
    """
    Return the packages that resolving a project can need, with the versions of :func:`thin`.

    :param near: the packages of the advisories, and what leads to them.
    :param gone: package to the ranges of its advisories.
    """
    own = [one for path, one in lock["packages"].items() if "node_modules/" not in path]
    tables = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
    specs = [
        split_alias(name, spec)
        for one in own
        for table in tables
        for name, spec in one.get(table, {}).items()
    ]
    return {
        name: {
            **({"latest": latest} if (latest := metadata[name]["dist-tags"].get("latest")) in versions else {}),
            "versions": {v: frozen_entry(name, metadata[name]["versions"][v]) for v in ascending(versions)},
        }
        for name, versions in sorted(thin(metadata, lock, specs, near, gone).items())
    }  # fmt: skip


def render(packages: Mapping[str, Any]) -> str:
    """Return the text of ``registry.json``: one package a line, so that a change is one line."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(packages[name], ensure_ascii=False, separators=(',', ':'), sort_keys=True)}"
        for name in sorted(packages)
    ]
    return '{"schema_version": 1, "packages": {\n' + ",\n".join(lines) + "\n}}\n"
