"""``manifest.json`` of a cassette: what was recorded, and the digest of each file of it."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AwareDatetime, Field

from benchgate.errors import Unreadable
from benchgate.models import Isolation, Observer
from benchgate.wire import clock
from benchgate.wire.files import MAX_TREE_BYTES, file_sha256
from benchgate.wire.model import SCHEMA_VERSION, Artifact, Count, Digests, Sha256, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.ids import RunPlan
    from benchgate.models import BenchRunReport

FOLDER: Final = "cassettes"
MANIFEST: Final = "manifest.json"
PINNED: Final = "pinned"
"""The cassette with the outputs of a pinned baseline, of a class with an observer."""


def outputs_of(baseline: Path) -> Path | str | None:
    """Return where the outputs of a baseline are, as a replay is told it; ``None``: they are not kept."""
    if baseline.name == "record.json":
        return baseline.parent
    if (baseline.parent / FOLDER / PINNED / MANIFEST).exists():
        return PINNED
    return None


class CassetteManifest(Artifact):
    """
    ``cassettes/NAME/manifest.json``: the outputs of one system, recorded.

    :param recorded_at: when its newest trials ended.
    :param benchgate: the version that recorded it.
    :param isolation_class: where its trials ran, and so those of a replay.
    :param observer: what observed the outputs, if something did.
    :param checkpoint: SHA-256 of the file that the system was handed as its checkpoint.
    :param cases: digest of each case as it was then.
    :param files: SHA-256 of each file: ``<case>[-t<k>].json`` of each trial, and what else was recorded of one.
    """

    report_kind: Literal["cassette"]
    task_class: str
    recorded_at: AwareDatetime
    benchgate: str
    system: Text
    system_digest: str | None
    checkpoint: Sha256 | None
    trial_count: Annotated[Count, Field(ge=1)]
    seed: Count
    isolation_class: Isolation = Field(default="none", exclude_if=lambda level: level == "none")
    observer: Observer | None = Field(default=None, exclude_if=lambda one: one is None)
    cases: Digests
    files: Digests

    @property
    def case_ids(self) -> tuple[str, ...]:
        """All cases of it."""
        return tuple(self.cases)

    @classmethod
    def of_run(cls, run: RunPlan | BenchRunReport, files: Mapping[str, str]) -> CassetteManifest:
        """Return the manifest of a run's trials, recorded now."""
        return cls(
            schema_version=SCHEMA_VERSION,
            report_kind="cassette",
            task_class=run.task_class,
            recorded_at=clock.now(),
            benchgate=version("pytest-benchgate"),
            system=run.system,
            system_digest=run.digests.system,
            checkpoint=run.digests.checkpoint,
            trial_count=run.trial_count,
            seed=run.seed,
            isolation_class=run.isolation_class,
            observer=run.observer,
            cases=run.digests.cases,
            files=files,
        )

    @classmethod
    def of(cls, folder: Path) -> CassetteManifest:
        """
        Read the manifest in a cassette's folder.

        :raises Unreadable: there is none, or it is not valid.
        """
        return cls.read_file(folder / MANIFEST, "manifest of a cassette")


def file_faults(
    folder: Path, files: Mapping[str, str], names: Iterable[str] | None = None
) -> Iterator[str]:
    """
    Yield which files of a recording are missing or are not those that were recorded.

    :param files: SHA-256 of each file by its name.
    :param names: only these; by default all, and those that were added too.
    """
    there: set[str] = set()
    if folder.is_dir():
        there = set(os.listdir(folder))
    checked = names
    if checked is None:
        checked = sorted(files)
    for name in checked:
        if name not in there or name not in files or os.path.islink(folder / name):
            yield f"{name}: missing, or a symlink"
            continue
        try:
            if file_sha256(folder / name, limit=MAX_TREE_BYTES) != files[name]:
                yield f"{name}: was changed after it was recorded"
        except Unreadable as error:
            yield f"{name}: {error.why}"
    if names is None:
        yield from (f"{name}: was not recorded" for name in sorted(there - {*files, MANIFEST}))
