"""The full runs of a class as they lie in ``runs/<class>/``, recorded or not, and which of them can be resumed."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from benchgate.aggregate import outputs_digest
from benchgate.artifacts.trial_kinds import PlanFile
from benchgate.audit.chain import LEFT_BY, PLAN_FILE, RECORD_FILE, UNFINISHED, numbered
from benchgate.errors import ArtifactError, TaskClassNotFound
from benchgate.models import Part
from benchgate.wire.holding import is_held

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.artifacts.run_kinds import RunRecord

State = Literal["complete", "incomplete", "resumed", "unrecorded", "running", "unreadable"]
RESUMABLE: Final = frozenset({"incomplete", "unrecorded"})


@dataclass(frozen=True, kw_only=True)
class KnownRun:
    """
    A full run, by its folder.

    :param seq: number of its record; ``None`` if it has none.
    :param resumed_by: the folder of the run that completes it.
    """

    folder: Path
    seq: int | None
    plan: PlanFile | None
    resumed_by: str | None = None

    @cached_property
    def record(self) -> RunRecord | None:
        """The record, read when it is first asked for; ``None`` if there is none or it cannot be read."""
        if self.seq is None:
            return None
        return read_record(self.folder)

    @property
    def state(self) -> State:
        """How far it came; ``unrecorded`` is what a killed process leaves."""
        if self.seq is None and is_held(self.folder):
            return "running"
        if self.seq is None:
            return "unrecorded"
        if self.record is None:
            return "unreadable"
        if self.resumed_by is not None:
            return "resumed"
        if self.record.complete:
            return "complete"
        return "incomplete"

    @property
    def stamp(self) -> str:
        """When it ended; of one without a record, when it began or was last resumed."""
        name = LEFT_BY.sub(UNFINISHED, self.folder.name)
        return name.partition("-")[2][:16]

    @property
    def left_by(self) -> str | None:
        """The command that made it and was killed, or still runs; ``None`` for a session and for a record."""
        match = LEFT_BY.match(self.folder.name)
        if match is None:
            return None
        return match[1]


def read_record(folder: Path) -> RunRecord | None:
    """Return the record in a folder, ``None`` if it cannot be read."""
    from benchgate.artifacts.run_kinds import RunRecord

    return RunRecord.read_or_none(folder / RECORD_FILE)


def parts_of(folder: Path) -> tuple[Part, ...]:
    """Return what a run was extended from that extends the one in a folder; errors as of reading its record."""
    from benchgate.artifacts.run_kinds import RunRecord

    record, sha256 = RunRecord.read_digested(folder / RECORD_FILE, "record")
    at = outputs_digest(record.report) or record.report.run_id
    last = Part(sha256=sha256, finished_at=record.finished_at, counted_by=at)
    return (*record.report.parts, last)


def known_runs(runs: Path) -> list[KnownRun]:
    """Return the full runs in ``runs/<class>/``: those with a record in the order of the chain, then the others."""
    folders: list[tuple[int | None, Path]] = [*numbered(runs)]
    folders += [(None, path) for path in sorted(runs.glob(f"{UNFINISHED}*")) if path.is_dir()]
    plans = [PlanFile.read_or_none(folder / PLAN_FILE) for _, folder in folders]
    by: dict[int | None, str] = {
        plan.resumes.seq: folder.name
        for plan, (_, folder) in zip(plans, folders, strict=True)
        if plan and plan.resumes and plan.resumes.seq
    }
    return [
        KnownRun(folder=folder, seq=seq, plan=plan, resumed_by=by.get(seq))
        for plan, (seq, folder) in zip(plans, folders, strict=True)
    ]


def resumable(runs: Path, wanted: str | Path) -> KnownRun | None:
    """
    Return the run that is to be resumed.

    :param wanted: ``none``; ``auto``, the newest one if it is incomplete; else number or folder of one.
    :raises ArtifactError: there is no such run, or it is not to be resumed.
    """
    if wanted == "none":
        return None
    if wanted == "auto":
        return _newest_resumable(runs)
    run = chosen(runs, [runs], wanted)
    if run.left_by is not None:
        why = f"benchgate {run.left_by} left it, which called no system: type that command again"
        raise ArtifactError(run.folder, f"cannot be resumed: {why}")
    if run.state in RESUMABLE:
        return run
    why = f"it is {run.state}"
    if run.resumed_by is not None:
        why += f" by {run.resumed_by}"
    raise ArtifactError(run.folder, f"cannot be resumed: {why}")


def _newest_resumable(runs: Path) -> KnownRun | None:
    """Return the newest run if it can be resumed: a newer one that is complete leaves nothing to resume."""
    every = known_runs(runs)
    candidates = [run for run in every if run.seq is not None][-1:]
    for run in every:
        # Without a plan nobody knows what was to run; what a command left calls no system.
        if run.seq is None and run.left_by is None and run.plan and run.state != "running":
            candidates.append(run)
    newest = max(candidates, key=lambda run: run.stamp, default=None)
    if newest is None or newest.plan is None or newest.state not in RESUMABLE:
        return None
    return newest


def pin_command(folder: Path, seq: int | None, here: Path) -> str:
    """Return the command that makes a run the baseline; empty for one without a number."""
    if seq is None:
        return ""
    return f"benchgate pin {_number(folder, seq, here)} --yes"


def page_command(folder: Path, seq: int | None, here: Path) -> str:
    """Return the command that writes the page of a run; empty for one without a number."""
    if seq is None:
        return ""
    return f"benchgate report {_number(folder, seq, here)} --html page.html"


def _number(folder: Path, seq: int, here: Path) -> str:
    """Return the number of a run, with the options that a command needs to find it."""
    runs = folder.parent
    out = runs.parent.parent  # OUT/runs/<class>/<run>
    words = [str(seq)]
    if len(class_runs(out)) > 1:
        words += ["--task-class", runs.name]
    if out.absolute() != here.absolute() / ".benchgate":
        words += ["--out", shlex.quote(os.path.relpath(out, here))]
    return " ".join(words)


def class_runs(out: Path, task_class: str | None = None) -> list[Path]:
    """
    Return ``runs/<class>/`` of each class in an output folder, or of one class.

    :raises TaskClassNotFound: there is no run of that class; the error lists the classes that have some.
    """
    runs = out / "runs"
    folders: list[Path] = []
    if runs.is_dir():
        folders = sorted(path for path in runs.iterdir() if path.is_dir())
    if task_class is None:
        return folders
    named = [path for path in folders if path.name == task_class]
    if not named:
        raise TaskClassNotFound(task_class, [path.name for path in folders], runs / task_class)
    return named


def chosen(where: Path, classes: Iterable[Path], wanted: str | Path) -> KnownRun:
    """
    Return a run by its number or its folder.

    :param where: what errors name.
    :param classes: ``runs/<class>/`` of each class that it may be of.
    :raises ArtifactError: there is no such run, or several classes have one.
    """
    folders = [runs for runs in classes if runs.is_dir()]
    named = [run for runs in folders for run in known_runs(runs) if _is_called(run, wanted)]
    if not named:
        why = f"there is no run {str(wanted)!r}; benchgate runs lists them"
        raise ArtifactError(where, why)
    if len(named) > 1:
        names = ", ".join(run.folder.parent.name for run in named)
        raise ArtifactError(where, f"several classes have a run {wanted}: {names}; name the class")
    return named[0]


def run_of_class(out: Path | None, task_class: str, wanted: str | Path) -> KnownRun:
    """Return a run of one class; errors as in :func:`chosen`, and without an output folder."""
    if out is None:
        raise ArtifactError(f"run {wanted}", "is found in an output folder only: give one")
    runs = out / "runs" / task_class
    return chosen(runs, [runs], wanted)


def record_path(word: str, out: Path, task_class: str | None = None) -> Path:
    """Return the record of a run that a number names, else the path that the word is: ``./1`` is a file."""
    if not word.isdecimal():
        return Path(word)
    return chosen(out, class_runs(out, task_class), word).folder / RECORD_FILE


def _is_called(run: KnownRun, wanted: str | Path) -> bool:
    path = Path(wanted)
    if str(wanted).isdecimal():
        return run.seq == int(str(wanted))
    return path.name == run.folder.name and (not path.exists() or path.samefile(run.folder))
