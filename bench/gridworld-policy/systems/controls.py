"""Control systems that do not walk: a system that scores no better has not walked either."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.gridworld_policy.cliff import Task

from benchgate.training_types import (
    AdvantageBatch,
    CheckpointRecord,
    EpisodeTrajectory,
    RlPayloadBundle,
    TrajectoryStep,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase

WHEN: Final = datetime(2026, 11, 21, tzinfo=UTC)


class DoNothing:
    """Returns an output without a walk and says so."""

    name: Final = "do-nothing"

    def digest(self) -> str:
        """Return the SHA-256 of this module."""
        return _own_digest()

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:  # noqa: ARG002 - every case alike
        """Return an episode without a step."""
        return {"episode": {"steps": 0, "total_return": 0.0, "terminated": False}}


class ClaimsSuccess:
    """Returns a well-formed payload of one step, and claims the best possible return for it."""

    name: Final = "claims-success"

    def digest(self) -> str:
        """Return the SHA-256 of this module."""
        return _own_digest()

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Claim the goal, the best return and everything else that a rubric might wrongly believe."""
        task = Task.read(case.input_path)
        best = -float(task.fewest_steps())
        return {
            "rl_payload": _claim(case, task, best).model_dump(mode="json"),
            "episode": {"steps": -best, "total_return": best, "terminated": True},
            "passed": True,
            "score": 1.0,
        }


def _claim(case: BenchCase, task: Task, best: float) -> RlPayloadBundle:
    name = f"claims-success/{case.case_id}/{case.trial}/{case.seed}"
    step = TrajectoryStep(step_index=0, observation=task.start, action=0, reward=best, done=True)
    return RlPayloadBundle(
        trajectory=EpisodeTrajectory(
            trajectory_id=name,
            rollout_id="claims-success/gridworld-policy",
            episode_id=f"{case.case_id}/{case.trial}",
            steps=(step,),
            discount_factor=1.0,
            total_return=best,
            created_at=WHEN,
            metadata={"final_observation": task.goal, "terminated": True, "truncated": False},
        ),
        advantages=AdvantageBatch(
            batch_id=f"{name}/advantages",
            trajectory_id=name,
            advantages=(best,),
            returns=(best,),
            created_at=WHEN,
        ),
        checkpoint=CheckpointRecord(
            checkpoint_id="claims-success",
            algorithm="none",
            policy_version="claims-success",
            global_step=1,
            episode_count=1,
            mean_reward=best,
            artifact_uri="none:",
            created_at=WHEN,
        ),
    )


def _own_digest() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
