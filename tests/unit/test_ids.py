"""Ids and digests: golden vectors. A change here breaks every stored baseline, so it must be meant."""

from __future__ import annotations

import pytest

from benchgate.ids import RunPlan, run_id, suite_version, trial_seed
from benchgate.models import BenchScore, FailureMode, RunDigests, TrialResult, Usage
from benchgate.wire.canonical import canonical_bytes, digest
from benchgate.wire.files import tree_digest


def result(case_id="001-a", trial=0, **changes):
    score = BenchScore(passed=True, score=0.75, breakdown={"exact": 0.5}, safety_penalty=0.0)
    fields = {"seed": 1, "held_out": False, "outcome": "scored", "score": score}
    return TrialResult(case_id=case_id, trial=trial, **{**fields, **changes})


PLAN = RunPlan(
    task_class="echo",
    case_ids=("001-a",),
    scope="full",
    system="shout",
    trial_count=1,
    seed=0,
    harness_version="0.1.0",
    digests=RunDigests(
        cases={"001-a": "a" * 64},
        rubric="b" * 64,
        scorer="b" * 64,
        taxonomy="c" * 64,
        system=None,
        policy="d" * 64,
    ),
)


def test_canonical_bytes_are_those_of_rfc_8785():
    value = {"b": 1.0, "a": [1e21, 1e-7, "\u20ac", None, True]}
    assert canonical_bytes(value) == '{"a":[1e+21,1e-7,"€",null,true],"b":1}'.encode()


def test_run_id_golden_vector():
    expected = "99927884378b0f5e71c41dc2f6e4c94cdc14d4d0b2cd069bb626e3e6faae56ce"
    assert run_id("echo", [result()]) == expected


def test_plan_id_golden_vector():
    expected = "60e5af9355e2adbc9e107b73698a41323c54c29a6ea921912450ca1d91a36e4d"
    assert PLAN.plan_id() == expected


def test_seed_golden_vector():
    # First six bytes, big-endian, of SHA-256("echo|001-a|0|0").
    assert trial_seed("echo", "001-a", 0, 0) == 272407855394698


def test_tree_digest_golden_vector(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.txt").write_text("2")
    (tmp_path / "one.txt").write_text("1")
    expected = "1569ec0911abc4803d6808e913f7d52a42689bc71f3501e8dbedb84ad23dd16a"
    assert tree_digest(tmp_path) == expected


def test_suite_version_is_the_start_of_the_digest_over_case_digests():
    assert suite_version({"x": "a" * 64}) == digest({"x": "a" * 64})[:12]


def test_run_id_ignores_order_times_costs_and_details():
    one, two = result("a"), result("b", failure_modes=(FailureMode(code="late", detail="x"),))
    slower = two.model_copy(
        update={
            "duration_seconds": 9.0,
            "failure_modes": (FailureMode(code="late", detail="y", error="KeyError"),),
            "why": "set_aside",
            "cap_usd": 1.0,
            "violation": True,
            "usage": Usage(cost_usd=0.5, tokens_in=7),
            "score": two.score.model_copy(update={"cost_usd": 2.0}),
        }
    )
    assert run_id("echo", [one, two]) == run_id("echo", [slower, one])


@pytest.mark.parametrize(
    "changes",
    [
        {"trial": 1},
        {"outcome": "timeout", "score": None},
        {"failure_modes": (FailureMode(code="late"),)},
        {"score": BenchScore(passed=False, score=0.75, breakdown={"exact": 0.5}, safety_penalty=0)},
        {"score": BenchScore(passed=True, score=0.75, breakdown={"exact": 0.5})},
    ],
)
def test_run_id_sees_every_fact(changes):
    assert run_id("echo", [result(**changes)]) != run_id("echo", [result()])


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"trial_count": 2},
        {"system": "whisper"},
        {"harness_version": "0.2.0"},
        {"case_ids": ("001-a", "002-b")},
        {"digests": PLAN.digests.model_copy(update={"policy": "e" * 64})},
        {"digests": PLAN.digests.model_copy(update={"system": "declared"})},
    ],
)
def test_plan_id_sees_everything_the_run_depends_on(changes):
    from dataclasses import replace

    assert replace(PLAN, **changes).plan_id() != PLAN.plan_id()


def test_plan_id_does_not_depend_on_the_baseline():
    from dataclasses import replace

    compared = PLAN.digests.model_copy(update={"baseline": "f" * 64})
    assert replace(PLAN, digests=compared).plan_id() == PLAN.plan_id()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800"])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(ValueError, match=r"."):
        canonical_bytes({"x": value})
