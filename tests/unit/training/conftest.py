"""A payload as a system would return it: plain JSON builtins."""

from __future__ import annotations

import copy

import pytest

AT = "2026-11-21T08:30:00Z"

PAYLOAD = {
    "trajectory": {
        "schema_version": 1,
        "trajectory_id": "traj-1",
        "rollout_id": "rollout-1",
        "episode_id": "episode-1",
        "steps": [
            {
                "step_index": index,
                "observation": [index, 0.5, {"seen": [True, None]}],
                "action": index % 4,
                "reward": -1.0,
                "done": index == 2,
                "logprob": -0.1,
                "value_estimate": -3.0 + index,
            }
            for index in range(3)
        ],
        "discount_factor": 0.99,
        "total_return": -3.0,
        "created_at": AT,
        "metadata": {"environment": {"name": "CliffWalking-v1", "slip": 0.1}},
    },
    "advantages": {
        "schema_version": 1,
        "batch_id": "batch-1",
        "trajectory_id": "traj-1",
        "advantages": [0.5, 0.0, -0.5],
        "returns": [-2.97, -1.99, -1.0],
        "value_targets": [-2.97, -1.99, -1.0],
        "normalized": False,
        "created_at": AT,
        "metadata": {},
    },
    "checkpoint": {
        "schema_version": 1,
        "checkpoint_id": "ckpt-2",
        "algorithm": "q-learning",
        "policy_version": "v2",
        "global_step": 1000,
        "episode_count": 40,
        "mean_reward": -17.5,
        "artifact_uri": "checkpoints/v2.json",
        "created_at": AT,
        "metadata": {"parent_checkpoint_id": "ckpt-1"},
    },
}


@pytest.fixture
def payload():
    return copy.deepcopy(PAYLOAD)
