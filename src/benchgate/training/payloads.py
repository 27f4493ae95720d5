"""
The wire models of RL payloads.

They can be built from JSON text by ``read_json`` and from plain JSON builtins by construction: arrays as lists,
times as ISO text. Both check types alone. What the values must be is asked by :meth:`RlPayloadBundle.validate_bundle`,
which can name what is wrong; hence NaN, empty vectors and the like can be built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
)

from benchgate.wire.model import (
    SCHEMA_VERSION,
    Number,
    Text,
    WireModel,
    empty_mapping,
    freeze_json,
    thaw_json,
)
from benchgate.wire.plain import plain_json


def _read_time(value: Any) -> Any:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    # NaN and infinity are let through: validation names them.
    return plain_json(value, "value", finite=False)


def _read_array(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Time = Annotated[AwareDatetime, BeforeValidator(_read_time)]
Vector = Annotated[tuple[Number, ...], BeforeValidator(_read_array)]
Json = Annotated[
    Any, BeforeValidator(_plain), AfterValidator(freeze_json), PlainSerializer(thaw_json)
]
Metadata = Annotated[
    Mapping[str, Any],
    BeforeValidator(lambda value: _plain(value) if isinstance(value, Mapping) else value),
    AfterValidator(freeze_json),
    PlainSerializer(thaw_json, return_type=dict[str, Any]),
]


class Payload(WireModel):
    """Base of the payloads."""

    # NaN is a value that validation names; written as null it could not be told from absence.
    model_config = ConfigDict(allow_inf_nan=True, ser_json_inf_nan="constants")


class TrajectoryStep(Payload):
    """
    One step of an episode.

    :param step_index: 0 for the first step, then one more each.
    :param observation: what the policy saw before it acted; any JSON.
    :param action: what the policy chose; any JSON.
    :param reward: what the environment gave for it, in the environment's unit.
    :param done: the episode ended with this step, at its own end or cut off by a limit.
    :param logprob: natural logarithm of the probability (or density) of the action under the policy; ``None``
        if not known.
    :param value_estimate: the policy's estimate, before it acted, of the discounted return from here on;
        ``None`` if it makes none.
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
    What happened in one episode.

    :param trajectory_id: not empty; what an :class:`AdvantageBatch` refers to.
    :param rollout_id: the collection of episodes that it was made in; not empty.
    :param episode_id: the episode within the rollout; not empty.
    :param steps: at least one, in order.
    :param discount_factor: in [0, 1].
    :param total_return: the return of the episode, finite; by which convention (discounted, shaped, clipped) is the
        producer's affair, so it is not compared with the rewards.
    :param created_at: when it was recorded, with offset.
    :param metadata: any JSON object. ``policy_version`` and ``checkpoint_id`` in it are compared by
        :func:`~benchgate.training_types.check_belongs`.
    """

    schema_version: int = SCHEMA_VERSION
    trajectory_id: Text
    rollout_id: Text
    episode_id: Text
    steps: Annotated[tuple[TrajectoryStep, ...], BeforeValidator(_read_array)]
    discount_factor: Number
    total_return: Number
    created_at: Time
    metadata: Metadata = Field(default_factory=empty_mapping)

    @classmethod
    def from_gymnasium_steps(
        cls,
        steps: Iterable[tuple[Any, Any, Any, Any, Mapping[str, Any]]],
        *,
        actions: Iterable[Any],
        first_observation: Any,
        trajectory_id: str,
        rollout_id: str,
        episode_id: str,
        discount_factor: float,
        logprobs: Iterable[Any] | None = None,
        value_estimates: Iterable[Any] | None = None,
        created_at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Self:
        """
        Build the trajectory of one episode from what Gymnasium's ``env.step`` returned.

        Numpy scalars and arrays become plain JSON. ``done`` is ``terminated or truncated``, ``total_return`` the plain
        sum of the rewards. Gymnasium gives the observation after an action; a step here holds the one before it, so
        the last one goes to ``metadata["final_observation"]``, and ``metadata["terminated"]`` and
        ``metadata["truncated"]`` tell how the last step ended. ``info`` is left out.

        :param steps: ``(observation, reward, terminated, truncated, info)`` in order.
        :param actions: the actions that led there, as many.
        :param first_observation: what ``env.reset`` returned.
        :param logprobs: for each step, or none at all; see :class:`TrajectoryStep`.
        :param value_estimates: for each step, or none at all.
        :param created_at: now, if not given.
        :param metadata: goes into the trajectory's; the three keys above are set after it.
        :raises MalformedPayload: other than five values to a step, lists of different length, a step after the end of
            the episode, or a value that is no JSON.
        """
        from benchgate.training.gymnasium_steps import trajectory_fields

        fields = trajectory_fields(
            steps,
            {"action": actions, "logprob": logprobs, "value_estimate": value_estimates},
            first_observation,
            {
                "trajectory_id": trajectory_id,
                "rollout_id": rollout_id,
                "episode_id": episode_id,
                "discount_factor": discount_factor,
                "created_at": created_at,
                "metadata": metadata or {},
            },
        )
        return cls.model_validate(fields)


class AdvantageBatch(Payload):
    """
    What a learner made of a trajectory: one value of each kind for each of its steps.

    :param batch_id: not empty.
    :param trajectory_id: that of the trajectory.
    :param advantages: at least one; as many as the trajectory has steps.
    :param returns: as many as advantages.
    :param value_targets: none, or as many as advantages.
    :param normalized: the advantages were shifted and scaled to mean 0 and variance 1.
    """

    schema_version: int = SCHEMA_VERSION
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
    :param algorithm: how it was trained, not blank.
    :param policy_version: not blank; evidence is about one version.
    :param global_step: environment steps trained on so far; at least the steps of any trajectory of the bundle.
    :param episode_count: episodes trained on so far.
    :param mean_reward: mean return of recent training episodes, in the environment's unit; finite.
    :param artifact_uri: where the weights lie; never opened.
    :param metadata: any JSON object; ``parent_checkpoint_id`` in it names the checkpoint that this was trained from,
        absent or null for a root.
    """

    schema_version: int = SCHEMA_VERSION
    checkpoint_id: Text
    algorithm: Text
    policy_version: Text
    global_step: int
    episode_count: int
    mean_reward: Number
    artifact_uri: Text
    created_at: Time
    metadata: Metadata = Field(default_factory=empty_mapping)
