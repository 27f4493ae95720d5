"""
The registry of a case, for whoever works on it: npm finds the versions that were there when the case was made.

    python bench/vuln-remediation/tools/registry.py CASE -- npm audit fix

runs a command in the folder CASE, which it makes from the case's project if it is not there, and prints how the answer
in it scores. Call it again to go on, with any command: ``-- npm install ws@8.17.1``, ``-- bash``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from benchgate import BenchCase, run_eval
from benchgate.loader.imports import bench_package
from benchgate.testing import load_cases

CLASS: Final = Path(__file__).resolve().parent.parent
FROZEN: Final = "registry.json"
"""The file of a case's input that is served, and not copied."""

SETTINGS: Final = {
    "package_lock_only": "true",  # there are no packages to download
    "omit_lockfile_registry_resolved": "true",  # the locks of this bench name no addresses
    "lockfile_version": "3",
    "ignore_scripts": "true",
    "fund": "false",
    "update_notifier": "false",
    "noproxy": "127.0.0.1",
}
"""What npm is to be told; as variables of its environment they begin with ``npm_config_``."""


class OfCases(Mapping[str, Any]):
    """What each case has, read when somebody asks for it; whatever is no case has nothing."""

    def __init__(self, read: Callable[[str], Any]) -> None:
        self._names = sorted(path.name for path in (CLASS / "cases").iterdir())
        self._read = cache(read)

    def __getitem__(self, case_id: str) -> Any:
        if case_id not in self._names:
            raise KeyError(case_id)
        return self._read(case_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@contextmanager
def serve() -> Iterator[str]:
    """Serve the registries of all cases, each at its id; the registration of the class names this."""
    from _benchgate_bench.vuln_remediation.tools.cassettes import frozen_packages, known_advisories
    from _benchgate_bench.vuln_remediation.tools.loopback_registry import LoopbackRegistry

    registry = LoopbackRegistry(OfCases(frozen_packages), OfCases(known_advisories))
    with registry:
        yield registry.address


def environment(served: str, scratch: Path) -> dict[str, str]:
    """
    Return the environment in which npm uses a registry, and nothing that is set on this machine.

    :param served: the address of the registry, as ``case.served`` has it.
    :param scratch: a folder for npm's cache; one for each case, because the same package has other versions in another.
    """
    own = {
        "registry": served,
        "cache": str(scratch / "cache"),
        "userconfig": str(scratch / "user-npmrc"),
        "globalconfig": str(scratch / "global-npmrc"),
    }
    others = {name: value for name, value in os.environ.items() if not _is_of_npm(name)}
    return {**others, **{f"npm_config_{key}": value for key, value in {**SETTINGS, **own}.items()}}


def _is_of_npm(name: str) -> bool:
    return name.lower().startswith("npm_config_")


def main() -> int:
    """Run the command, and print how what it left scores."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument("case", metavar="CASE")
    options.add_argument("command", nargs="+", metavar="COMMAND", help="after --: npm audit fix")
    given = options.parse_args()
    cases = load_cases(CLASS)
    if given.case not in cases:
        options.error(f"no case {given.case}; known: {', '.join(cases)}")
    case, folder = cases[given.case], Path(given.case).resolve()
    if not folder.exists():
        shutil.copytree(case.input_path, folder, ignore=shutil.ignore_patterns(FROZEN))
    with bench_package(CLASS.parent), tempfile.TemporaryDirectory() as scratch, serve() as address:
        within = environment(f"{address}/{given.case}/", Path(scratch))
        status = subprocess.run(given.command, cwd=folder, env=within, check=False).returncode  # noqa: S603
    sys.stderr.write(f"\n{folder}: {_scored(case, _answer(case, folder))}\n")
    return status


def _answer(case: BenchCase, folder: Path) -> dict[str, str]:
    """Return the files that a project was given with, as they are now."""
    given = [path.relative_to(case.input_path) for path in case.input_path.rglob("*")]
    there = [name for name in given if (folder / name).is_file()]
    return {name.as_posix(): (folder / name).read_text(encoding="utf-8") for name in there}


def _scored(case: BenchCase, files: dict[str, str]) -> str:
    """Return how an answer scores, by a run of this one case."""
    report = run_eval(
        CLASS.name,
        system_under_test=lambda _: {"files": files},
        case_filter=lambda one: one.case_id == case.case_id,
        bench_root=CLASS.parent,
    )
    (trial,) = report.per_case
    codes = ", ".join(mode.detail or mode.code for mode in trial.failure_modes)
    if trial.score is None:
        return f"{trial.outcome}. {trial.detail or codes}"
    result = "passed" if trial.score.passed else "failed"
    return f"{trial.score.score:.3f}, {result}. {trial.score.explanation or codes}"


if __name__ == "__main__":
    sys.exit(main())
