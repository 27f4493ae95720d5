"""Plays a trial: the output that was recorded, through today's rubric."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from benchgate.errors import SystemUnavailable, Unreadable
from benchgate.trials.executor import TrialRecord
from benchgate.trials.inputs import MODIFIED

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
    """

    runner: TrialRunner
    recording: Recording

    def run(self, request: TrialRequest) -> TrialRecord:
        """Play one trial; it has the duration and the attempts that it had."""
        try:
            file = self.recording.trial(request.case)
        except Unreadable as error:  # changed since the run began
            return replace(self.runner, system=partial(_gone, str(error))).run(request)
        output_json = None if file.output is None else json.dumps(file.output)
        record = TrialRecord(result=file.result, output_json=output_json)
        is_scored = file.result.outcome in {"scored", "rubric_error"} or awaits_score(record)
        return scored_now(self.runner, request, record) if is_scored else record


def awaits_score(record: TrialRecord) -> bool:
    """Whether a system answered, and what scores its outputs was unavailable."""
    return record.result.outcome == "unavailable" and record.output_json is not None


def scored_now(runner: TrialRunner, request: TrialRequest, then: TrialRecord) -> TrialRecord:
    """Score an output as if the system had just returned it; duration and attempts are those that it had."""
    output = json.loads(then.output_json or "null")
    record = replace(runner, system=lambda _: output).run(request)
    now, modes = record.result, then.result.failure_modes
    scoring = {
        "outcome": now.outcome,
        "score": now.score,
        "failure_modes": (*now.failure_modes, *(m for m in modes if m.code == MODIFIED)),
        "detail": now.detail,
    }
    return replace(record, result=then.result.model_copy(update=scoring))


def _gone(why: str, _: object) -> NoReturn:
    raise SystemUnavailable(why)
