"""The outputs of the systems as a report shows them: the beginning of each, and how it differs from the baseline's."""

from __future__ import annotations

import difflib
import json
import os
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.trial_kinds import TrialFile
from benchgate.audit.runs import read_record
from benchgate.errors import Unreadable, counted
from benchgate.gates.run_side import BaselineFacts
from benchgate.ids import trial_file_name
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.models import Side
    from benchgate.report.history import PastRun

MAX_SHOWN: Final = 50
"""Cases of which inputs and outputs are shown, so that a page opens at once; of others their files are named."""
MAX_CHARACTERS: Final = 8 * 1024
"""Of an output, and of a difference."""
MAX_FILE: Final = 16 * 1024 * 1024
"""Bytes of a file of a trial that is read at all."""
MAX_LINES: Final = 1000
"""Lines of each output that are compared: comparing takes the square of their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputView:
    """
    What is shown of the output of a trial.

    :param file: where all of it is, relative to the folder of the run.
    :param text: its beginning as JSON; ``None`` if it is not shown, and ``note`` says why.
    :param difference: lines of a unified diff from the baseline's output, each with its sign; empty if there is none.
    """

    file: str
    text: str | None = None
    note: str = ""
    difference: Sequence[str] = ()
    difference_note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """
    Reads outputs of a run from its folder.

    :param digests: of the files of the trials, from the record; a file that is another is not shown.
    :param before: folder and digests of the run that was the baseline, if its files are in reach.
    """

    folder: Path | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    before: tuple[Path, Mapping[str, str]] | None = None
    before_side: Side = "candidate"

    def of(self, case_id: str, trial: int, *, has_room: bool) -> OutputView:
        """
        Return what is shown of a trial's output.

        :param has_room: fewer than :data:`MAX_SHOWN` cases come before it.
        """
        name = trial_file_name(case_id, trial)
        file = f"cases/{name}"
        if self.folder is None:
            return OutputView(file=file, note="none is recorded")
        if name not in self.digests or "/" in name:
            return OutputView(file=file, note="the record names no file of this trial")
        if not has_room:
            note = f"left out for the size of this page; it is in {file}"
            return OutputView(file=file, note=note)
        try:
            output = _read(self.folder / file, self.digests[name])
        except Unreadable as error:
            return OutputView(file=file, note=f"{file}: {error.why}")
        lines, note = self._difference(trial_file_name(case_id, trial, self.before_side), output)
        text = output[:MAX_CHARACTERS]
        more = len(output) - len(text)
        if more:
            text += f"\n... {more} characters more in {file}"
        return OutputView(file=file, text=text, difference=lines, difference_note=note)

    def _difference(self, name: str, output: str) -> tuple[list[str], str]:
        """Return the lines of a unified diff from the baseline's output, and what is to be said of them."""
        if self.before is None:
            return [], ""
        folder, digests = self.before
        try:
            other = _read(folder / "cases" / name, digests.get(name))
        except Unreadable as error:
            return [], f"The baseline's output: {error.why}."
        if other == output:
            return [], "The baseline's output is the same."
        return difference(other, output)


def difference(before: str, after: str) -> tuple[list[str], str]:
    """Return the lines of a unified diff of two texts that differ, and what is to be said of them."""
    old = before.split("\n", MAX_LINES)[:MAX_LINES]
    new = after.split("\n", MAX_LINES)[:MAX_LINES]
    # Without the two lines that would name the files.
    lines = list(islice(difflib.unified_diff(old, new, lineterm="", n=2), 2, None))
    if not lines:
        return [], f"The outputs differ only after their first {MAX_LINES} lines."
    cut = [line[:400] for line in lines]
    sizes = accumulate(len(line) + 1 for line in cut)
    shown = [line for line, size in zip(cut, sizes, strict=True) if size <= MAX_CHARACTERS]
    left = len(lines) - len(shown)
    if not left:
        return shown, ""
    return shown, f"{counted(left, 'line')} more"


def _read(path: Path, sha256: str | None) -> str:
    if os.path.islink(path):
        raise Unreadable(path, "is a symlink")
    data = read_bytes(path, limit=MAX_FILE)
    if sha256_hex(data) != sha256:
        raise Unreadable(path, "is not the file that was recorded")
    output: Any = TrialFile.parse(path, data, "file of a trial").output
    return json.dumps(output, indent=1, ensure_ascii=False)


def pinned_run(
    record: RunRecord | None, history: Sequence[PastRun]
) -> tuple[Path, RunRecord] | None:
    """Return the run that was the pinned baseline of another, if it lies in the same store."""
    if record is None or not isinstance(record.baseline, BaselineFacts):
        return None
    if record.baseline.run is None:
        return None
    wanted = record.baseline.run.run_id
    # The newest: the records of one run id have equal results, and its outputs are as good as any other's.
    for run in reversed(history):
        if run.record.report.run_id != wanted:
            continue
        past = read_record(run.folder)
        if past is not None:
            return run.folder, past
    return None


def outputs_of(
    folder: Path | None, record: RunRecord | None, before: tuple[Path, RunRecord] | None
) -> Outputs:
    """Return what reads the outputs of a run, and those of its baseline, which may be a run of the same store."""
    if folder is None or record is None:
        return Outputs()
    outputs = Outputs(folder=folder, digests=record.case_files)
    if record.rerun is not None:
        return replace(outputs, before=(folder, record.case_files), before_side="baseline")
    if before is None:
        return outputs
    return replace(outputs, before=(before[0], before[1].case_files))
