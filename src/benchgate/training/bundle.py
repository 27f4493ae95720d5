"""The evidence of one episode, put together and checked as a whole."""

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
    """The evidence of one episode: what happened, what the learner made of it, and of which checkpoint."""

    trajectory: EpisodeTrajectory
    advantages: AdvantageBatch
    checkpoint: CheckpointRecord

    def errors(self) -> Iterator[RlPayloadError]:
        """Yield what is wrong, in fixed order: trajectory, advantages, checkpoint, then what is between them."""
        return chain(
            trajectory_errors(self.trajectory),
            advantage_errors(self.advantages),
            checkpoint_errors(self.checkpoint),
            _cross_errors(self),
        )

    def validate_bundle(self) -> None:
        """
        Check the values of all parts, and that the parts belong together.

        :raises RlPayloadError: the first error of :meth:`collect_errors`; the same input gives the same.
        """
        error = next(self.errors(), None)
        if error is not None:
            raise error

    def collect_errors(self) -> tuple[RlPayloadError, ...]:
        """Return all that is wrong, in fixed order; empty if nothing is."""
        return tuple(self.errors())


def _cross_errors(bundle: RlPayloadBundle) -> Iterator[RlPayloadError]:
    trajectory, batch, checkpoint = bundle.trajectory, bundle.advantages, bundle.checkpoint
    if trajectory.trajectory_id != batch.trajectory_id:
        yield differing(
            TrajectoryIdMismatch,
            ("advantages.trajectory_id", "trajectory.trajectory_id"),
            (batch.trajectory_id, trajectory.trajectory_id),
        )
    steps = len(trajectory.steps)
    if steps != len(batch.advantages):
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
