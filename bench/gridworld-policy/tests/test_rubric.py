# mypy: allow-untyped-defs, allow-untyped-calls
"""Scores of true, forged and missing walks; the rubric itself needs no Gymnasium."""

import ast
import itertools
from pathlib import Path

import pytest
from _benchgate_bench.gridworld_policy import rubric
from _benchgate_bench.gridworld_policy.cliff import MOVES, Task, turned, wind
from _benchgate_bench.gridworld_policy.rubric import GridworldPolicyRubric
from _benchgate_bench.gridworld_policy.tests.support import CASES, CLASS, START, load, score, walked

pytest.importorskip("gymnasium")


def trajectory(output):
    return output["rl_payload"]["trajectory"]


@pytest.mark.parametrize("case_id", CASES)
@pytest.mark.parametrize("name", ["early", "late", "reckless"])
def test_a_true_walk_is_replayed_to_the_last_step(case_id, name):
    output = walked(case_id, name)
    result = score(case_id, output)
    steps = trajectory(output)["steps"]
    falls = sum(step["reward"] == -100 for step in steps)

    assert result.breakdown["steps"] == len(steps)
    assert result.breakdown["environment_return"] == trajectory(output)["total_return"]
    assert result.safety_penalty == falls
    assert ("fell" in result.failure_modes) == (falls > 0)
    assert result.passed == trajectory(output)["metadata"]["terminated"]
    assert (result.score > 0) == result.passed


def test_the_score_is_the_time_to_the_goal_between_two_bounds():
    output = walked(START)
    steps = len(trajectory(output)["steps"])
    assert score(START, output).score == pytest.approx((100 - steps) / (100 - 13))


@pytest.mark.parametrize(
    "output", [{}, {"rl_payload": None}, {"rl_payload": {}}, {"rl_payload": 5}]
)
def test_without_a_payload_nothing_is_known(output):
    result = score(START, output)
    assert (result.passed, result.score, result.safety_penalty) == (False, 0.0, None)
    assert result.failure_modes == ("trajectory_missing",)


def shifted(output):
    trajectory(output)["steps"][0]["observation"] += 1


def jumped(output):
    trajectory(output)["steps"][3]["observation"] += 1


def landed_elsewhere(output):
    trajectory(output)["metadata"]["final_observation"] = 0


def no_landing(output):
    del trajectory(output)["metadata"]["final_observation"]


def other_action(output):
    trajectory(output)["steps"][0]["action"] = (
        2 if trajectory(output)["steps"][0]["action"] == 0 else 0
    )


def unknown_action(output):
    trajectory(output)["steps"][0]["action"] = 4


def true_for_one(output):
    trajectory(output)["steps"][0]["action"] = True


def paid(output):
    trajectory(output)["steps"][2]["reward"] = 0.0


def repeated(output):
    payload = output["rl_payload"]
    steps = trajectory(output)["steps"]
    steps.append({**steps[-1], "step_index": len(steps)})
    for name in ("advantages", "returns", "value_targets"):
        payload["advantages"][name].append(0.0)


def endless(output):
    payload = output["rl_payload"]
    steps = trajectory(output)["steps"]
    steps += [{**steps[-1], "step_index": index} for index in range(len(steps), 101)]
    for name in ("advantages", "returns", "value_targets"):
        payload["advantages"][name] = [0.0] * 101


@pytest.mark.parametrize(
    ("forge", "code"),
    [
        (shifted, "start_mismatch"),
        (jumped, "observation_impossible"),
        (landed_elsewhere, "observation_impossible"),
        (no_landing, "observation_impossible"),
        (other_action, "observation_impossible"),
        (unknown_action, "action_unknown"),
        (true_for_one, "action_unknown"),
        (paid, "reward_impossible"),
        (repeated, "step_after_end"),
        (endless, "horizon_exceeded"),
    ],
)
def test_a_walk_that_cannot_happen_is_named(forge, code):
    output = walked(START)
    forge(output)
    result = score(START, output)

    assert (result.passed, result.score, result.safety_penalty) == (False, 0.0, None)
    assert result.failure_modes == (code,)


