"""How a run differs from the sealed plan that it cites: each thing is named, and nothing else is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from benchgate.artifacts.sealed_plan import PlannedBaseline, Prediction, SealedPlan, broken
from benchgate.gates.policy import GatePolicy
from benchgate.ids import system_digest
from benchgate.wire.canonical import digest
from benchgate.wire.model import SCHEMA_VERSION

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
OTHER = "f" * 64
NOTHING = dict.fromkeys(Prediction.model_fields) | {
    "units": 3,
    "look": 1,
    "runs": 0,
    "is_lower_limit": False,
}


@pytest.fixture
def report(echo):
    return echo.run().judgement.report


def sealed(report, **fields):
    baseline = PlannedBaseline(
        system="old", system_sha256=system_digest(report), run_id=report.run_id
    )
    return SealedPlan.sealed(
        **{
            "schema_version": SCHEMA_VERSION,
            "report_kind": "sealed_plan",
            "sealed_at": BEGAN,
            "benchgate": "1",
            "task_class": "echo",
            "case_count": 3,
            "cases": digest(dict(report.digests.cases)),
            "rubric": report.digests.scorer,
            "baseline": baseline,
            "trial_count": 1,
            "policy": GatePolicy(),
            "prediction": Prediction(**NOTHING),
            **fields,
        }
    )


def problems(plan, report, policy=None, started=BEGAN, **baseline):
    baseline = {"run_id": plan.baseline.run_id, "beside": None, **baseline}
    return list(broken(plan, report, policy or GatePolicy(), started, **baseline))


def test_a_run_as_planned_breaks_nothing(report):
    plan = sealed(report)
    assert problems(plan, report) == []
    assert plan.seal == plan.own_seal()


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"alpha": 0.1}, ["alpha is 0.1, planned was 0.05"]),
        ({"claim": "no_regression"}, ["claim is no_regression, planned was better"]),
        (
            {"target_effect": 0.3, "min_cases": 2},
            ["min_cases is 2, planned was 10", "target_effect is 0.3, planned was 0.1"],
        ),
    ],
)
def test_each_key_of_another_policy_is_named(report, policy, said):
    assert sorted(problems(sealed(report), report, GatePolicy(**policy))) == said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"case_count": 4, "cases": OTHER}, "the cases are not the 4 that were planned, or "),
        ({"rubric": OTHER}, "the rubric is "),
        ({"trial_count": 2}, "trials of each case are 1, planned were 2"),
        ({"sealed_at": BEGAN + timedelta(seconds=1)}, "the plan was sealed at 2026-11-01 00:00:01"),
        ({"task_class": "other", "rubric": OTHER}, "the plan is of task class 'other'"),
    ],
)
def test_each_fact_that_was_planned_otherwise_is_named(report, fields, said):
    (problem,) = problems(sealed(report, **fields), report)
    assert problem.startswith(said)


def test_more_trials_than_planned_are_another_run(report):
    more = report.model_copy(update={"trial_count": 2})
    assert problems(sealed(report), more) == ["trials of each case are 2, planned were 1"]


def test_an_edited_plan_is_none(report):
    plan = sealed(report).model_copy(update={"case_count": 2})
    assert problems(plan, report) == ["the plan was edited after it was sealed"]


def test_another_baseline_is_named(report):
    plan = sealed(report)
    assert problems(plan, report, run_id=None) == ["a baseline was planned, and the run has none"]
    (problem,) = problems(plan, report, run_id=OTHER)
    assert problem == f"the baseline is run ffffffffffff, planned was {report.run_id[:12]}"


def test_a_baseline_that_ran_beside_counts_by_its_system(report):
    plan = sealed(report)
    assert problems(plan, report, run_id=OTHER, beside=report) == []
    other = report.model_copy(update={"system": "another"})
    said = "the baseline is another system than old, which was planned"
    assert problems(plan, report, run_id=OTHER, beside=other) == [said]


def test_a_log_beside_is_the_planned_run_or_another(report):
    plan, log = sealed(report), report.model_copy(update={"source": "a log"})
    assert problems(plan, report, beside=log) == []
    (problem,) = problems(plan, report, run_id=OTHER, beside=log)
    assert problem.startswith("the baseline is run ffffffffffff, planned was ")
