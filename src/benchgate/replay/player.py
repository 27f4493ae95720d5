"""Plays a trial: the output that was recorded, through today's rubric."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.errors import Unreadable
from benchgate.ids import run_id
from benchgate.models import Observed
from benchgate.results.folder import record_of
from benchgate.trials.executor import TrialRecord

if TYPE_CHECKING:
    from benchgate.artifacts.run_kinds import TrialFile
    from benchgate.models import Observer
    from benchgate.replay.recording import Recording
    from benchgate.trials.executor import TrialRequest
    from benchgate.trials.trial import TrialRunner


@dataclass(frozen=True, slots=True)
class Player:
    """
    Runs trials by what was recorded of them.

    An output is scored as if the system had just returned it. What failed before it was scored comes back as it was.

    :param runner: of the class; its system is not called.
    :param scorer: digest of what scores now.
    :param observer: what observes now.
    """

    runner: TrialRunner
    recording: Recording
    scorer: str
    observer: Observer | None

    def run(self, request: TrialRequest) -> TrialRecord:
        """Play one trial; it has the duration and the attempts that it had."""
        if request.then is not None:  # its output is observed
            return self.runner.run(request)
        try:
            file, _ = self.recording.results.read(request.key)
        except Unreadable as error:  # changed since the run began
            result = request.result("unavailable", detail=str(error))
            return TrialRecord(result=result, output_json=None, retry_after=math.inf)
        record = replace(record_of(file), scorer=None, worker=None)  # those were of then
        if file.result.outcome not in {"scored", "rubric_error"} and not record.awaits_score:
            return record
        is_observed_again = self.recording.is_observed_again
        if is_observed_again:
            anew = {"observed": self._known(file), "http_sha256": None}
            result = record.result.model_copy(update=anew)
            record = replace(record, result=result, observations=())
        request.so_far.append(record)
        again, then = self.runner.run(request), file.result
        if is_observed_again or then.outcome != "scored" or then.left_files:
            return again
        is_same = run_id("", [then]) == run_id("", [again.result]) or file.scorer != self.scorer
        return replace(again, result=again.result.model_copy(update={"differs": not is_same}))

    def _known(self, file: TrialFile) -> Observed | None:
        """Return what the same observer and rubric said of an output that is observed again."""
        seen, then = file.result.observed, (self.recording.manifest.observer, file.scorer)
        if seen is None or then != (self.observer, self.scorer):
            return None
        return Observed(output=seen.output, before=file.result.verdicts())