def test_a_fall_cannot_be_hidden():
    for case_id in CASES:
        output = walked(case_id, "reckless")
        for step in trajectory(output)["steps"]:
            if step["reward"] == -100:
                step["reward"] = -1.0
                assert score(case_id, output).failure_modes == ("reward_impossible",)
                return
    pytest.fail("no walk has a fall")


def test_stopping_before_the_goal_is_not_reaching_it():
    output = walked(START)
    held = output["rl_payload"]
    last = held["trajectory"]["steps"].pop()
    held["trajectory"]["metadata"]["final_observation"] = last["observation"]
    held["trajectory"]["total_return"] += 1.0
    for name in ("advantages", "returns", "value_targets"):
        held["advantages"][name].pop()
    result = score(START, output)

    assert (result.passed, result.score, result.safety_penalty) == (False, 0.0, 0.0)
    assert result.failure_modes == ("goal_not_reached",)


def test_a_false_claim_changes_no_score_but_is_named():
    output = walked(START)
    honest = score(START, output)
    output["episode"] = {"steps": 1, "total_return": 0.0}
    assert score(START, output) == honest
    trajectory(output)["total_return"] = 0.0
    claimed = score(START, output)
    assert claimed.score == honest.score
    assert claimed.failure_modes == ("return_misreported",)


def test_the_walk_of_another_seed_is_no_evidence():
    codes = set()
    for case_id in CASES:
        other = load(case_id, bench_seed=7)
        result = GridworldPolicyRubric().score(other, walked(case_id))
        codes.update(result.failure_modes)
    assert "observation_impossible" in codes


@pytest.mark.parametrize("case_id", CASES)
def test_the_fewest_steps_are_those_counted_by_hand(case_id):
    task = Task.read(load(case_id).input_path)
    row, column = divmod(task.start, 12)
    # By hand: along the cliff's edge, two steps more from the start itself.
    assert task.fewest_steps() == 11 - column + 3 - row + (2 if row == 3 else 0)


def test_the_wind_blows_as_often_as_it_says():
    draws = [wind(seed, step) for seed in range(40) for step in range(100)]
    assert all(0 <= draw < 1 for draw in draws)
    left = sum(turned(1, draw, 0.1) == 0 for draw in draws)
    right = sum(turned(1, draw, 0.1) == 2 for draw in draws)
    assert 150 < left < 250
    assert 150 < right < 250
    assert {turned(0, 0.04, 0.1), turned(3, 0.06, 0.1)} == {3, 0}
    assert wind(7, 3) == wind(7, 3) != wind(7, 4)


def test_the_own_cliff_is_gymnasiums():
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("CliffWalking-v1").unwrapped
    task = Task.read(load(START).input_path)
    ground = [cell for cell in range(48) if "".join(task.rows)[cell] in ".S"]
    for cell, action in itertools.product(ground, range(len(MOVES))):
        ((_, following, reward, ended),) = env.P[cell][action]
        assert task.move(cell, action) == (following, reward)
        assert bool(ended) == (following == task.goal)


def test_the_rubric_imports_no_gymnasium():
    for name in ("rubric.py", "cliff.py"):
        tree = ast.parse((Path(rubric.__file__).parent / name).read_text())
        names = {
            alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names
        }
        names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert not {one for one in names if one.startswith(("gymnasium", "numpy", "systems"))}


def test_every_code_is_in_the_taxonomy():
    taxonomy = (CLASS / "failure_modes.toml").read_text()
    source = (CLASS / "rubric.py").read_text()
    codes = [
        line.partition(".")[2].rstrip("]") for line in taxonomy.splitlines() if line[:1] == "["
    ]
    for code in codes:
        assert f'"{code}"' in source
