"""
The wire models of RL payloads.

Build them from JSON text with ``read_json``, or from plain JSON builtins with the constructor: arrays as lists, times
as ISO text. Both check types only, so a model may contain NaN or an empty vector. Values are checked by
:meth:`RlPayloadBundle.validate_bundle`, whose errors have a code and name the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
)

from benchgate.wire.frozen import freeze_json, thaw_json
from benchgate.wire.model import FrozenJson, Number, Text, WireModel, empty_mapping
from benchgate.wire.plain import listed, plain_json

PAYLOAD_VERSION: Final = 1
"""The version of RL payloads, which programs of others write: it is none of the artifacts'."""


def _read_time(value: Any) -> Any:
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    return value


def _plain(value: Any) -> Any:
    # NaN and infinity are accepted here, because validate_bundle reports them with a code.
    return plain_json(value, "value", finite=False)


Time = Annotated[AwareDatetime, BeforeValidator(_read_time)]
Vector = Annotated[tuple[Number, ...], BeforeValidator(listed)]
Json = Annotated[
    Any, BeforeValidator(_plain), AfterValidator(freeze_json), PlainSerializer(thaw_json)
]
Metadata = Annotated[
    FrozenJson,
    BeforeValidator(lambda value: _plain(value) if isinstance(value, Mapping) else value),
]


class Payload(WireModel):
    """Base class of the payloads."""

    # NaN must stay NaN until validate_bundle reports it; written as null it would look like a missing value.
    model_config = ConfigDict(allow_inf_nan=True, ser_json_inf_nan="constants")


class TrajectoryStep(Payload):
    """
    One step of an episode.

    :param step_index: 0, 1, 2 and so on.
    :param observation: what the policy observed before the action; any JSON.
    :param action: the action that the policy chose; any JSON.
    :param reward: the environment's reward for the action, in its own unit.
    :param done: the episode ended with this step, by terminating or by being truncated.
    :param logprob: natural logarithm of the probability (or density) of the action under the policy; ``None``
        if unknown.
    :param value_estimate: the policy's estimate, before the action, of the discounted return from this step on;
        ``None`` if it makes no estimates.
    """

    step_index: int
    observation: Json
    action: Json
    reward: Number
    done: bool
    logprob: Number | None = None
    value_estimate: Number | None = None


class EpisodeTrajectory(Payload):
    """
    The steps of one episode.

    :param trajectory_id: not empty; an :class:`AdvantageBatch` refers to it.
    :param rollout_id: the collection of episodes that this one belongs to; not empty, or ``None``: unknown.
    :param episode_id: the episode within the rollout; not empty, or ``None``: unknown.
    :param steps: at least one, in order.
    :param discount_factor: in [0, 1].
    :param total_return: the return of the episode, finite. It is not compared with the rewards, because producers
        differ in what they sum up: discounted, shaped or clipped rewards.
    :param created_at: when it was recorded, with UTC offset.
    :param metadata: any JSON object. ``policy_version`` and ``checkpoint_id`` in it are compared by
        :func:`~benchgate.training_types.check_belongs`.
    """

    schema_version: int = PAYLOAD_VERSION
    trajectory_id: Text
    rollout_id: Text | None = None
    episode_id: Text | None = None
    steps: Annotated[tuple[TrajectoryStep, ...], BeforeValidator(listed)]
    discount_factor: Number
    total_return: Number
    created_at: Time
    metadata: Metadata = Field(default_factory=empty_mapping)


class AdvantageBatch(Payload):
    """
    What a learner computed from a trajectory: advantage, return and value target of each step.

    :param batch_id: not empty.
    :param trajectory_id: the id of the trajectory.
    :param advantages: one for each step of the trajectory.
    :param returns: one for each step.
    :param value_targets: one for each step, or none at all.
    :param normalized: the advantages were shifted and scaled to mean 0 and variance 1.
    """

    schema_version: int = PAYLOAD_VERSION
    batch_id: Text
    trajectory_id: Text
    advantages: Vector
    returns: Vector
    value_targets: Vector = ()
    normalized: bool = False
    created_at: Time
    metadata: Metadata = Field(default_factory=empty_mapping)


class CheckpointRecord(Payload):
    """
    A policy at one point of its training.

    :param checkpoint_id: not empty.
    :param algorithm: the training algorithm; not blank.
    :param policy_version: the version that the evidence is about; not blank.
    :param global_step: environment steps trained on so far; at least the number of steps of the bundle's trajectory.
    :param episode_count: episodes trained on so far.
    :param mean_reward: mean return of recent training episodes, in the environment's unit, finite; ``None``: unknown.
    :param artifact_uri: location of the weights, or ``None``: unknown; benchgate never opens it.
    :param metadata: any JSON object; its ``parent_checkpoint_id`` is the checkpoint that this one was trained from,
        absent or null for a root.
    """

    schema_version: int = PAYLOAD_VERSION
    checkpoint_id: Text
    algorithm: Text
    policy_version: Text
    global_step: int
    episode_count: int
    mean_reward: Number | None = None
    artifact_uri: Text | None = None
    created_at: Time
    metadata: Metadata = Field(default_factory=empty_mapping)
