"""What a promotion states and what exit status follows, by each claim: through the engine, and verified."""

from __future__ import annotations

import shutil

import pytest

from benchgate.cli import main
from benchgate.errors import SystemUnavailable
from benchgate.gates.exit_status import HELD

PREFIX = "checkpoint_promotion_blocked_"
SAME = {"claim": "no_regression"}
MARGIN = {"claim": "not_worse", "margin": 0.3}


@pytest.fixture
def twelve(echo):
    """Twelve cases that the pinned baseline passes, as the same system does now."""
    for number in range(4, 13):
        echo.case(f"{number:02}")
    echo.run()
    shutil.copy(echo.folder() / "record.json", echo.path / "baseline.json")
    return echo


def reasons(run):
    return [code.removeprefix(PREFIX) for code in run.judgement.decision.reason_codes]


@pytest.mark.parametrize(
    ("policy", "outcome", "status"),
    [
        ({}, "hold", HELD),
        ({"claim": "better"}, "hold", HELD),
        (SAME, "promote", 0),
        (MARGIN, "promote", 0),
        ({"claim": "not_worse", "margin": 0.1}, "hold", HELD),
    ],
)
def test_the_same_system_by_each_claim(twelve, policy, outcome, status):
    run = twelve.run(baseline="auto", policy=policy)
    decision = run.judgement.decision
    assert (run.exit_status, decision.outcome) == (status, outcome)
    assert bool(decision.next_step) == (outcome == "hold")
    assert main(["verify", str(twelve.out)]) == 0


@pytest.mark.parametrize("policy", [SAME, MARGIN])
def test_the_claim_of_a_class_is_in_its_gate_toml(twelve, policy):
    lines = (
        f'{key} = "{value}"' if key == "claim" else f"{key} = {value}"
        for key, value in policy.items()
    )
    twelve.write("gate.toml", "\n".join(lines))
    assert twelve.run(baseline="auto").exit_status == 0
    assert twelve.run(baseline="auto", policy={"claim": "better"}).exit_status == HELD
    assert twelve.record()["policy"]["margin"] is None


@pytest.mark.parametrize("baseline", ["auto", "none"])
def test_without_a_gate_that_binds_nothing_is_held(twelve, baseline):
    (twelve.path / "baseline.json").unlink()
    run = twelve.run(baseline=baseline)
    assert (run.exit_status, reasons(run)) == (0, ["baseline_missing"])


def test_an_incomplete_run_exits_with_1(twelve):
    twelve.instead["02"] = SystemUnavailable("away")  # nothing else fails, and the gate only holds
    run = twelve.run(baseline="auto", exit_rule="gate", retries=0)
    assert run.exit_status == 1
    assert "incomplete_run" in reasons(run)


@pytest.mark.parametrize(
    ("policy", "outcome"),
    [
        ({"claim": "not_worse", "margin": 0.5}, "promote"),
        ({"claim": "no_regression", "max_newly_failing": 1}, "promote"),
        ({"alpha": 0.01}, "hold"),
    ],
)
def test_a_critical_case_that_newly_fails_rejects_by_any_claim(twelve, policy, outcome):
    twelve.instead["03"] = {"answer": "no"}
    run = twelve.run(baseline="auto", policy=policy, exit_rule="gate")
    assert run.judgement.decision.outcome == outcome
    # A case that becomes critical is the same task: the pinned baseline stays good.
    twelve.case("03", critical="true")
    run = twelve.run(baseline="auto", policy=policy)
    assert run.exit_status == 1
    assert run.judgement.report.critical == ("03",)
    assert reasons(run)[0] == "critical_case_regressed"
    assert main(["verify", str(twelve.out)]) == 0


def test_what_the_cases_cost_stands_beside_the_difference(twelve):
    def costing(usd):
        def agent(case):
            case.usage.add(cost_usd=usd)
            return twelve.agent(case)

        return agent

    def pin(usd):
        twelve.run(system=costing(usd))
        shutil.copy(twelve.folder() / "record.json", twelve.path / "baseline.json")

    limited = {**MARGIN, "max_cost_increase": 0}
    pin(0.5)
    run = twelve.run(system=costing(0.25), baseline="auto", policy=limited)
    assert run.exit_status == 0
    cost = twelve.read(run.published.folder / "evidence/evaluation.json")["cost"]
    assert (cost["baseline_mean"], cost["candidate_mean"]) == (0.75, 0.5)  # judging costs 0.25
    assert cost["increase"] == pytest.approx(-1 / 3)
    pin(0.25)
    run = twelve.run(system=costing(0.5), baseline="auto", policy=limited)
    assert (run.exit_status, reasons(run)) == (HELD, ["cost_increase"])
    assert main(["verify", str(twelve.out)]) == 0
