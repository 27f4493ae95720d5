# mypy: allow-untyped-defs, allow-untyped-calls
"""The rubric on cliffs made for the tests: small, large, without wind, with bounds that a walk just meets or misses."""

import json

import pytest
from _benchgate_bench.gridworld_policy.cliff import FALL_REWARD, STEP_REWARD, Task, turned, wind
from _benchgate_bench.gridworld_policy.rubric import GridworldPolicyRubric, Unplayable
from _benchgate_bench.gridworld_policy.tests.support import START, load

UP, RIGHT, DOWN, LEFT = range(4)
WHEN = "2026-11-21T00:00:00+00:00"
SMALL = {"map": ["S.G.", "...."], "start": 0, "horizon": 6, "slip": 0.0}
BOUNDS = {"best_return": -2, "worst_return": -6}


def walk(task, actions):
    """Return the payload of an honest walk without wind."""
    cell, steps = task.start, []
    for index, action in enumerate(actions):
        following, reward = task.move(cell, action)
        steps.append(
            {"step_index": index, "observation": cell, "action": action, "reward": reward, "done": False}
        )  # fmt: skip
        cell = following
    zeros = [0.0] * len(steps)
    return {
        "trajectory": {
            "trajectory_id": "t",
            "rollout_id": "r",
            "episode_id": "e",
            "steps": steps,
            "discount_factor": 1.0,
            "total_return": float(sum(step["reward"] for step in steps)),
            "created_at": WHEN,
            "metadata": {"final_observation": cell},
        },
        "advantages": {
            "batch_id": "b",
            "trajectory_id": "t",
            "advantages": zeros,
            "returns": zeros,
            "created_at": WHEN,
        },
        "checkpoint": {
            "checkpoint_id": "c",
            "algorithm": "none",
            "policy_version": "1",
            "global_step": 1000,
            "episode_count": 1,
            "mean_reward": 0.0,
            "artifact_uri": "none",
            "created_at": WHEN,
        },
    }


@pytest.fixture
def scored(tmp_path):
    """Return what scores actions, or a payload, on a task with bounds."""

    def score(actions, edit=None, task=SMALL, bounds=BOUNDS):
        for name, held in (("task.json", task), ("bounds.json", bounds)):
            (tmp_path / name).write_text(json.dumps(held))
        case = load(START).model_copy(
            update={"input_path": tmp_path, "expected_path": tmp_path, "seed": 1}
        )
        payload = walk(Task.read(tmp_path), actions)
        if edit is not None:
            edit(payload["trajectory"])
        return GridworldPolicyRubric().score(case, {"rl_payload": payload})

    return score


@pytest.mark.parametrize(
    ("actions", "points"),
    [
        ([RIGHT, RIGHT], 1.0),
        ([DOWN, RIGHT, RIGHT, UP], 0.5),
        ([UP, RIGHT, RIGHT], 0.75),
        ([LEFT, UP, LEFT, UP, RIGHT, RIGHT], 0.0),  # at the very horizon: arrived, and no sooner
    ],
)
def test_each_step_costs_its_share_of_the_way_between_the_bounds(scored, actions, points):
    result = scored(actions)

    assert (result.passed, result.score, result.failure_modes) == (True, points, ())
    assert dict(result.breakdown) == {
        "reached": 1.0,
        "steps": len(actions),
        "falls": 0.0,
        "environment_return": -len(actions),
    }
    assert (result.safety_penalty, result.cost_usd) == (0.0, 0.0)


def test_not_reaching_the_goal_scores_as_walking_to_the_horizon(scored):
    result = scored([RIGHT])

    assert (result.passed, result.score, result.failure_modes) == (
        False,
        0.0,
        ("goal_not_reached",),
    )
    assert dict(result.breakdown) == {
        "reached": 0.0,
        "steps": 1.0,
        "falls": 0.0,
        "environment_return": -1.0,
    }


@pytest.mark.parametrize(
    ("bounds", "points"),
    [({"best_return": -3, "worst_return": -6}, 1.0), ({"best_return": 3, "worst_return": -1}, 0.0)],
)
def test_a_walk_beyond_the_bounds_scores_no_more_than_they_allow(scored, bounds, points):
    assert scored([RIGHT, RIGHT], bounds=bounds).score == points


