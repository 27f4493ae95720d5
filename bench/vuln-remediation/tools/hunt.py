"""
Look for answers that the rubric passes and npm does not take, or acts on: a finding is a hole in the rubric.

    python bench/vuln-remediation/tools/hunt.py [--seconds S] [--seed N] [--npm PATH ...] [--all]

Right answers, of the cases and of a small project whose packages can be installed, are changed key by key. What the
rubric passes is given to the named npms in turn: ``npm ls``, ``npm ci --dry-run``, and for the small project ``npm
ci``, with scripts. Its exit code, the packages, the programs on the path and what ran must be those of the unchanged
answer. With ``--all`` it also prints what the rubric refuses and npm takes as before: not a hole, but maybe too
strict.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.testing import load_cases, loaded_class

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

CLASS: Final = Path(__file__).resolve().parent.parent
LOOKS: Final = ("--dry-run --omit=dev", "--dry-run --omit=peer --omit=optional")
OWN_SHARE: Final = 20
"""Changes of the small project's answer for each one of a case's."""
QUIET: Final = (
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--no-progress",
    "--fetch-retries=0",
    "--offline=false",
)


@dataclass(frozen=True)
class Subject:
    """A right answer to change, and how the rubric and npm see it."""

    label: str
    case: Any
    answer: Mapping[str, Any]
    installable: bool

    @property
    def texts(self) -> dict[str, str]:
        """The unchanged answer as files, with the manifests of the project's workspaces."""
        from _benchgate_bench.vuln_remediation.tools.cassettes import project_files

        answer = {name: json.dumps(held) for name, held in self.answer.items()}
        return {**project_files(self.case.input_path), **answer}


@dataclass(frozen=True)
class Finding:
    """An answer on which the rubric and an npm differ."""

    label: str
    title: str
    npm: str
    unlike: str


@dataclass
class Tally:
    """What was looked at; ``findings`` are holes, ``strict`` what may be refused without need."""

    made: int
    passed: int
    asked: int
    findings: list[Finding]
    strict: list[Finding]


def main() -> int:
    """Hunt for a time and print what was found."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--npm", type=Path, action="append", help="an npm; default the one found")
    options.add_argument(
        "--all", action="store_true", help="print what may be refused without need"
    )
    given = options.parse_args()
    with loaded_class(CLASS) as bench:
        from _benchgate_bench.vuln_remediation.tools.npm import Npm

        default = Npm.find()
        found = [Npm(path.absolute()) for path in given.npm or []] or ([default] if default else [])
        if not found:
            sys.stdout.write("no npm beside this Python or on the path\n")
            return 2
        subjects = every_subject(bench.task_class.systems["ladder"])
        end = time.monotonic() + given.seconds
        tally = hunt(
            found,
            subjects,
            given.seed,
            until=lambda _made: time.monotonic() > end,
            strictness=given.all,
        )
    return _report(tally, given.seed, [one.version for one in found])


def every_subject(ladder: Any) -> list[Subject]:
    """Return the answers of the ladder to the positive cases."""
    from _benchgate_bench.vuln_remediation.project import read_output

    made = []
    for case in load_cases(CLASS).values():
        if case.disposition == "positive":
            project = read_output(ladder(case))
            answer = {
                "package.json": dict(project.manifest),
                "package-lock.json": dict(project.lock),
            }
            made.append(Subject(case.case_id, case, answer, installable=False))
    return made


def hunt(
    npms: list[Any],
    subjects: list[Subject],
    seed: int,
    *,
    until: Callable[[int], bool],
    strictness: bool = False,
) -> Tally:
    """
    Change answers and ask npm about those that pass, each time the next one.

    :param until: given the number of changed answers so far, whether to stop.
    """
    from _benchgate_bench.vuln_remediation.rubric import VulnRemediationRubric
    from _benchgate_bench.vuln_remediation.tools import mutations, small_world
    from _benchgate_bench.vuln_remediation.tools.cassettes import frozen_packages
    from _benchgate_bench.vuln_remediation.tools.loopback_registry import LoopbackRegistry

    rubric = VulnRemediationRubric()
    tally = Tally(0, 0, 0, [], [])
    with tempfile.TemporaryDirectory() as made:
        small = small_world.write_case(Path(made, "case"))
        own = Subject(small.case_id, small, small_world.answer(), installable=True)
        packages = {one.label: frozen_packages(one.label) for one in subjects}
        packages[own.label] = small_world.packages()
        with LoopbackRegistry(packages, {}, small_world.tarballs()) as registry:
            streams = {
                one.label: mutations.mutants(one.answer, seed, one.label)
                for one in (own, *subjects)
            }
            rights: dict[tuple[str, str], dict[str, tuple[int, object]]] = {}
            known: set[tuple[str, str]] = set()
            for subject in _turns(own, subjects):
                if until(tally.made):
                    return tally
                mutant = next(streams[subject.label])
                tally.made += 1
                passes = rubric.score(subject.case, {"files": dict(mutant.files)}).passed
                tally.passed += passes
                if not (passes or strictness) or (subject.label, mutant.title) in known:
                    continue
                known.add((subject.label, mutant.title))
                npm = npms[tally.asked % len(npms)]
                tally.asked += 1
                url, key = registry.url(subject.label), (subject.label, npm.version)
                if key not in rights:
                    rights[key] = seen(npm, subject.texts, url, subject)
                now = seen(npm, {**subject.texts, **mutant.files}, url, subject)
                unlike = [name for name in rights[key] if rights[key][name] != now[name]]
                found = Finding(
                    subject.label, mutant.title, npm.version, _shown(rights[key], now, unlike)
                )
                if passes and unlike:
                    tally.findings.append(found)
                if not passes and not unlike:
                    tally.strict.append(found)
    raise AssertionError("the turns do not end")


def _turns(own: Subject, subjects: list[Subject]) -> Iterator[Subject]:
    """Yield whose answer is changed next: mostly the small project's, which shows what npm installs and runs."""
    for one in itertools.cycle(subjects or [own]):
        yield from itertools.repeat(own, OWN_SHARE)
        yield one


