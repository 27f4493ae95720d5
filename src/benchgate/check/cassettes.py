"""Checks what was recorded of a class against its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.cassettes.manifest import FOLDER, MANIFEST, CassetteManifest, file_faults
from benchgate.check.problem import Problem
from benchgate.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


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
