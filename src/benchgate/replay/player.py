"""Plays a trial: the output that was recorded, through today's rubric."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from benchgate.errors import SystemUnavailable, Unreadable
from benchgate.ids import run_id
from benchgate.trials.executor import TrialRecord
from benchgate.trials.observing import first_seen

if TYPE_CHECKING:
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
    """

    runner: TrialRunner
    recording: Recording
    scorer: str

    def run(self, request: TrialRequest) -> TrialRecord:
        """Play one trial; it has the duration and the attempts that it had."""
        if request.then is not None:  # its output is observed
            return self.runner.run(request)
        try:
            file = self.recording.trial(request.case)
        except Unreadable as error:  # changed since the run began
            return replace(self.runner, system=partial(_gone, str(error))).run(request)
        output_json = None if file.output is None else json.dumps(file.output)
        seen = tuple(map(json.dumps, file.observations))
        record = TrialRecord(result=file.result, output_json=output_json, observations=seen)
        is_scored = file.result.outcome in {"scored", "rubric_error"} or awaits_score(record)
        if not is_scored:
            return record
        if not self.recording.source.observed:
            request.so_far.append(record)
            again, then = self.runner.run(request), file.result
            is_same = run_id("", [then]) == run_id("", [again.result]) or file.scorer != self.scorer
            differs = then.outcome == "scored" and not (is_same or then.left_files)
            return replace(again, result=again.result.model_copy(update={"differs": differs}))
        anew = {"observed": first_seen(record.output_json or ""), "http_sha256": None}
        kept = replace(record, result=record.result.model_copy(update=anew), observations=())
        return kept.unobserved("not observed yet", goes_on=True)


def awaits_score(record: TrialRecord) -> bool:
    """Whether a system answered, and what scores its outputs was unavailable."""
    return record.result.outcome == "unavailable" and record.output_json is not None


def _gone(why: str, _: object) -> NoReturn:
    raise SystemUnavailable(why)
