"""
Plant faults in a copy of this tree, one at a time, and see whether the tests of their area find them.

    python benchmarks/faults/plant.py              # all of them
    python benchmarks/faults/plant.py 07 12        # some
    python benchmarks/faults/plant.py --check      # only whether each still applies: fast, and runs no test

A fault is a file ``NN-area.patch`` beside this script. Lines of ``key: value`` come first:

    area: what part of the package it is in
    what: what a user would suffer, one sentence
    found by: the files of the tests that find it, from the root of the tree
    slow: yes, if only a test that is marked slow finds it; only those are run then

Then follows a unified diff with one line of context, as of ``git diff -U1 src``.

A fault is found if a test of these files fails with it, and none without it. The exit status is 1 unless all are found.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

HEADER = re.compile(r"^(area|what|found by|slow): (.+)$", re.MULTILINE)
NEEDED = ("area", "what", "found by")
FILE = re.compile(r"^--- a/(.+)$", re.MULTILINE)
HUNK = re.compile(r"^@@ .*\n", re.MULTILINE)
FAILED = re.compile(r"^FAILED ((\S+?\.py)::.+?)(?: - .*)?$", re.MULTILINE)

TESTS_FAILED = 1
"""The exit status of pytest if a test failed; any other one says nothing about a fault."""
LIMIT = 600.0
"""Seconds for the files of one fault, which hangs if they take longer."""


class DoesNotApplyError(Exception):
    """The source is not what a patch was made from, or a file that it names is gone."""


@dataclass(frozen=True)
class Fault:
    """
    A fault that can be planted.

    :param name: of its patch, without the ending.
    :param tests: the files of the tests that find it.
    :param edits: the file that it changes, with each text in it and what comes in its place.
    """

    name: str
    what: str
    tests: tuple[str, ...]
    slow: bool
    file: str
    edits: tuple[tuple[str, str], ...]

    def planted(self, tree: Path) -> str:
        """
        Return the source of the file of a tree with the fault in it.

        :raises DoesNotApplyError: the text that it changes is not there once, or a file of its tests is gone.
        """
        gone = [test for test in (self.file, *self.tests) if not (tree / test).is_file()]
        if gone:
            raise DoesNotApplyError(f"there is no {', '.join(gone)}")
        source = (tree / self.file).read_text(encoding="utf-8")
        for before, after in self.edits:
            count = source.count(before)
            if count != 1:
                raise DoesNotApplyError(f"{self.file} has this {count} times, not once:\n{before}")
            source = source.replace(before, after)
        return source


def read_fault(path: Path) -> Fault:
    """
    Read a patch. The numbers of lines in it are not looked at, so that it applies when its neighbours change.

    :raises ValueError: it has not what a patch of a fault must have.
    """
    text = path.read_text(encoding="utf-8")
    head, *hunks = HUNK.split(text)
    header = dict(HEADER.findall(head))
    missing = [key for key in NEEDED if key not in header]
    files = FILE.findall(head)
    if missing or len(files) != 1 or not hunks:
        msg = f"{path.name}: expected {', '.join(NEEDED)}, and then a diff of one file"
        raise ValueError(msg)
    return Fault(
        name=path.stem,
        what=header["what"],
        tests=tuple(header["found by"].split()),
        slow=header.get("slow") == "yes",
        file=files[0],
        edits=tuple((_side(hunk, " -"), _side(hunk, " +")) for hunk in hunks),
    )


def _side(hunk: str, signs: str) -> str:
    """Return the lines of a hunk that begin with one of two signs, without it."""
    lines = hunk.splitlines(keepends=True)
    return "".join(line[1:] for line in lines if line[0] in signs)


def faults(numbers: list[str]) -> list[Fault]:
    """Return the faults of these numbers, all of them if there are none."""
    paths = sorted(HERE.glob("*.patch"))
    known = {path.name.partition("-")[0]: path for path in paths}
    unknown = [number for number in numbers if number not in known]
    if unknown:
        raise SystemExit(f"no such fault: {', '.join(unknown)}; there are {', '.join(known)}")
    return [read_fault(known[number]) for number in numbers or known]


class Copy:
    """A copy of the tree, whose tests import the package from there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Files that are not tracked yet are copied too: a test that was just written counts.
        command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        # Before the folders of what is installed, in the tests and in all processes that they start.
        own = {"PYTHONPATH": str(folder / "src"), "PYTEST_ADDOPTS": ""}
        self.environment = {**os.environ, **own}

    def imported(self) -> Path:
        """Return which package a process of the tests imports."""
        command = (sys.executable, "-c", "import benchgate; print(benchgate.__file__)")
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return Path(done.stdout.strip())

    def write(self, name: str, source: str) -> None:
        """Write a source, later than before: Python reuses what it compiled of a source of the same size and second."""
        path = self.folder / name
        later = max(time.time(), path.stat().st_mtime + 2)
        path.write_text(source, encoding="utf-8")
        os.utime(path, (later, later))

    def pytest(self, fault: Fault) -> tuple[int | None, str]:
        """Run the tests that find a fault; return their exit status, ``None`` if they hang, and what they printed."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        # Not in an order of its own, so that the same test finds it each time.
        command += ["-p", "no:randomly", *fault.tests]
        if fault.slow:
            command += ["-m", "slow"]
        # A file and no pipe: processes that a test left would keep a pipe open after the tests were killed.
        with tempfile.TemporaryFile() as output:
            try:
                done = subprocess.run(
                    command,
                    cwd=self.folder,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=LIMIT,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return None, ""
            output.seek(0)
            return done.returncode, output.read().decode(errors="replace")


class Planter:
    """Plants faults in one copy, and remembers which tests pass without any."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        self._clean: dict[tuple[tuple[str, ...], bool], bool] = {}

    def try_one(self, fault: Fault) -> tuple[bool, str]:
        """Return whether a fault is found, and what to say of it."""
        try:
            planted = fault.planted(self._copy.folder)
        except DoesNotApplyError as error:
            return False, f"does not apply: {error}"
        if not self._passes_without(fault):
            return False, f"NOT FOUND: {' '.join(fault.tests)} do not pass without it"
        source = (self._copy.folder / fault.file).read_text(encoding="utf-8")
        self._copy.write(fault.file, planted)
        try:
            status, printed = self._copy.pytest(fault)
        finally:
            self._copy.write(fault.file, source)
        # What failed in the sessions that tests run in turn is printed too.
        failed = [test for test, file in FAILED.findall(printed) if file in fault.tests]
        if status == TESTS_FAILED and failed:
            return True, f"found by {failed[0]}"
        how = f"exit status {status}"
        if status is None:
            how = "hangs"
        return False, f"NOT FOUND ({how}): {fault.what}"

    def _passes_without(self, fault: Fault) -> bool:
        key = (fault.tests, fault.slow)
        if key not in self._clean:
            status, printed = self._copy.pytest(fault)
            self._clean[key] = status == 0
            if status != 0:
                print(printed[-2000:])
        return self._clean[key]


