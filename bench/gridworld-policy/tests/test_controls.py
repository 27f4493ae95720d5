# mypy: allow-untyped-defs, allow-untyped-calls
"""The controls: neither walks, so neither may score anything, whatever it claims; needs no Gymnasium."""

import pytest
from _benchgate_bench.gridworld_policy.cliff import Task
from _benchgate_bench.gridworld_policy.systems.controls import ClaimsSuccess, DoNothing
from _benchgate_bench.gridworld_policy.tests.support import CASES, CLASS, START, load, score

from benchgate import run_eval
from benchgate.training_types import validate_rl_payload

CONTROLS = {"claims-success": ClaimsSuccess(), "do-nothing": DoNothing()}


@pytest.mark.parametrize(
    ("name", "code"),
    [("claims-success", "reward_impossible"), ("do-nothing", "trajectory_missing")],
)
@pytest.mark.parametrize("case_id", CASES)
def test_a_control_earns_nothing(case_id, name, code):
    result = score(case_id, dict(CONTROLS[name](load(case_id))))

    assert (result.passed, result.score, result.safety_penalty) == (False, 0.0, None)
    assert result.failure_modes == (code,)


@pytest.mark.parametrize("case_id", CASES)
def test_the_claim_is_a_valid_payload_with_the_best_return_there_is(case_id):
    made = ClaimsSuccess()(load(case_id))
    trajectory = validate_rl_payload(made["rl_payload"]).trajectory

    assert trajectory.total_return == -Task.read(load(case_id).input_path).fewest_steps()
    assert made["episode"]["terminated"] is True


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_says_the_same_twice_and_is_registered(name):
    control = CONTROLS[name]
    report = run_eval("gridworld-policy", system_under_test=name, bench_root=CLASS.parent)

    assert control(load(START)) == control(load(START))
    assert (control.name, len(control.digest())) == (name, 64)
    assert (report.system, report.complete, report.passed_count) == (name, True, 0)
