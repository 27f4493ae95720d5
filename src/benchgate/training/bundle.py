"""The bundle of trajectory, advantages and checkpoint, and the checks across its parts."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from benchgate.training.checks import (
    advantage_errors,
    checkpoint_errors,
    differing,
    trajectory_errors,
)
from benchgate.training.errors import (
    CheckpointBehindTrajectory,
    RlPayloadError,
    StepCountMismatch,
    TrajectoryIdMismatch,
)
from benchgate.training.payloads import AdvantageBatch, CheckpointRecord, EpisodeTrajectory, Payload

if TYPE_CHECKING:
    from collections.abc import Iterator


class RlPayloadBundle(Payload):
    """
    The evidence of one episode.

    :param trajectory: its steps.
    :param advantages: what a learner computed from them; ``None`` if nobody did, as in an evaluation.
    :param checkpoint: the policy that acted.
    """

    trajectory: EpisodeTrajectory
    advantages: AdvantageBatch | None = None
    checkpoint: CheckpointRecord

    def errors(self) -> Iterator[RlPayloadError]:
        """Yield all errors in fixed order: of trajectory, advantages and checkpoint, then between these parts."""
        return chain(
            trajectory_errors(self.trajectory),
            advantage_errors(self.advantages) if self.advantages else (),
            checkpoint_errors(self.checkpoint),
            _cross_errors(self),
        )

    def validate_bundle(self) -> None:
        """
        Check the values of all parts, and that the parts belong together.

        :raises RlPayloadError: the first error of :meth:`collect_errors`.
        """
        error = next(self.errors(), None)
        if error is not None:
            raise error

    def collect_errors(self) -> tuple[RlPayloadError, ...]:
        """Return all errors in the order of :meth:`errors`, to show a person; empty if the bundle is valid."""
        return tuple(self.errors())


def _cross_errors(bundle: RlPayloadBundle) -> Iterator[RlPayloadError]:
    trajectory, batch, checkpoint = bundle.trajectory, bundle.advantages, bundle.checkpoint
    if batch is not None and trajectory.trajectory_id != batch.trajectory_id:
        yield differing(
            TrajectoryIdMismatch,
            ("advantages.trajectory_id", "trajectory.trajectory_id"),
            (batch.trajectory_id, trajectory.trajectory_id),
        )
    steps = len(trajectory.steps)
    if batch is not None and steps != len(batch.advantages):
        yield differing(
            StepCountMismatch,
            ("len(advantages.advantages)", "len(trajectory.steps)"),
            (len(batch.advantages), steps),
        )
    if checkpoint.global_step < steps:
        yield differing(
            CheckpointBehindTrajectory,
            ("checkpoint.global_step", "len(trajectory.steps)"),
            (checkpoint.global_step, steps),
            "expected at least",
        )
