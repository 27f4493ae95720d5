"""The system under test: it walks greedily by the table of one checkpoint and returns the trajectory as evidence."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.gridworld_policy.cliff import Task, wind

from benchgate.training_types import (
    AdvantageBatch,
    EpisodeTrajectory,
    RlPayloadBundle,
    TrajectoryStep,
)

from .checkpoint import FOLDER, Checkpoint, load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate import BenchCase

DISCOUNT: Final = 0.99


class CheckpointPolicy:
    """
    The greedy policy of a checkpoint.

    :param name: the file in ``checkpoints/``, without its suffix.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.file = FOLDER / f"{name}.json"

    def digest(self) -> str:
        """Return the SHA-256 of the checkpoint's file."""
        return load(self.file).sha256

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """
        Walk the case once, in the wind of its seed, by the copy of the checkpoint that the harness hands over.

        :raises ValueError: it handed none over.
        """
        if case.checkpoint is None:
            msg = f"case {case.case_id}: no checkpoint was handed over"
            raise ValueError(msg)
        checkpoint = load(case.checkpoint.path)
        record = checkpoint.record
        named = {**record.metadata, "artifact_sha256": case.checkpoint.sha256}
        trajectory = walk(checkpoint, Task.read(case.input_path), case)
        bundle = RlPayloadBundle(
            trajectory=trajectory,
            advantages=advantages(trajectory),
            checkpoint=record.model_copy(update={"metadata": named}),
        )
        return {
            "rl_payload": bundle.model_dump(mode="json"),
            "episode": {
                "steps": len(trajectory.steps),
                "total_return": trajectory.total_return,
                "terminated": trajectory.metadata["terminated"],
            },
        }


early, late, reckless = (CheckpointPolicy(name) for name in ("early", "late", "reckless"))


def walk(checkpoint: Checkpoint, task: Task, case: BenchCase) -> EpisodeTrajectory:
    """Return the trajectory of one episode of the policy."""
    from .environment import ENVIRONMENT, reset_to, windy_cliff  # needs the extra ``bench``

    env = windy_cliff(task.slip, (wind(case.seed, step) for step in count()), task.horizon)
    cell = reset_to(env, task.start, case.seed)
    steps: list[TrajectoryStep] = []
    terminated = truncated = False
    while not terminated and not truncated:
        action, value = checkpoint.action(cell), checkpoint.value(cell)
        after, reward, terminated, truncated, _ = env.step(action)
        step = TrajectoryStep(
            step_index=len(steps),
            observation=cell,
            action=action,
            reward=float(reward),
            done=terminated or truncated,
            logprob=0.0,  # greedy: the action is certain
            value_estimate=value,
        )
        steps.append(step)
        cell = int(after)
    env.close()
    name = f"{checkpoint.record.checkpoint_id}/{case.case_id}/{case.trial}/{case.seed}"
    return EpisodeTrajectory(
        trajectory_id=name,
        rollout_id=f"{checkpoint.record.checkpoint_id}/gridworld-policy",
        episode_id=f"{case.case_id}/{case.trial}",
        steps=tuple(steps),
        discount_factor=DISCOUNT,
        total_return=math.fsum(step.reward for step in steps),
        created_at=datetime.now(UTC),
        metadata={
            "environment": ENVIRONMENT,
            "slip": task.slip,
            "seed": case.seed,
            "policy_version": checkpoint.record.policy_version,
            "checkpoint_id": checkpoint.record.checkpoint_id,
            "final_observation": cell,
            "terminated": terminated,
            "truncated": truncated,
        },
    )


def advantages(trajectory: EpisodeTrajectory) -> AdvantageBatch:
    """Return the advantages of an episode: discounted returns to the end, less the policy's own value estimates."""
    returns = discounted([step.reward for step in trajectory.steps], trajectory.discount_factor)
    estimates = [step.value_estimate or 0.0 for step in trajectory.steps]
    return AdvantageBatch(
        batch_id=f"{trajectory.trajectory_id}/advantages",
        trajectory_id=trajectory.trajectory_id,
        advantages=tuple(got - value for got, value in zip(returns, estimates, strict=True)),
        returns=returns,
        value_targets=returns,
        normalized=False,
        created_at=trajectory.created_at,
    )


def discounted(rewards: Sequence[float], discount: float) -> tuple[float, ...]:
    """Return, for each step, the discounted sum of its reward and all after it."""
    ahead = 0.0
    found = []
    for reward in reversed(rewards):
        ahead = reward + discount * ahead
        found.append(ahead)
    return tuple(reversed(found))
