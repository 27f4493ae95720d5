"""The full runs of a class as they lie in ``runs/<class>/``, recorded or not, and which of them can be resumed."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchgate.artifacts.reading import read_artifact
from benchgate.artifacts.run_kinds import ClosedRecord, PlanFile, RunRecord
from benchgate.audit.chain import PLAN_FILE, RECORD_FILE, STAMP, UNFINISHED, numbered
from benchgate.errors import ArtifactError
from benchgate.wire.writing import hold

if TYPE_CHECKING:
    from collections.abc import Iterator

State = Literal[
    "complete", "incomplete", "resumed", "closed", "unrecorded", "running", "unreadable"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRun:
    """
    A full run, by its folder.

    :param seq: number of its record; ``None`` if it has none.
    :param resumed_by: the folder of the run that completes it.
    """

    folder: Path
    seq: int | None
    record: RunRecord | ClosedRecord | None
    plan: PlanFile | None
    resumed_by: str | None = None

    @property
    def state(self) -> State:
        """How far it came; ``unrecorded`` is what a killed process leaves."""
        if self.seq is None:
            return "running" if _is_held(self.folder) else "unrecorded"
        if self.record is None:
            return "unreadable"
        if isinstance(self.record, ClosedRecord):
            return "closed"
        if self.resumed_by is not None:
            return "resumed"
        return "complete" if self.record.complete else "incomplete"

    @property
    def stamp(self) -> str:
        """When it ended; of one without a record, when it began or was last resumed."""
        if self.record is not None and self.seq is not None:
            return f"{self.record.finished_at:{STAMP}}"
        return self.folder.name.removeprefix(UNFINISHED)[:16]


def _is_held(folder: Path) -> bool:
    held = hold(folder)
    if held is not None:
        os.close(held)
    return held is None


def read_record(folder: Path) -> RunRecord | ClosedRecord | None:
    """Return the record in a folder, ``None`` if it cannot be read."""
    path = folder / RECORD_FILE
    return read_artifact(path, RunRecord) or read_artifact(path, ClosedRecord)


def newest_first(runs: Path) -> Iterator[tuple[int, Path, RunRecord | None]]:
    """Yield number, folder and record of each run that was not closed; ``None`` is a record that cannot be read."""
    for seq, folder in reversed(numbered(runs)):
        record = read_record(folder)
        if not isinstance(record, ClosedRecord):
            yield seq, folder, record


def known_runs(runs: Path) -> list[KnownRun]:
    """Return the full runs in ``runs/<class>/``: those with a record in the order of the chain, then the others."""
    folders = [*numbered(runs), *((None, path) for path in sorted(runs.glob(f"{UNFINISHED}*")))]
    found = [
        KnownRun(
            folder=folder,
            seq=seq,
            record=None if seq is None else read_record(folder),
            plan=read_artifact(folder / PLAN_FILE, PlanFile),
        )
        for seq, folder in folders
    ]
    by = {run.plan.resumes.seq: run.folder.name for run in found if run.plan and run.plan.resumes}
    return [replace(run, resumed_by=by.get(run.seq)) if run.seq else run for run in found]


def resumable(runs: Path, wanted: str | Path) -> KnownRun | None:
    """
    Return the run that is to be resumed.

    :param wanted: ``none``; ``auto``, the newest one if it is incomplete; else number or folder of one.
    :raises ArtifactError: there is no such run, or it is not to be resumed.
    """
    if wanted == "none":
        return None
    known = known_runs(runs)
    if wanted == "auto":
        recorded = [run for run in known if run.seq is not None and run.state != "closed"][-1:]
        left = [run for run in known if run.seq is None]
        able = [r for r in (*recorded, *left) if r.plan and r.state in {"incomplete", "unrecorded"}]
        return max(able, key=lambda run: run.stamp, default=None)
    run = chosen(runs, wanted)
    if run.state in {"incomplete", "unrecorded"}:
        return run
    by = f" by {run.resumed_by}" if run.resumed_by else ""
    raise ArtifactError(run.folder, f"cannot be resumed: it is {run.state}{by}")


def chosen(runs: Path, wanted: str | Path) -> KnownRun:
    """
    Return a run by its number or its folder.

    :raises ArtifactError: there is no such run.
    """
    for run in known_runs(runs) if runs.is_dir() else ():
        if str(run.seq) == str(wanted) or _is_at(run.folder, wanted):
            return run
    raise ArtifactError(runs, f"there is no run {str(wanted)!r}; benchgate runs lists them")


def _is_at(folder: Path, wanted: str | Path) -> bool:
    path = Path(wanted)
    return path.name == folder.name and (not path.exists() or path.samefile(folder))
