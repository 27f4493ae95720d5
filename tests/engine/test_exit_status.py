"""What a promotion states and what exit status follows, by each claim: through the engine, and verified."""

from __future__ import annotations

import shutil

import pytest

from benchgate.cli import main
from benchgate.errors import PolicyError, SystemUnavailable
from benchgate.gates.choice import BaselineChoice
from benchgate.gates.decision import CheckpointPromotionDecision
from benchgate.gates.exit_status import HELD, failures

PREFIX = "checkpoint_promotion_blocked_"
SAME = {"claim": "no_regression"}
MARGIN = {"claim": "not_worse", "margin": 0.3}


@pytest.fixture
def twelve(echo, kept):
    """Twelve cases that the pinned baseline passes, as the same system does now."""
    for number in range(4, 13):
        echo.case(f"{number:02}")
    if "record" not in kept:  # the run of the first test is that of all
        echo.run(out=echo.root / "pinned")
        (path,) = echo.root.glob("pinned/runs/echo/*/record.json")
        kept["record"] = path.read_bytes()
        echo.calls.clear()
    (echo.path / "baseline.json").write_bytes(kept["record"])
    return echo


def reasons(run):
    return [code.removeprefix(PREFIX) for code in run.judgement.decision.reason_codes]


@pytest.mark.parametrize(
    ("policy", "outcome", "status"),
    [
        ({}, "hold", HELD),
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
    evidence = run.published.folder / "evidence"
    assert main(["verify", *map(str, evidence.glob("*.json"))]) == 0


def test_the_claim_of_a_class_is_in_its_gate_toml(twelve):
    twelve.write("gate.toml", 'claim = "not_worse"\nmargin = 0.3\n')
    assert twelve.run(baseline="auto").exit_status == 0
    assert twelve.run(baseline="auto", policy={"claim": "better"}).exit_status == HELD
    assert twelve.record()["policy"]["margin"] is None


def test_the_command_takes_a_claim_and_one_that_lacks_its_margin_is_wrong_use(twelve, capsys):
    where = [f"--bench-root={twelve.path.parent}", f"--out={twelve.out}", "--task-class=echo"]
    margin = ["--policy=claim=not_worse", "--policy=margin=0.3"]
    assert main(["run", *where]) == HELD
    assert main(["run", *where, *margin]) == 0
    assert twelve.record()["decision"]["outcome"] == "promote"
    assert main(["verify", str(twelve.out)]) == 0
    capsys.readouterr()
    assert main(["run", *where, *margin[:1]]) == 2
    assert "needs a margin" in capsys.readouterr().err
    with pytest.raises(PolicyError, match="claim: "):
        twelve.run(baseline="auto", policy={"claim": "best"})


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


@pytest.mark.parametrize(("rule", "status"), [("strict", 1), ("gate", HELD)])
def test_a_failing_case_is_1_where_it_must_pass_and_10_where_the_gate_alone_decides(
    twelve, rule, status
):
    twelve.instead["03"] = {"answer": "no"}
    run = twelve.run(baseline="auto", policy={"target_effect": 0.5}, exit_rule=rule)
    assert (run.exit_status, run.judgement.decision.outcome) == (status, "hold")


@pytest.mark.parametrize(
    ("outcome", "hint"),
    [("promote", "; --bench-exit=gate goes by the gate alone"), ("hold", "")],
)
def test_failed_cases_beside_a_promotion_name_the_option(echo, outcome, hint):
    """A promotion does not hide that cases failed, and says what would make the gate alone decide."""
    echo.instead["02"] = ValueError("boom")
    report = echo.run(baseline=None).judgement.report
    decision = CheckpointPromotionDecision.model_construct(outcome=outcome)
    choice = BaselineChoice(path=None, binding=True, requested=True)
    strict = [why.text for why in failures(report, decision, choice, "strict")]
    assert strict[-1] == f"1 of 3 cases failed{hint}"
    by_gate = [why.text for why in failures(report, decision, choice, "gate")]
    assert not any("cases failed" in why for why in by_gate)


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


def test_a_critical_case_cannot_be_dropped_from_a_record_unseen(twelve):
    twelve.instead["03"] = {"answer": "no"}
    twelve.case("03", critical="true")
    twelve.run(baseline="auto", policy={"claim": "no_regression", "max_newly_failing": 1})
    path = twelve.folder() / "record.json"
    path.write_text(path.read_text().replace('"critical": [\n      "03"\n    ]', '"critical": []'))
    assert twelve.record()["report"]["critical"] == []
    assert main(["verify", str(twelve.out)]) == 1


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