def seen(
    npm: Any, files: Mapping[str, str], url: str, subject: Subject
) -> dict[str, tuple[int, object]]:
    """Return what an npm makes of a project: for each command the exit code, and what it lists or installs."""
    ls = npm.run(("ls", "--all", "--json"), files, url)
    found: dict[str, tuple[int, object]] = {"npm ls": (ls.exit_code, _versions(ls.stdout))}
    for look in LOOKS:
        run = npm.run(("ci", *look.split()), files, url, flags=("--ignore-scripts", *QUIET))
        found[f"npm ci {look}"] = (run.exit_code, sorted(_added(run.stdout)))
    if subject.installable:
        run = npm.run(("ci",), files, url, flags=QUIET, look=_installed)
        found["npm ci"] = (run.exit_code, run.seen)
    return found


def _versions(text: str) -> object:
    """Return the tree that ``npm ls`` prints: names and versions."""

    def tree(node: Any) -> object:
        below = node.get("dependencies") or {}
        return (
            node.get("version"),
            bool(node.get("invalid")),
            sorted((k, tree(v)) for k, v in below.items()),
        )

    try:
        return json.dumps(tree(json.loads(text)))
    except (ValueError, AttributeError, TypeError):
        return None


def _added(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.startswith(("add ", "change ", "remove ")))


def _installed(project: Path) -> object:
    """Return what is installed: packages by folder, programs by name with where they lead, and what ran."""
    found = []
    for folder, names, files in os.walk(project):
        for name in sorted((*names, *files)):
            path = Path(folder, name)
            place = path.relative_to(project).as_posix()
            if path.is_symlink():
                found.append((place, str(path.readlink())))
            elif name == "package.json" and "node_modules" in place:
                held = json.loads(path.read_text(encoding="utf-8"))
                found.append((place, f"{held.get('name')} {held.get('version')}"))
            elif name == "ran":
                found.append(
                    (
                        place,
                        "".join(sorted(path.read_text(encoding="utf-8").splitlines(keepends=True))),
                    )
                )
    return sorted(found)


def _shown(right: Mapping[str, object], now: Mapping[str, object], unlike: list[str]) -> str:
    return "; ".join(f"{name}: {_brief(right[name])} became {_brief(now[name])}" for name in unlike)


def _brief(seen: Any) -> str:
    code, rest = seen
    return f"exit {code}, {str(rest)[-160:]}"


def _report(tally: Tally, seed: int, versions: list[str]) -> int:
    sys.stdout.write(
        f"seed {seed}, npm {', '.join(versions)}: {tally.made} changed answers, {tally.passed} passed by the rubric, "
        f"{tally.asked} given to npm, {len(tally.findings)} findings\n"
    )
    for kind, found in (("hole", tally.findings), ("refused", tally.strict)):
        for one in found:
            sys.stdout.write(f"  {kind}: {one.label}, npm {one.npm}: {one.title}\n")
            if one.unlike:
                sys.stdout.write(f"    {one.unlike}\n")
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())
