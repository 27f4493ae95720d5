"""The file of each trial of a full run: on disk as soon as the trial is finished, and found there by who resumes."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.aggregate import cost_of
from benchgate.artifacts.run_kinds import TrialFile
from benchgate.audit.chain import PLAN_FILE
from benchgate.audit.unfinished import read_trial, write_trial
from benchgate.errors import ArtifactError, Unreadable
from benchgate.ids import trial_file_name
from benchgate.trials.executor import TrialRecord
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.models import Side
    from benchgate.trials.executor import TrialRequest


@dataclass(frozen=True, slots=True)
class TrialFiles:
    """
    The files of one class's trials in the folder that its run has until it is recorded.

    Whoever finished a trial writes its file, in a worker too: it may wait long until it is reported.

    :param scorer: digest of what scores.
    """

    folder: Path
    task_class: str
    scorer: str

    def keep(self, record: TrialRecord, side: Side) -> TrialRecord:
        """Write the file of a finished trial; if that fails, the process that judges tries again and says why."""
        if record.result.outcome == "not_run":
            return record
        sha256 = None
        with suppress(ArtifactError):
            own = (self.folder, self.task_class, record.result, record.output_json, self.scorer)
            seen, worker = record.observations, record.worker
            sha256 = write_trial(*own, side=side, worker=worker, observations=seen)
        return replace(record, scorer=self.scorer, file_sha256=sha256)

    def find(self, case_id: str, trial: int, seed: int, side: Side) -> TrialRecord | None:
        """Return a trial that is finished already, in the run that is resumed or by a worker that died."""
        path = f"{self.folder}/cases/{trial_file_name(case_id, trial, side)}"
        key = case_id, trial, seed
        read = read_trial(path, self.task_class, key) if os.path.exists(path) else None
        if read is None:
            return None
        file, data = read
        return TrialRecord(
            result=file.result,
            output_json=None if file.output is None else json.dumps(file.output),
            scorer=file.scorer,
            file_sha256=sha256_hex(data),
            worker=file.worker,
            observations=tuple(map(json.dumps, file.observations)),
        )

    def of(self, request: TrialRequest) -> TrialRecord | None:
        """Return a finished trial by its request."""
        case = request.case
        return self.find(case.case_id, case.trial, case.seed, request.side)


def taken_over(folder: Path, *, own: bool = False) -> Iterator[float]:
    """
    Yield what the trials have cost that a run took over from another: their files are older than its plan.

    :param own: the trials of the run itself too.
    """
    plan = folder / PLAN_FILE
    begun = plan.stat().st_mtime_ns if plan.exists() else 0
    for path in (folder / "cases").glob("*.json"):
        with suppress(Unreadable):
            is_older = own or path.stat().st_mtime_ns <= begun
            if (
                is_older
                and (cost := cost_of(TrialFile.read_file(path, "trial").result)) is not None
            ):
                yield cost
