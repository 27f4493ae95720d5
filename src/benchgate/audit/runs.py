"""The full runs of a class as they lie in ``runs/<class>/``, recorded or not, and which of them can be resumed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchgate.artifacts.reading import read_artifact
from benchgate.artifacts.run_kinds import PlanFile, RunRecord
from benchgate.audit.chain import PLAN_FILE, RECORD_FILE, STAMP, UNFINISHED, numbered
from benchgate.errors import ArtifactError, TaskClassNotFound
from benchgate.wire.holding import is_held

if TYPE_CHECKING:
    from collections.abc import Iterator

State = Literal["complete", "incomplete", "resumed", "unrecorded", "running", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRun:
    """
    A full run, by its folder.

    :param seq: number of its record; ``None`` if it has none.
    :param resumed_by: the folder of the run that completes it.
    """

    folder: Path
    seq: int | None
    record: RunRecord | None
    plan: PlanFile | None
    resumed_by: str | None = None

    @property
    def state(self) -> State:
        """How far it came; ``unrecorded`` is what a killed process leaves."""
        if self.seq is None:
            return "running" if is_held(self.folder) else "unrecorded"
        if self.record is None:
            return "unreadable"
        if self.resumed_by is not None:
            return "resumed"
        return "complete" if self.record.complete else "incomplete"

    @property
    def stamp(self) -> str:
        """When it ended; of one without a record, when it began or was last resumed."""
        if self.record is not None and self.seq is not None:
            return f"{self.record.finished_at:{STAMP}}"
        return self.folder.name.removeprefix(UNFINISHED)[:16]


def read_record(folder: Path) -> RunRecord | None:
    """Return the record in a folder, ``None`` if it cannot be read."""
    return read_artifact(folder / RECORD_FILE, RunRecord)


def newest_first(runs: Path) -> Iterator[tuple[int, Path, RunRecord | None]]:
    """Yield number, folder and record of each run; ``None`` is a record that cannot be read."""
    for seq, folder in reversed(numbered(runs)):
        yield seq, folder, read_record(folder)


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
        recorded = [run for run in known if run.seq is not None][-1:]
        left = [run for run in known if run.seq is None and run.plan and run.state != "running"]
        newest = max((*recorded, *left), key=lambda run: run.stamp, default=None)
        able = newest and newest.plan and newest.state in {"incomplete", "unrecorded"}
        return newest if able else None
    run = chosen(runs, wanted)
    if run.state in {"incomplete", "unrecorded"}:
        return run
    by = f" by {run.resumed_by}" if run.resumed_by else ""
    raise ArtifactError(run.folder, f"cannot be resumed: it is {run.state}{by}")


def class_runs(out: Path, task_class: str | None = None) -> list[Path]:
    """
    Return ``runs/<class>/`` of each class in an output folder, or of one class.

    :raises TaskClassNotFound: there is no run of that class; the error lists the classes that have some.
    """
    runs = out / "runs"
    found = sorted(path for path in runs.iterdir() if path.is_dir()) if runs.is_dir() else []
    if task_class is None:
        return found
    named = [path for path in found if path.name == task_class]
    if not named:
        raise TaskClassNotFound(task_class, [path.name for path in found], runs / task_class)
    return named


def run_in(out: Path, wanted: str | Path, task_class: str | None = None) -> KnownRun:
    """
    Return a run of an output folder by its number or its folder.

    :param task_class: needed if several classes have a run of that number.
    :raises ArtifactError: there is no such run, or several. :raises TaskClassNotFound: as :func:`class_runs`.
    """
    runs = class_runs(out, task_class)
    found = [run for one in runs for run in known_runs(one) if _is_called(run, wanted)]
    if len(found) > 1:
        names = ", ".join(run.folder.parent.name for run in found)
        raise ArtifactError(out, f"several classes have a run {wanted}: {names}; --task-class")
    if not found:
        raise _no_run(out, wanted)
    return found[0]


def chosen(runs: Path, wanted: str | Path) -> KnownRun:
    """
    Return a run by its number or its folder.

    :raises ArtifactError: there is no such run.
    """
    for run in known_runs(runs) if runs.is_dir() else ():
        if _is_called(run, wanted):
            return run
    raise _no_run(runs, wanted)


def _no_run(where: Path, wanted: str | Path) -> ArtifactError:
    return ArtifactError(where, f"there is no run {str(wanted)!r}; benchgate runs lists them")


def _is_called(run: KnownRun, wanted: str | Path) -> bool:
    path = Path(wanted)
    if str(run.seq) == str(wanted):
        return True
    return path.name == run.folder.name and (not path.exists() or path.samefile(run.folder))
