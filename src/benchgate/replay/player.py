"""Plays a trial: the output that was recorded, through today's rubric."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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

    def begun(self, request: TrialRequest) -> TrialRequest | TrialRecord:
        """Return what is left to run of a trial, whose output was recorded; or its record, if there is nothing."""
        try:
            file, _ = self.recording.results.read(request.key)
        except Unreadable as error:  # changed since the run began
            result = request.result("unavailable", detail=str(error))
            return TrialRecord(result=result, output_json=None, retry_after=math.inf)
        record = replace(record_of(file), worker=None)  # that was of then
        if file.result.outcome not in {"scored", "rubric_error"} and not record.awaits_score:
            return replace(record, scorer=None)
        if self.recording.is_observed_again:
            anew: dict[str, Any] = {"observed": self._known(file), "http_sha256": None}
            anew |= {"outcome": "unavailable", "score": None}  # it is not scored yet
            result = record.result.model_copy(update=anew)
            record = replace(record, result=result, observations=())
        return request.after(record)

    def run(self, request: TrialRequest) -> TrialRecord:
        """Observe and score what was recorded of a trial; it has the duration and the attempts that it had."""
        again, played = self.runner.run(request), request.then
        if played is None or played.result.outcome != "scored":
            return again
        then = played.result
        if then.left_files:
            return again
        is_same = run_id("", [then]) == run_id("", [again.result]) or played.scorer != self.scorer
        return replace(again, result=again.result.model_copy(update={"differs": not is_same}))

    def _known(self, file: TrialFile) -> Observed | None:
        """Return what the same observer and rubric said of an output that is observed again."""
        seen, then = file.result.observed, (self.recording.manifest.observer, file.scorer)
        if seen is None or then != (self.observer, self.scorer):
            return None
        return Observed(output=seen.output, before=file.result.verdicts())
