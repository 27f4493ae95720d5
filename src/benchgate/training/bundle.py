"""The bundle of trajectory, advantages and checkpoint, and the checks of their values, always in the same order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchgate.training.errors import RlPayloadError, fault
from benchgate.training.payloads import (
    PAYLOAD_VERSION,
    AdvantageBatch,
    CheckpointRecord,
    EpisodeTrajectory,
    Payload,
)

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
        yield from trajectory_errors(self.trajectory)
        if self.advantages is not None:
            yield from advantage_errors(self.advantages)
        yield from checkpoint_errors(self.checkpoint)
        yield from self._cross_errors()

    def validate_bundle(self) -> None:
        """
        Check the values of all parts, and that the parts belong together.

        :raises RlPayloadError: the first error of :meth:`collect_errors`.
        """
        for error in self.errors():
            raise error

    def collect_errors(self) -> tuple[RlPayloadError, ...]:
        """Return all errors in the order of :meth:`errors`, to show a person; empty if the bundle is valid."""
        return tuple(self.errors())

    def _cross_errors(self) -> Iterator[RlPayloadError]:
        trajectory_id = self.trajectory.trajectory_id
        steps = len(self.trajectory.steps)
        if self.advantages is not None:
            ids = {
                "advantages.trajectory_id": self.advantages.trajectory_id,
                "trajectory.trajectory_id": trajectory_id,
            }
            if self.advantages.trajectory_id != trajectory_id:
                yield fault("trajectory_id_mismatch", ids)
            count = len(self.advantages.advantages)
            if count != steps:
                counts = {"len(advantages.advantages)": count, "len(trajectory.steps)": steps}
                yield fault("step_count_mismatch", counts)
        step = self.checkpoint.global_step
        if step < steps:
            counts = {"checkpoint.global_step": step, "len(trajectory.steps)": steps}
            yield fault("checkpoint_behind_trajectory", counts, "expected at least")


def trajectory_errors(trajectory: EpisodeTrajectory) -> Iterator[RlPayloadError]:
    """Yield the errors within a trajectory."""
    yield from _head_errors(trajectory, "trajectory", ("trajectory_id", "rollout_id", "episode_id"))
    yield from _empty_errors(trajectory, "trajectory", ("steps",))
    expected = 0
    for at, step in enumerate(trajectory.steps):
        index = step.step_index
        if index != expected:
            field = f"trajectory.steps[{at}].step_index"
            yield fault("step_index_gap", {field: index}, f"expected {expected}")
        expected = index + 1  # so that a gap is reported once, not for all later steps
    discount = trajectory.discount_factor
    if math.isfinite(discount) and not 0 <= discount <= 1:
        yield fault(
            "discount_out_of_range", {"trajectory.discount_factor": discount}, "expected [0, 1]"
        )
    for at, step in enumerate(trajectory.steps):
        parts = ("observation", "action", "reward", "logprob", "value_estimate")
        yield from _number_errors(step, f"trajectory.steps[{at}]", parts)
    rest = ("discount_factor", "total_return", "metadata")
    yield from _number_errors(trajectory, "trajectory", rest)


def advantage_errors(batch: AdvantageBatch) -> Iterator[RlPayloadError]:
    """Yield the errors within an advantage batch."""
    yield from _head_errors(batch, "advantages", ("batch_id", "trajectory_id"))
    yield from _empty_errors(batch, "advantages", ("advantages", "returns"))
    parts = ("advantages", "returns", "value_targets", "metadata")
    yield from _number_errors(batch, "advantages", parts)
    expected = len(batch.advantages)
    for part in ("returns", "value_targets"):
        count = len(getattr(batch, part))
        if count not in (0, expected):  # empty returns are an EmptyVector already
            counts = {f"len(advantages.{part})": count, "len(advantages.advantages)": expected}
            yield fault("vector_length_mismatch", counts)


def checkpoint_errors(record: CheckpointRecord) -> Iterator[RlPayloadError]:
    """Yield the errors within a checkpoint record."""
    yield from _head_errors(record, "checkpoint", ("checkpoint_id",))
    yield from _blank_errors("blank_name", record, "checkpoint", ("algorithm", "policy_version"))
    yield from _number_errors(record, "checkpoint", ("mean_reward", "metadata"))


def _head_errors(
    part: EpisodeTrajectory | AdvantageBatch | CheckpointRecord, name: str, ids: tuple[str, ...]
) -> Iterator[RlPayloadError]:
    if part.schema_version != PAYLOAD_VERSION:
        version = {f"{name}.schema_version": part.schema_version}
        yield fault("unsupported_schema_version", version, f"expected {PAYLOAD_VERSION}")
    yield from _blank_errors("empty_identifier", part, name, ids)


def _blank_errors(
    code: str, part: Payload, name: str, keys: tuple[str, ...]
) -> Iterator[RlPayloadError]:
    for key in keys:
        text = getattr(part, key)
        if text is not None and not text.strip():
            yield fault(code, {f"{name}.{key}": text}, "expected text")


def _empty_errors(part: Payload, name: str, vectors: tuple[str, ...]) -> Iterator[RlPayloadError]:
    for vector in vectors:
        if not getattr(part, vector):
            yield fault("empty_vector", {f"{name}.{vector}": ()}, "expected at least one entry")


def _number_errors(part: Payload, name: str, fields: tuple[str, ...]) -> Iterator[RlPayloadError]:
    for field in fields:
        yield from _non_finite(getattr(part, field), f"{name}.{field}")


def _non_finite(value: Any, field: str) -> Iterator[RlPayloadError]:
    """Yield an error for each NaN or infinity in a JSON value, depth first, keys in sorted order."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield fault("non_finite_number", {field: value}, "expected a finite number")
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from _non_finite(value[key], f"{field}.{key}")
    elif isinstance(value, tuple):
        for at, item in enumerate(value):
            yield from _non_finite(item, f"{field}[{at}]")
