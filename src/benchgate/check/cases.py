"""Reads the cases of a class without importing the class, and what was recorded of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchgate.cassettes.manifest import FOLDER, MANIFEST, CassetteManifest, file_faults
from benchgate.check.leaks import leak_warnings
from benchgate.check.problem import Problem, located
from benchgate.errors import BenchCaseLoadError, Unreadable
from benchgate.loader.case_digest import case_digest, files_digest
from benchgate.loader.case_folder import CASE_FILE, case_folders, read_case
from benchgate.wire.files import tree_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.models import BenchCase


def read_cases(class_path: Path) -> tuple[dict[str, str | None], list[Problem], list[Problem]]:
    """
    Read all files of all cases of a class.

    :returns: the digest of each case by its id, ``None`` if it cannot be read; what is wrong with them; what leaks.
    """
    problems = list(_stray_files(class_path / "cases"))
    digests: dict[str, str | None] = {}
    cases: list[BenchCase] = []
    for folder in case_folders(class_path):
        digest, of_case = _read_case(folder, class_path.name, cases)
        problems += of_case
        if os.path.lexists(folder / CASE_FILE):
            digests[folder.name] = digest
    return digests, problems, list(leak_warnings(cases))


def _stray_files(cases: Path) -> Iterator[Problem]:
    if not cases.is_dir():
        return
    with os.scandir(cases) as entries:
        for entry in entries:
            if entry.is_symlink():
                message = "is a symlink; expected a folder with all files of the case"
                yield Problem(cases / entry.name, 1, message)
            elif not entry.is_dir():
                message = "stray file; expected nothing but case folders in cases/"
                yield Problem(cases / entry.name, 1, message)


def _read_case(
    folder: Path, task_class: str, readable: list[BenchCase]
) -> tuple[str | None, list[Problem]]:
    """Return the digest of a case and what is wrong with it, and add it to those that are ``readable``."""
    path = folder / CASE_FILE
    if not os.path.lexists(path):
        return None, [Problem(folder, 1, f"no case; expected a {CASE_FILE} in it")]
    try:
        case = read_case(folder, task_class=task_class)[0]
        problems = list(_empty_folders(folder))
        digest = case_digest(case, files_digest(case))
        readable.append(case)
    except BenchCaseLoadError as error:
        return None, [*located(error)]
    except Unreadable as error:
        # The problem names the case file itself; of another file the error says which.
        is_own = str(error.path) == str(path)
        return None, [Problem(path, 1, error.why if is_own else str(error))]
    except (OSError, ValueError) as error:  # or facts that are nested too deeply
        return None, [Problem(path, 1, str(error))]
    return digest, problems


def _empty_folders(folder: Path) -> Iterator[Problem]:
    """Yield a problem for each empty folder: git drops it, so a clone has a different case, or none."""
    for name in ("input", "expected"):
        if (folder / name).is_dir() and not tree_files(folder / name):
            hint = "" if name == "input" else ", or no such folder"
            message = f"{name}: is empty, and git keeps no empty folder; expected files in it{hint}"
            yield Problem(folder / CASE_FILE, 1, message)


def cassette_problems(class_path: Path, cases: Mapping[str, str | None]) -> Iterator[Problem]:
    """
    Yield why a cassette could not be replayed.

    :param cases: digest of each case on disk, ``None`` for those that cannot be read.
    """
    for folder in sorted((class_path / FOLDER).glob("[!.]*")):
        path = folder / MANIFEST
        try:
            manifest = CassetteManifest.of(folder)
        except Unreadable as error:
            yield Problem(path, 1, f"{error.why}; expected what --bench-record writes")
            continue
        again = f"; record it again with --bench-record={folder.name}"
        if manifest.task_class != class_path.name:
            yield Problem(path, 1, f"its task class is {manifest.task_class!r}{again}")
        for message in file_faults(folder, manifest.files):
            yield Problem(path, 1, message + again)
        for case_id, digest in manifest.cases.items():
            if cases.get(case_id, digest) not in {digest, None}:
                yield Problem(path, 1, f"case {case_id!r} was changed since{again}")