def test_a_fall_is_counted_and_priced_as_one_step_in_the_score(scored):
    cliff = {"map": ["...", "SCG"], "start": 3, "horizon": 10, "slip": 0.0}
    result = scored(
        [RIGHT, RIGHT, UP, RIGHT, RIGHT, DOWN],
        task=cliff,
        bounds={"best_return": -4, "worst_return": -10},
    )

    assert (result.passed, result.score) == (True, (10 - 6) / (10 - 4))
    assert result.failure_modes == ("fell",)
    assert dict(result.breakdown) == {
        "reached": 1.0,
        "steps": 6.0,
        "falls": 2.0,
        "environment_return": -204.0,
    }
    assert result.safety_penalty == 2.0


def test_all_that_is_wrong_with_a_walk_is_named_in_order(scored):
    cliff = {"map": ["...", "SCG"], "start": 3, "horizon": 10, "slip": 0.0}

    result = scored([RIGHT], lambda one: one.update(total_return=0.0), task=cliff)

    assert result.failure_modes == ("goal_not_reached", "fell", "return_misreported")


@pytest.mark.parametrize(
    ("off", "named"), [(0.0, False), (5e-10, False), (2e-9, True), (0.5, True), (-1.0, True)]
)
def test_a_return_is_compared_to_a_billionth(scored, off, named):
    result = scored([RIGHT, RIGHT], lambda one: one.update(total_return=off - 2))

    assert ("return_misreported" in result.failure_modes) is named
    assert result.score == 1.0


@pytest.mark.parametrize("reward", [-2.0, 0.0, FALL_REWARD])
def test_a_reward_is_neither_more_nor_less_than_the_move_earns(scored, reward):
    result = scored([RIGHT, RIGHT], lambda one: one["steps"][0].update(reward=reward))

    assert result.failure_modes == ("reward_impossible",)


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (lambda one: one["steps"][0].update(observation=1), "start_mismatch"),
        (lambda one: one["steps"][0].update(observation=-1), "start_mismatch"),
        (lambda one: one["steps"][0].update(observation=False), "start_mismatch"),
        (lambda one: one["steps"][0].update(observation=0.0), "start_mismatch"),
        (lambda one: one["steps"][1].update(observation=2), "observation_impossible"),
        (lambda one: one["steps"][1].update(observation=0), "observation_impossible"),
        (lambda one: one["metadata"].update(final_observation=1), "observation_impossible"),
        (lambda one: one["metadata"].update(final_observation=3), "observation_impossible"),
        (lambda one: one["metadata"].update(final_observation=2.0), "observation_impossible"),
        (lambda one: one["metadata"].clear(), "observation_impossible"),
        (lambda one: one["steps"][0].update(action=-1), "action_unknown"),
        (lambda one: one["steps"][0].update(action=4), "action_unknown"),
        (lambda one: one["steps"][0].update(action=1.0), "action_unknown"),
        (lambda one: one["steps"][0].update(action=None), "action_unknown"),
    ],
)  # fmt: skip
def test_what_cannot_happen_scores_nothing(scored, edit, code):
    result = scored([RIGHT, RIGHT], edit)

    assert (result.passed, result.score, result.safety_penalty) == (False, 0.0, None)
    assert (result.failure_modes, dict(result.breakdown)) == ((code,), {})


def test_one_step_more_than_the_horizon_is_too_many(scored):
    there = [LEFT] * 6

    assert scored(there).failure_modes == ("goal_not_reached",)
    assert scored([LEFT, *there]).failure_modes == ("horizon_exceeded",)


def test_a_step_after_the_goal_is_refused(scored):
    assert scored([RIGHT, RIGHT, RIGHT]).failure_modes == ("step_after_end",)


def test_the_goal_is_one_cell_and_none_beyond_it(scored):
    result = scored([DOWN, RIGHT, RIGHT, RIGHT])  # three cells, all numbered higher than the goal

    assert result.failure_modes == ("goal_not_reached",)


def test_a_map_of_more_cells_than_python_keeps_as_one_object(scored):
    large = {"map": ["S" + "." * 299, "." * 299 + "G"], "start": 0, "horizon": 400, "slip": 0.0}

    result = scored([DOWN] + [RIGHT] * 299, task=large)

    assert (result.passed, result.breakdown["steps"]) == (True, 300.0)


