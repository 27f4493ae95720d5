"""Trajectories from what Gymnasium returns; the real one where it is installed."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from benchgate.training_types import (
    EpisodeTrajectory,
    MalformedPayload,
    NonFiniteNumber,
    trajectory_errors,
)

HEAD = {
    "trajectory_id": "t",
    "rollout_id": "r",
    "episode_id": "e",
    "discount_factor": 0.9,
}


def roll(env, seed, limit=500):
    """Play one episode with random actions; return the first observation, the actions and the five-tuples."""
    env.action_space.seed(seed)
    first, _ = env.reset(seed=seed)
    actions, steps = [], []
    while len(steps) < limit:
        actions.append(env.action_space.sample())
        steps.append(env.step(actions[-1]))
        if steps[-1][2] or steps[-1][3]:
            break
    return first, actions, steps


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("FrozenLake-v1", {"is_slippery": True}),
        ("CliffWalking-v1", {"max_episode_steps": 40}),
        ("Blackjack-v1", {}),  # tuples as observations
    ],
)
def test_real_episodes_become_trajectories(name, options):
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make(name, **options)
    for seed in range(5):
        first, actions, steps = roll(env, seed)
        made = EpisodeTrajectory.from_gymnasium_steps(
            steps, actions=actions, first_observation=first, **HEAD
        )
        plain = made.model_dump(mode="json")

        assert list(trajectory_errors(made)) == []
        assert EpisodeTrajectory.read_json(json.dumps(plain).encode()) == made
        assert [step["action"] for step in plain["steps"]] == [int(action) for action in actions]
        seen = [first, *(step[0] for step in steps)]
        told = [step["observation"] for step in plain["steps"]]
        assert [*told, plain["metadata"]["final_observation"]] == [
            list(one) if isinstance(one, tuple) else one for one in seen
        ]
        assert made.total_return == math.fsum(float(step[1]) for step in steps)
        assert [step.done for step in made.steps] == [False] * (len(steps) - 1) + [True]
        assert (made.metadata["terminated"], made.metadata["truncated"]) == steps[-1][2:4]
    env.close()


def made_of(steps, actions, **fields):
    return EpisodeTrajectory.from_gymnasium_steps(
        steps, actions=actions, **{"first_observation": 0, **HEAD, **fields}
    )


def test_numpy_becomes_plain_json():
    made = made_of(
        [
            (
                {"a": np.arange(4, dtype=np.float32).reshape(2, 2), "b": (np.int64(3), np.True_)},
                np.float32(0.5),
                np.True_,
                np.False_,
                {"info": object()},
            )
        ],
        np.array([[1, 2]]),
        first_observation=np.array([np.float64(1.5)]),
        logprobs=np.array([-0.25]),
        value_estimates=[np.float64(2)],
        metadata={"n": np.int32(7)},
    )  # fmt: skip
    plain = made.model_dump(mode="json")

    assert plain["steps"] == [
        {
            "step_index": 0,
            "observation": [1.5],
            "action": [1, 2],
            "reward": 0.5,
            "done": True,
            "logprob": -0.25,
            "value_estimate": 2.0,
        }
    ]
    assert plain["metadata"] == {
        "n": 7,
        "final_observation": {"a": [[0.0, 1.0], [2.0, 3.0]], "b": [3, True]},
        "terminated": True,
        "truncated": False,
    }
    assert type(made.total_return) is float
    assert made.created_at.tzinfo is not None


def test_an_episode_that_was_cut_off_is_done_but_not_terminated():
    made = made_of([(1, 1, False, False, {}), (2, 2, False, True, {})], [0, 1])

    assert [step.done for step in made.steps] == [False, True]
    assert made.metadata["truncated"] is True
    assert made.total_return == 3.0


@pytest.mark.parametrize(
    ("steps", "actions", "fields", "message"),
    [
        ([(1, 1, False, {})], [0], {}, "steps[0] is 4 values"),
        ([5], [0], {}, "steps[0] is int"),
        ([(1, 1, False, False, {})], [0, 1], {}, "len(actions) is 2; expected that of len(steps), 1"),
        ([(1, 1, False, False, {})], [0], {"logprobs": []}, "len(logprobs) is 0"),
        ([(1, 1, True, False, {}), (1, 1, False, False, {})], [0, 0], {}, "steps[1] follows the end"),
        ([(1, 1, 0, False, {})], [0], {}, "steps[0].terminated is 0"),
        ([(1, "1", False, False, {})], [0], {}, "steps[0].reward is '1'"),
        ([(1, True, False, False, {})], [0], {}, "steps[0].reward is True"),
        ([(object(), 1, False, False, {})], [0], {}, "steps[0].observation is a object; JSON has no such value"),
        ([(1, 1, False, False, {})], [{1}], {}, "actions[0] is a set; JSON has no such value"),
    ],
)  # fmt: skip
def test_what_is_no_episode_is_refused(steps, actions, fields, message):
    with pytest.raises(MalformedPayload) as caught:
        made_of(steps, actions, **fields)
    assert message in str(caught.value)


@pytest.mark.parametrize("rewards", [[math.nan], [math.inf, -math.inf], [1e308, 1e308]])
def test_rewards_that_have_no_sum_are_left_to_validation(rewards):
    made = made_of([(1, reward, False, False, {}) for reward in rewards], [0] * len(rewards))
    assert "trajectory.total_return" in [error.field for error in trajectory_errors(made)]
    assert all(isinstance(error, NonFiniteNumber) for error in trajectory_errors(made))


def test_importing_the_types_imports_neither_gymnasium_nor_numpy():
    code = (
        "import sys, benchgate.training_types\n"
        "print(sorted({'gymnasium', 'numpy', 'pytest', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
