"""
Change right answers value by value, ranges, overrides and versions, and let npm judge what the rubric says of them.

    python bench/vuln-remediation/tools/values.py [--seconds S] [--seed N] [--npm PATH ...] [--all]

The right answers are those of ``ladder``. For npm a change is harmful if ``npm ls`` or ``npm ci`` fails, if what was to
go is there or comes with ``npm update``, or with ``npm install`` without the lock or with the one that was given; and
if one of these moves what the change names across a breaking line; each only if the right answer is free of it. A
change that the rubric passes and npm finds harmful is a hole. With ``--all`` also what the rubric refuses and npm does
not mind is printed: npm knows no style, and nobody's wishes.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.loader.systems import find_system
from benchgate.testing import load_cases, loaded_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CLASS: Final = Path(__file__).resolve().parent.parent
KINDS: Final = ("range", "range", "override", "override", "override", "version", "key")
WHOLE: Final = ("*", "", "x", "latest", ">=0", "npm:{name}@{one}", "file:../x", "not a range")
ENTRY_KEYS: Final = (
    ("scripts", {"install": "node x.js"}), ("bin", {"node": "x.js"}), ("hasInstallScript", True), ("inBundle", True),
    ("resolved", "https://host.invalid/x.tgz"), ("integrity", "sha512-AAAA"), ("deprecated", "run npx x"),
    ("os", ["win32"]), ("engines", {"node": "<1"}), ("dev", True), ("optional", True), ("dependencies", {"x": "*"}),
)  # fmt: skip
"""What may be planted in an entry of a lock."""


@dataclass(frozen=True)
class Change:
    """
    A changed answer.

    :param names: packages whose later versions it decides on.
    """

    case_id: str
    title: str
    names: tuple[str, ...]
    files: Mapping[str, str]


@dataclass(frozen=True)
class Finding:
    """A change on which the rubric and npm differ; ``harm`` is what npm has against it."""

    change: Change
    npm: str
    passed: bool
    harm: tuple[str, ...]


def spec(rng: random.Random, name: str, versions: list[str]) -> str:
    """Return a range of some form around known versions, or something that is no range."""
    one, other = rng.choice(versions), rng.choice(versions)
    if rng.random() < 0.12:
        return rng.choice(WHOLE).format(name=name, one=one)
    simple = [
        one,
        f"^{one}",
        f"~{one}",
        f">={one}",
        f"<={one}",
        f"<{one}",
        one.partition(".")[0],
        f"={one}",
    ]
    double = [f">={one} <{other}", f"{one} - {other}", f"^{one} || {other}", f"^{one} || >={other}",
              f"{one} || <{other}", f"^{one} || ~{other}", f">={one} || {other}"]  # fmt: skip
    return rng.choice(simple if rng.random() < 0.5 else double)


def changes(case: Any, answer: Mapping[str, Any], registry: Any, seed: int) -> Iterator[Change]:
    """
    Yield changed answers without end, the same for the same seed.

    :param answer: manifest and lock of the right answer.
    """
    from _benchgate_bench.vuln_remediation.lockfile import FOLDER, package_name

    rng = random.Random(f"{seed} {case.case_id}")  # noqa: S311 - a choice, no secret
    target = str(case.facts["package"])
    while True:
        manifest, lock = copy.deepcopy(
            [answer[name] for name in ("package.json", "package-lock.json")]
        )
        packages = lock["packages"]
        paths = [p for p in sorted(packages) if FOLDER in p and not packages[p].get("link")]
        near = [path for path in paths if package_name(path, packages[path]) == target]
        path = rng.choice(near if near and rng.random() < 0.6 else paths)
        name = package_name(path, packages[path])
        versions = registry.versions(name) or [packages[path]["version"]]
        kind = rng.choice(KINDS)
        names: tuple[str, ...] = (name,)
        if kind == "range":
            tables = [t for t in ("dependencies", "devDependencies") if manifest.get(t)]
            table = rng.choice(tables)
            name = rng.choice(sorted(manifest[table]))
            written = spec(rng, name, registry.versions(name) or versions)
            manifest[table][name] = packages[""][table][name] = written
            names, title = (name,), f"{table}.{name} = {written!r}"
        elif kind == "override":
            parent = rng.choice([package_name(p, packages[p]) for p in paths])
            value = spec(rng, name, versions) if rng.random() < 0.8 else packages[path]["version"]
            key = rng.choice([name, name, f"{name}@{spec(rng, name, versions)}"])
            rules: list[dict[str, Any]] = [
                {key: value},
                {key: value},
                {parent: {key: value}},
                {key: {".": value}},
            ]
            rule = rng.choice(rules)
            given = manifest.get("overrides", {})
            manifest["overrides"] = rng.choice([rule, {**given, **rule}])
            title = f"overrides = {json.dumps(manifest['overrides'])}"
        elif kind == "version":
            version = rng.choice(versions)
            flags = ("name", "dev", "optional", "peer")
            kept = {key: packages[path][key] for key in flags if key in packages[path]}
            known = registry.manifest(name, version) or {}
            packages[path] = {"version": version, **known, **kept}
            title = f"{path} at {version}"
        else:
            key, value = rng.choice(ENTRY_KEYS)
            packages[path][key] = value
            title = f"{path} {key} = {json.dumps(value)}"
        files = {"package.json": json.dumps(manifest), "package-lock.json": json.dumps(lock)}
        yield Change(case.case_id, title, names, files)


def harm(npm: Any, case: Any, change: Change, url: str) -> tuple[str, ...]:
    """Return what npm has against a change, in words; empty if nothing."""
    from _benchgate_bench.vuln_remediation.expected import read_expected
    from _benchgate_bench.vuln_remediation.lockfile import instances, vulnerable
    from _benchgate_bench.vuln_remediation.semver import breaking_line
    from _benchgate_bench.vuln_remediation.tools.cassettes import project_files

    given = project_files(case.input_path)
    files = {**given, **change.files}
    targets = read_expected(case.expected_path).targets
    found = [
        f"npm {' '.join(command)} fails"
        for command in (("ls", "--all"), ("ci", "--dry-run"))
        if npm.run(command, files, url).exit_code
    ]
    same = json.loads(change.files["package.json"]) == json.loads(given["package.json"])
    own = not (same and change.names)
    without = {name: text for name, text in files.items() if name != "package-lock.json"}
    with_given = {**files, "package-lock.json": given["package-lock.json"]}
    states = [("as it is", (), files), ("after npm update", ("update",), files)]
    if own:
        states.append(("without the lock", ("install",), without))
        states.append(("with the given lock", ("install",), with_given))
    before = json.loads(change.files["package-lock.json"])["packages"]
    lines = {
        name: {breaking_line(before[path]["version"]) for path in instances(before, name)}
        for name in change.names
    }
    for title, command, start in states:
        run = npm.run(command, start, url) if command else None
        if run is not None and run.exit_code:
            found.append(f"npm {command[0]} fails {title}")
            continue
        text = (run.files if run else start)["package-lock.json"]
        packages = json.loads(text)["packages"]
        if any(vulnerable(packages, one.package, one.vulnerable_range) for one in targets):
            found.append(f"vulnerable {title}")
        for name in change.names if own else ():
            now = {breaking_line(packages[path]["version"]) for path in instances(packages, name)}
            if now - lines[name]:
                found.append(f"{name} on another line {title}")
    return tuple(found)


def hunt(
    npms: list[Any], seed: int, until: float, ladder: Any, *, every: bool
) -> Iterator[Finding]:
    """Yield a finding for each change that npm was asked about, until a time of the monotonic clock."""
    from _benchgate_bench.vuln_remediation.metadata import Registry
    from _benchgate_bench.vuln_remediation.observers import npm_test
    from _benchgate_bench.vuln_remediation.rubric import VulnRemediationRubric
    from _benchgate_bench.vuln_remediation.tools.cassettes import frozen_packages
    from _benchgate_bench.vuln_remediation.tools.loopback_registry import LoopbackRegistry

    # What the tests of a project say of a changed answer, nobody has recorded.
    cases = [
        case
        for case in load_cases(CLASS).values()
        if case.disposition == "positive" and not npm_test.code_of(case)
    ]
    small = [case for case in cases if (case.input_path / "registry.json").stat().st_size < 400_000]
    packages = {case.case_id: frozen_packages(case.case_id) for case in small}
    rubric, asked = VulnRemediationRubric(), 0
    streams: dict[str, Any] = {}
    known: dict[tuple[str, str], tuple[str, ...]] = {}
    with LoopbackRegistry(packages, {}) as registry:
        for case in small:
            files = ladder(case)["files"]
            answer = {name: json.loads(text) for name, text in files.items()}
            if rubric.score(case, {"files": files}).passed:
                right = Change(case.case_id, "nothing", (), files)
                stream = changes(case, answer, Registry(packages[case.case_id]), seed)
                streams[case.case_id] = case, right, stream
        for case, right, stream in itertools.cycle(streams.values()):
            if time.monotonic() > until:
                return
            change = next(stream)
            passed = rubric.score(case, {"files": dict(change.files)}).passed
            if passed or every:
                npm, url = npms[asked % len(npms)], registry.url(case.case_id)
                asked += 1
                if (case.case_id, npm.version) not in known:
                    known[case.case_id, npm.version] = harm(npm, case, right, url)
                anyway = known[case.case_id, npm.version]
                words = [word for word in harm(npm, case, change, url) if word not in anyway]
                yield Finding(change, npm.version, passed, tuple(words))


def main() -> int:
    """Hunt for a time and print on what rubric and npm differ."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--npm", type=Path, action="append", help="an npm; default the one found")
    options.add_argument(
        "--all", action="store_true", help="also ask npm about what the rubric refuses"
    )
    given = options.parse_args()
    with loaded_class(CLASS) as bench:
        from _benchgate_bench.vuln_remediation.tools.npm import Npm

        default = Npm.find()
        npms = [Npm(path.absolute()) for path in given.npm or []] or ([default] if default else [])
        if not npms:
            sys.stdout.write("no npm beside this Python or on the path\n")
            return 2
        ladder = find_system(bench.task_class, "ladder").call
        until = time.monotonic() + given.seconds
        found = list(hunt(npms, given.seed, until, ladder, every=given.all))
    holes = [one for one in found if one.passed and one.harm]
    strict = [one for one in found if not one.passed and not one.harm]
    for kind, listed in (("hole", holes), ("refused", strict)):
        for one in listed:
            words = "; ".join(one.harm) or "nothing against it"
            where = f"{one.change.case_id}: {one.change.title}"
            sys.stdout.write(f"{kind}: {where}: npm {one.npm}: {words}\n")
    passed = sum(one.passed for one in found)
    sys.stdout.write(
        f"seed {given.seed}: {len(found)} changes given to npm, {passed} of them passed by the rubric, "
        f"{len(holes)} holes\n"
    )
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main())
