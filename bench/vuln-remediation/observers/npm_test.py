"""
Observes an answer to a case with code: whether ``npm ci`` takes it, and what ``npm test`` says.

The tests that are run are the project's own, as they were given, and a further one that no system sees. An answer that
is in ``observations/`` is not tested again. Any other is tested with the packages in ``BENCHGATE_PACKAGES``, a folder;
without it nothing is known of the answer, and its trial is unavailable.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.vuln_remediation.allowed import forbidden
from _benchgate_bench.vuln_remediation.consistency import lock_problems
from _benchgate_bench.vuln_remediation.expected import read_expected
from _benchgate_bench.vuln_remediation.metadata import Registry
from _benchgate_bench.vuln_remediation.project import (
    LOCK,
    MANIFEST,
    UnusableOutput,
    further_files,
    read_input,
    read_output,
)

from .runner import Runner, Unavailable
from .store import key_of, stored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase

PACKAGES: Final = "BENCHGATE_PACKAGES"
TESTS: Final = "tests"
"""The folder of a case's ``expected/`` with the tests that no system sees; they are laid over the project."""

MAX_CODE: Final = 1_000_000
"""Bytes of one file of code beyond which an answer is not tried."""

_ABOUT: Final = frozenset({"advisory.json", "registry.json"})
"""Files of ``input/`` that are no part of the project."""

UNTRIED: Final = frozenset(
    {"code_added", "foreign_address", "integrity_mismatch", "integrity_missing", "version_unknown"}
)
"""What no judge installs: the rubric refuses it whatever the tests say."""


class NpmTest:
    """Observes the tests of an answer; :attr:`name` is in each record."""

    name = "npm-test"

    def __call__(self, case: BenchCase, output: Mapping[str, Any]) -> dict[str, Any]:
        """
        Return what is seen of an answer.

        :raises Unavailable: it is not in the store, and nothing here can test it.
        """
        known = untested(case, output)
        if known is not None:
            return known
        files = project_of(case, output)
        found = stored().get(key_of(files))
        return dict(found) if found is not None else self.run(case, files)

    def seen(self, case: BenchCase, output: Mapping[str, Any]) -> BenchCase:
        """Return a case with what is seen of an answer, as the rubric gets it."""
        return case.model_copy(update={"observation": self(case, output)})

    def run(self, case: BenchCase, files: Mapping[str, str]) -> dict[str, Any]:
        """
        Install a project and run its tests.

        :raises Unavailable: nothing here can.
        """
        folder = os.environ.get(PACKAGES)
        if not folder:
            raise Unavailable(f"set {PACKAGES} to a folder of packages, see the README")
        edited = {MANIFEST, LOCK, *code_of(case)}
        return Runner.find(Path(folder)).test(files, files.keys() - edited)


def code_of(case: BenchCase) -> frozenset[str]:
    """Return the files of a case that an answer may edit."""
    return read_expected(case.expected_path).code_allowed if case.expected_path else frozenset()


def untested(case: BenchCase, output: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is known of an answer that nobody tests: it is to no case with code, or is refused; else ``None``."""
    code = code_of(case)
    if not code:
        return {"asked": False}
    try:
        refused = _refused(case, code, output)
    except UnusableOutput as unusable:
        refused = [unusable.code]
    return {"passed": False, "error": f"not tried: {', '.join(refused)}"} if refused else None


def _refused(case: BenchCase, code: frozenset[str], output: Mapping[str, Any]) -> list[str]:
    """Return why an answer is not installed here; :raises UnusableOutput: there is no project in it."""
    before = read_input(case.input_path)
    after = read_output(output, before)
    registry = Registry.load(case.input_path / "registry.json")
    texts = [output["files"][name] for name in code & output["files"].keys()]
    if not all(_is_text(one) for one in texts):
        return ["no text"]
    further = further_files(output, case.input_path) - code
    found = {*lock_problems(after, registry, before), *forbidden(before, after, registry, further)}
    return sorted(found & UNTRIED)


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and len(value.encode()) <= MAX_CODE
    except UnicodeEncodeError:
        return False


def project_of(case: BenchCase, output: Mapping[str, Any]) -> dict[str, str]:
    """Return the project that is tested: as given, with what the answer may edit, and the tests that it never saw."""
    given = {path: text for path, text in _texts(case.input_path).items() if path not in _ABOUT}
    edited = {
        path: output["files"][path]
        for path in (MANIFEST, LOCK, *code_of(case))
        if path in output["files"]
    }
    unseen = _texts(case.expected_path / TESTS) if case.expected_path else {}
    return {**given, **edited, **unseen}


def _texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


npm_test = NpmTest()
