"""
Test the answers that ship with the class, and keep what was seen in ``observations/``.

    BENCHGATE_PACKAGES=DIR python bench/vuln-remediation/tools/record_observations.py [--again]

DIR is a cache of npm; it may be empty at first, and what it lacks is fetched from the registry. Tested is what is not
in the store: of each case with code what every system answers, what ``npm audit fix --force`` makes of it, the project
as it was given, and the right answer. What no answer needs any more is dropped.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.loader.imports import bench_package
from benchgate.testing import load_cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate import BenchCase

CLASS: Final = Path(__file__).resolve().parent.parent
WORKERS: Final = 3
"""Answers that are tested at once."""

ANSWERS: Final = CLASS / "tests" / "answers"
"""For each case with code the folder of a person's right answer."""


def main() -> int:
    """Test what is not in the store; return 1 if something could not be."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument("--again", action="store_true", help="test those in the store as well")
    given = options.parse_args()
    with bench_package(CLASS.parent):
        return record(again=given.again)


def record(*, again: bool) -> int:
    """Test the answers that are not in the store, and keep what was seen of all."""
    from _benchgate_bench.vuln_remediation.observers import npm_test, runner, store

    known = {} if again else store.stored()
    needed: dict[str, Any] = {}
    for name, case, output in (*answers(), *forced()):
        if npm_test.untested(case, output) is None:
            files = npm_test.project_of(case, output)
            needed.setdefault(store.key_of(files), (name, case, files))
    kept = {key: known[key] for key in needed.keys() & known.keys()}
    waiting = {key: one for key, one in needed.items() if key not in known}
    failed = 0
    with ThreadPoolExecutor(WORKERS) as pool:
        futures = {
            key: pool.submit(npm_test.npm_test.run, *one[1:]) for key, one in waiting.items()
        }
        for key, future in futures.items():
            try:
                kept[key] = future.result()
                told = said(kept[key])
            except runner.Unavailable as why:
                failed, told = failed + 1, str(why)
            sys.stdout.write(f"{waiting[key][0]}: {told}\n")
            sys.stdout.flush()
            # What ends the command loses none of those before.
            store.store({**known, **kept})
    store.store({**known, **kept} if failed else kept)
    sys.stdout.write(f"{len(kept)} observations, {failed} answers could not be tested\n")
    return min(failed, 1)


def said(seen: Mapping[str, Any]) -> str:
    """Return an observation in words."""
    if seen["passed"]:
        return "passes"
    return ": ".join([seen["error"], *([", ".join(seen["failed"])] if "failed" in seen else [])])


def coded() -> list[BenchCase]:
    """Return the cases with code."""
    from _benchgate_bench.vuln_remediation.observers.npm_test import code_of

    return [case for case in load_cases(CLASS).values() if code_of(case)]


def answers() -> Iterator[tuple[str, BenchCase, Mapping[str, Any]]]:
    """Yield the answers to the cases with code, each with its name: of all systems, none, and the right one."""
    from _benchgate_bench.vuln_remediation.systems import (
        blind_override,
        careless,
        controls,
        ladder,
        npm_audit_fix,
    )

    systems: tuple[Any, ...] = (
        blind_override.BlindOverride(),
        careless.CutOut(),
        careless.InstallLatest(),
        careless.OldestVersions(),
        careless.UpgradeAll(),
        controls.DoNothing(),
        ladder.Ladder(),
        npm_audit_fix.NpmAuditFix(),
    )
    for case in coded():
        for system in systems:
            yield f"{case.case_id} {system.name}", case, system(case)
        yield f"{case.case_id} right", case, right(case)


def right(case: BenchCase) -> dict[str, Any]:
    """Return a person's answer to a case."""
    folder = ANSWERS / case.case_id
    files = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return {"files": files, "status": "fixed"}


def forced() -> Iterator[tuple[str, BenchCase, Mapping[str, Any]]]:
    """Yield what ``npm audit fix --force`` makes of the cases with code; nothing if it is not here."""
    from _benchgate_bench.vuln_remediation.tools import cassettes
    from _benchgate_bench.vuln_remediation.tools.npm import Npm

    npm, cases = Npm.find(), {one.case_id: one for one in coded()}
    runs = cassettes.forced(npm, cases) if npm else {}
    for case_id, run in runs.items():
        yield f"{case_id} npm audit fix --force", cases[case_id], {"files": run.files}


if __name__ == "__main__":
    sys.exit(main())
