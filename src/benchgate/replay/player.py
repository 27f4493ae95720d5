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
        then, output = file.result, file.output
        if then.outcome not in {"scored", "rubric_error"}:
            output_json = None if output is None else json.dumps(output)
            return TrialRecord(result=then, output_json=output_json)
        record = replace(self.runner, system=lambda _: output).run(request)
        now = record.result
        modified = tuple(mode for mode in then.failure_modes if mode.code == MODIFIED)
        scoring = {
            "outcome": now.outcome,
            "score": now.score,
            "failure_modes": (*now.failure_modes, *modified),
            "detail": now.detail,
        }
        return replace(record, result=then.model_copy(update=scoring))


def _gone(why: str, _: object) -> NoReturn:
    raise SystemUnavailable(why)
