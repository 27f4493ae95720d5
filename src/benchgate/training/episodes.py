"""
What is compared between the RL payloads of a run: a payload may be valid, and still not fit the other trials.

The steps themselves are not kept, because a run may have thousands of episodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from benchgate.wire.canonical import digest
from benchgate.wire.model import Count, Sha256, Text, WireModel


class Episode(WireModel):
    """
    The episode in the RL payload of a trial.

    :param case_id: of which case the trial is, and ``trial`` its number.
    :param has_advantages: a learner computed some.
    :param trajectory_id: as the payload has it; empty if it has none.
    :param length: number of steps.
    :param goes_on_after: index of the first step that ended the episode though another follows, if there is one.
    :param ends: the last step ended it.
    :param steps: digest of all steps, which is the same whether they come from a system or from a record.
    """

    case_id: Text
    trial: Count
    has_advantages: bool
    trajectory_id: Text
    length: Count
    goes_on_after: Count | None
    ends: bool
    steps: Sha256

    @classmethod
    def of(cls, case_id: str, trial: int, output: Any) -> Self | None:
        """Return that of a scored output; ``None`` if it has no payload."""
        if not isinstance(output, Mapping) or not isinstance(output.get("rl_payload"), Mapping):
            return None
        payload = output["rl_payload"]
        trajectory = payload.get("trajectory") or {}
        steps = trajectory.get("steps") or []
        done = [isinstance(step, Mapping) and step.get("done") is True for step in steps]
        goes_on_after = None
        if True in done[:-1]:
            goes_on_after = done.index(True)
        return cls(
            case_id=case_id,
            trial=trial,
            has_advantages=payload.get("advantages") is not None,
            trajectory_id=str(trajectory.get("trajectory_id") or ""),
            length=len(done),
            goes_on_after=goes_on_after,
            ends=done[-1:] == [True],
            steps=digest(steps),
        )

    @property
    def name(self) -> str:
        """The case id, and the number of a trial that is not the first."""
        if not self.trial:
            return self.case_id
        return f"{self.case_id}-t{self.trial}"
