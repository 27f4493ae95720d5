"""Checks of the values in each part of an RL payload. Their order is fixed, so the first error is always the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from benchgate.training.errors import (
    BlankName,
    DiscountOutOfRange,
    EmptyIdentifier,
    EmptyVector,
    NonFiniteNumber,
    RlPayloadError,
    StepIndexGap,
    UnsupportedSchemaVersion,
    VectorLengthMismatch,
)
from benchgate.training.payloads import PAYLOAD_VERSION

if TYPE_CHECKING:
    from benchgate.training.payloads import (
        AdvantageBatch,
        CheckpointRecord,
        EpisodeTrajectory,
        TrajectoryStep,
    )


def trajectory_errors(
    trajectory: EpisodeTrajectory, name: str = "trajectory"
) -> Iterator[RlPayloadError]:
    """Yield the errors within a trajectory; ``name`` starts the paths of its fields."""
    yield from _head_errors(trajectory, name, ("trajectory_id", "rollout_id", "episode_id"))
    yield from _empty_errors(trajectory, name, ("steps",))
    yield from _index_errors(trajectory.steps, name)
    discount = trajectory.discount_factor
    field = f"{name}.discount_factor"
    if math.isfinite(discount) and not 0 <= discount <= 1:
        yield DiscountOutOfRange(f"{field} is {discount!r}; expected [0, 1]", (field,), (discount,))
    for at, step in enumerate(trajectory.steps):
        for part in ("observation", "action", "reward", "logprob", "value_estimate"):
            yield from _number_errors(getattr(step, part), f"{name}.steps[{at}].{part}")
    for part in ("discount_factor", "total_return", "metadata"):
        yield from _number_errors(getattr(trajectory, part), f"{name}.{part}")


def advantage_errors(batch: AdvantageBatch, name: str = "advantages") -> Iterator[RlPayloadError]:
    """Yield the errors within an advantage batch."""
    yield from _head_errors(batch, name, ("batch_id", "trajectory_id"))
    yield from _empty_errors(batch, name, ("advantages", "returns"))
    for part in ("advantages", "returns", "value_targets", "metadata"):
        yield from _number_errors(getattr(batch, part), f"{name}.{part}")
    expected = len(batch.advantages)
    for part in ("returns", "value_targets"):
        found = len(getattr(batch, part))
        if found not in (0, expected):  # empty returns are an EmptyVector already
            yield differing(
                VectorLengthMismatch,
                (f"len({name}.{part})", f"len({name}.advantages)"),
                (found, expected),
            )


def checkpoint_errors(
    record: CheckpointRecord, name: str = "checkpoint"
) -> Iterator[RlPayloadError]:
    """Yield the errors within a checkpoint record."""
    yield from _head_errors(record, name, ("checkpoint_id",))
    for part in ("algorithm", "policy_version"):
        yield from _blank_errors(BlankName, getattr(record, part), f"{name}.{part}")
    for part in ("mean_reward", "metadata"):
        yield from _number_errors(getattr(record, part), f"{name}.{part}")


def differing(
    kind: type[RlPayloadError],
    fields: tuple[str, str],
    values: tuple[Any, Any],
    expectation: str = "expected that of",
) -> RlPayloadError:
    """Return the error of a field whose value does not match that of another field."""
    message = f"{fields[0]} is {values[0]!r}; {expectation} {fields[1]}, {values[1]!r}"
    return kind(message, fields, values)


def _head_errors(
    part: EpisodeTrajectory | AdvantageBatch | CheckpointRecord, name: str, ids: tuple[str, ...]
) -> Iterator[RlPayloadError]:
    version = part.schema_version
    if version != PAYLOAD_VERSION:
        field = f"{name}.schema_version"
        message = f"{field} is {version}; expected {PAYLOAD_VERSION}"
        yield UnsupportedSchemaVersion(message, (field,), (version,))
    for key in ids:
        yield from _blank_errors(EmptyIdentifier, getattr(part, key), f"{name}.{key}")


def _blank_errors(
    kind: type[RlPayloadError], text: str | None, field: str
) -> Iterator[RlPayloadError]:
    if text is not None and not text.strip():
        yield kind(f"{field} is {text!r}; expected text", (field,), (text,))


def _empty_errors(part: object, name: str, vectors: tuple[str, ...]) -> Iterator[RlPayloadError]:
    for vector in vectors:
        if not getattr(part, vector):
            field = f"{name}.{vector}"
            yield EmptyVector(f"{field} is []; expected at least one entry", (field,), ((),))


def _index_errors(steps: tuple[TrajectoryStep, ...], name: str) -> Iterator[RlPayloadError]:
    expected = 0
    for at, step in enumerate(steps):
        if step.step_index != expected:
            field = f"{name}.steps[{at}].step_index"
            message = f"{field} is {step.step_index}; expected {expected}"
            yield StepIndexGap(message, (field,), (step.step_index,))
        expected = step.step_index + 1  # so that a gap is reported once, not for all later steps


def _number_errors(value: Any, field: str) -> Iterator[RlPayloadError]:
    """Yield an error for each NaN or infinity in a JSON value, depth first, keys in sorted order."""
    if isinstance(value, float):
        if not math.isfinite(value):
            message = f"{field} is {value!r}; expected a finite number"
            yield NonFiniteNumber(message, (field,), (value,))
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from _number_errors(value[key], f"{field}.{key}")
    elif isinstance(value, tuple):
        for at, item in enumerate(value):
            yield from _number_errors(item, f"{field}[{at}]")