def test_a_map_of_one_row(scored):
    task = {"map": ["S..G"], "start": 0, "horizon": 6, "slip": 0.0}

    result = scored([UP, RIGHT, DOWN, RIGHT, RIGHT], task=task)

    assert (result.passed, result.breakdown["steps"]) == (True, 5.0)


@pytest.mark.parametrize(
    ("draw", "left", "right", "straight"),
    [
        (0.0, True, False, False),
        (0.0625, False, True, False),  # half of the slip itself is no longer to the left
        (0.12, False, True, False),
        (0.125, False, False, True),  # nor the whole of it to the right
        (0.99, False, False, True),
    ],
)
def test_where_the_wind_turns_to(draw, left, right, straight):
    for action in (UP, RIGHT, DOWN, LEFT):
        found = turned(action, draw, 0.125)

        assert (found == (action + 3) % 4) is left
        assert (found == (action + 1) % 4) is right
        assert (found == action) is straight


def test_a_draw_is_six_bytes_of_the_digest_of_seed_and_step():
    assert wind(7, 3) == 0xC32362BC4ED6 / 2**48
    assert wind(0, 0) == 0x0642C4EA7D88 / 2**48


def test_what_a_move_earns():
    task = Task(rows=("S.G.", "C..."), start=0, horizon=6, slip=0.0)

    assert (STEP_REWARD, FALL_REWARD) == (-1, -100)
    assert task.move(1, LEFT) == (0, -1)
    assert task.move(0, DOWN) == (0, -100)
    assert task.move(7, DOWN) == (7, -1)
    assert task.move(7, RIGHT) == (7, -1)
    assert task.move(3, UP) == (3, -1)
    assert (task.goal, task.fewest_steps()) == (2, 2)


def test_a_case_without_bounds_is_refused_by_name():
    blind = load(START).model_copy(update={"expected_path": None})

    with pytest.raises(ValueError, match=rf"case {START}: the rubric needs the case's expected/"):
        GridworldPolicyRubric().score(blind, {})


def test_what_is_unplayable_says_its_code():
    raised = Unplayable("start_mismatch", "step 0 observes 3")
    assert (raised.code, str(raised)) == ("start_mismatch", "step 0 observes 3")


@pytest.mark.parametrize(
    ("actions", "explanation", "evidence"),
    [
        (
            [RIGHT, RIGHT],
            "The goal was reached in 2 steps, with no falls; the shortest way takes 2.",
            {"steps": "between 2 (score 1) and 6 (score 0)"},
        ),
        (
            [RIGHT],
            "The walk ended after 1 step in cell 1, short of the goal, with no falls.",
            {"steps": "between 2 (score 1) and 6 (score 0)", "reached": "ended in cell 1"},
        ),
    ],
)
def test_a_score_says_what_it_rests_on(scored, actions, explanation, evidence):
    result = scored(actions)

    assert (result.explanation, dict(result.evidence)) == (explanation, evidence)


def test_falls_are_named_by_their_steps_and_a_claim_by_its_figure(scored):
    cliff = {"map": ["....", "SCCG"], "start": 4, "horizon": 30, "slip": 0.0}

    result = scored([RIGHT] * 7, lambda trajectory: trajectory.update(total_return=3.0), task=cliff)

    assert result.explanation.endswith("with 7 falls.")
    assert result.evidence["falls"] == "at steps 0, 1, 2, 3, 4, ..."
    assert result.evidence["environment_return"] == "the trajectory claims 3"
    assert scored([RIGHT], task=cliff).evidence["falls"] == "at step 0"


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda t: t["steps"][0].update(observation=3), "step 0 observes 3, the walker is in 0"),
        (lambda t: t["steps"][1].update(action=9), "step 1 has the action 9"),
        (
            lambda t: t["steps"][1].update(reward=5.0),
            "step 1 is rewarded with 5, that move with -1",
        ),
        (lambda t: t["metadata"].update(final_observation=7), "the final_observation is not 2"),
    ],
)
def test_what_cannot_happen_is_named_with_its_step(scored, edit, why):
    assert why in scored([RIGHT, RIGHT], edit).explanation
