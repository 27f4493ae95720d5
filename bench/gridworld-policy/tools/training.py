"""Trains the three checkpoints: one training run, and a branch of it."""

from __future__ import annotations

import json
import random
from typing import Any, Final

from _benchgate_bench.gridworld_policy.systems.checkpoint import table_digest
from _benchgate_bench.gridworld_policy.systems.environment import ENVIRONMENT

from .learner import Learner, Recipe

CREATED_AT: Final = "2026-11-21T00:00:00Z"
SEED: Final = 20261121
EARLY: Final = 200
ALL: Final = 3000
WINDY: Final = Recipe(slip=0.05)
STILL: Final = Recipe(slip=0.0, exploration=0.3, rate=0.5, fall_reward=-1)
"""No wind, and to the learner a fall costs as much as any step."""


def checkpoints(seed: int = SEED) -> dict[str, str]:
    """Return the text of each file in ``checkpoints/`` by its name, without suffix."""
    learner = Learner(random.Random(seed))  # noqa: S311 - training, no secret
    learner.train(EARLY, WINDY)
    branch = learner.branch()
    early = document("early", learner, WINDY, parent=None, seed=seed)
    learner.train(ALL - EARLY, WINDY)
    branch.train(ALL - EARLY, STILL)
    made = {
        "early": early,
        "late": document("late", learner, WINDY, parent=early["checkpoint_id"], seed=seed),
        "reckless": document("reckless", branch, STILL, parent=early["checkpoint_id"], seed=seed),
    }
    return {name: json.dumps(record, indent=1) + "\n" for name, record in made.items()}


def document(
    name: str, learner: Learner, recipe: Recipe, *, parent: str | None, seed: int
) -> dict[str, Any]:
    """Return a checkpoint record together with the table."""
    digest = table_digest(learner.table)
    return {
        "schema_version": 1,
        "checkpoint_id": f"gridworld-{name}-{digest[:12]}",
        "algorithm": "tabular-q-learning",
        "policy_version": f"{name}-{digest[:12]}",
        "global_step": learner.global_step,
        "episode_count": learner.episode_count,
        "mean_reward": learner.mean_reward,
        "artifact_uri": f"{name}.json",
        "created_at": CREATED_AT,
        "metadata": {
            "parent_checkpoint_id": parent,
            "environment": ENVIRONMENT,
            "seed": seed,
            "training_slip": recipe.slip,
            "training_fall_reward": recipe.fall_reward,
            "exploration": recipe.exploration,
            "policy_sha256": digest,
        },
        "q_table": [list(row) for row in learner.table],
    }
