"""Checks what was recorded of a class against its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.cassettes.manifest import FOLDER, MANIFEST, CassetteManifest, file_faults
from benchgate.check.problem import Problem
from benchgate.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def has_cassettes(class_path: Path) -> bool:
    """Return whether a class has a folder for cassettes."""
    return (class_path / FOLDER).is_dir()


def cassette_problems(class_path: Path, cases: Mapping[str, str | None]) -> Iterator[Problem]:
    """
    Yield why a cassette could not be replayed.

    :param cases: digest of each case on disk, ``None`` for those that cannot be read.
    """
    if not has_cassettes(class_path):
        return
    for folder in sorted((class_path / FOLDER).iterdir()):
        if folder.name.startswith("."):
            continue
        path = folder / MANIFEST
        try:
            manifest = CassetteManifest.of(folder)
        except Unreadable as error:
            yield Problem(path, 1, f"{error.why}; expected what --bench-record writes")
            continue
        again = f"; record it again with --bench-record={folder.name}"
        for message in (*file_faults(folder, manifest.files), *_stale(manifest, class_path, cases)):
            yield Problem(path, 1, message + again)


def _stale(
    manifest: CassetteManifest, class_path: Path, cases: Mapping[str, str | None]
) -> Iterator[str]:
    if manifest.task_class != class_path.name:
        yield f"its task class is {manifest.task_class!r}, not {class_path.name!r}"
        return
    for case_id, digest in manifest.cases.items():
        if cases.get(case_id, digest) not in {digest, None}:
            yield f"case {case_id!r} was changed since"