def check(chosen: list[Fault]) -> int:
    """Say which faults do not apply to this tree; return how many."""
    count = 0
    for fault in chosen:
        try:
            fault.planted(ROOT)
        except DoesNotApplyError as error:
            print(f"{fault.name}: does not apply: {error}")
            count += 1
    print(f"{len(chosen) - count} of {len(chosen)} faults apply")
    return count


def plant(chosen: list[Fault]) -> int:
    """Plant faults one after the other; return how many are not found."""
    with tempfile.TemporaryDirectory(prefix="benchgate-faults-") as folder:
        copy = Copy(Path(folder).resolve())
        imported = copy.imported()
        print(f"the tests import {imported}")
        if not imported.is_relative_to(copy.folder):
            raise SystemExit(f"expected the package in {copy.folder}")
        planter = Planter(copy)
        lost = 0
        for fault in chosen:
            began = time.monotonic()
            is_found, said = planter.try_one(fault)
            print(f"{fault.name} ({time.monotonic() - began:.0f} s): {said}", flush=True)
            if not is_found:
                lost += 1
    print(f"{len(chosen) - lost} of {len(chosen)} faults found")
    return lost


def main() -> int:
    """Do what the command line asks for; 1 unless every fault is found, or applies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("numbers", nargs="*", metavar="NN", help="faults to plant; by default all")
    parser.add_argument("--check", action="store_true", help="only see whether they apply")
    given = parser.parse_args()
    chosen = faults(given.numbers)
    if given.check:
        return int(check(chosen) > 0)
    return int(plant(chosen) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
