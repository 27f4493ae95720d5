"""Tiers: what is asked, what is said where it is not met, and that nothing here promotes."""

from __future__ import annotations

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from benchgate.aggregate import build_report
from benchgate.artifacts.run_evidence import promotion_toml
from benchgate.errors import PromotionGateError, PromotionMustBeHumanAuthorized
from benchgate.ids import RunPlan
from benchgate.models import BenchScore, FailureMode, RunDigests, TrialResult
from benchgate.promotion.tiers import TIERS, next_tier
from benchgate.promotion.verdict import (
    PromotionGate,
    PromotionVerdict,
    TierConfig,
    best_bound,
    judge_tier,
)
from benchgate.registry import MIN_CASES
from benchgate.statistics.bounds import gaffke_lower
from benchgate.taxonomy import RESERVED, Taxonomy

GATE = PromotionGate(TierConfig())


def report(*scores, held=(), scope="full", modes=(), outcome="scored", passed=None):
    cases = [(f"c{n:03}", score, False) for n, score in enumerate(scores)]
    cases += [(f"h{n:03}", score, True) for n, score in enumerate(held)]
    results = [
        TrialResult(
            case_id=case_id,
            trial=0,
            seed=0,
            held_out=is_held,
            outcome=outcome,
            score=BenchScore(passed=score >= 0.5 if passed is None else passed, score=score)
            if outcome == "scored"
            else None,
            failure_modes=tuple(FailureMode(code=code) for code in modes),
        )
        for case_id, score, is_held in cases
    ]
    plan = RunPlan(
        task_class="echo",
        case_ids=tuple(case_id for case_id, _, _ in cases),
        scope=scope,
        system="s",
        trial_count=1,
        seed=0,
        harness_version="0",
        digests=RunDigests(
            cases={case_id: "a" * 64 for case_id, _, _ in cases},
            rubric="b" * 64,
            scorer="b" * 64,
            taxonomy="c" * 64,
            system=None,
            policy="d" * 64,
        ),
    )
    return build_report(plan, results, Taxonomy(RESERVED))


def evaluate(run, target="silver", current="bronze", gate=GATE, **changes):
    asked = {"min_cases": MIN_CASES, "chain_intact": True, **changes}
    return gate.evaluate("echo", current, run, target_tier=target, **asked)


def test_ten_perfect_cases_are_enough_for_silver_and_gold_is_out_of_their_reach():
    run = report(*[1.0] * 10)
    assert run.score_lower_bound_95 == pytest.approx(0.7411, abs=1e-4)
    silver = evaluate(run)
    assert (silver.sufficient, silver.recommendation) == (True, "promote")
    assert silver.reasons == ("all conditions met",)
    assert silver.requires_human_approval is True
    gold = evaluate(run, "gold")
    assert not gold.sufficient
    assert gold.recommendation == "hold"
    assert gold.reasons == (
        "score_lower_bound_95 0.741 < 0.85; unreachable at n=10: perfect scores give 0.741",
        "10 cases passed; gold asks for 50; unreachable at n=10",
    )


def test_a_bar_that_better_scores_would_reach_is_not_called_unreachable():
    assert evaluate(report(*[1.0] * 9, 0.0)).reasons == (
        "score_lower_bound_95 0.606 < 0.7",
        "9 cases passed; silver asks for 10",
    )


@pytest.mark.parametrize("cases", [1, 2, 10, 50, 200])
def test_the_best_bound_is_that_of_perfect_scores(cases):
    assert best_bound(cases) == pytest.approx(gaffke_lower([1.0] * cases, confidence=0.95))
    assert best_bound(0) == 0.0


def test_every_failed_condition_is_listed_in_fixed_order():
    run = report(*[0.2] * 4, held=[0.1], scope="selected", modes=["input_modified"])
    run = run.model_copy(update={"complete": False})
    verdict = evaluate(run, chain_intact=False, min_cases={"bronze": 3})
    assert verdict.reasons == (
        "scope is selected; a full run is asked for",
        "the run is incomplete",
        "a small bench stays at bronze: it asks for 3 cases, not 10",
        "score_lower_bound_95 is unknown; asked for is 0.700; unreachable at n=5: perfect scores give 0.549",
        "0 cases passed; silver asks for 10; unreachable at n=5",
        "failure modes of severity block: input_modified; none is allowed",
        "mean of the held-out cases (n=1) 0.1 < 0.7",
        "the chain of records is not intact, or the run is not in it",
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"scope": "selected"}, "scope is selected"),
        ({"complete": False}, "the run is incomplete"),
        (
            {"score_lower_bound_95": 0.6999},
            "score_lower_bound_95 0.69989999999999997 < 0.69999999999999996",
        ),
        ({"score_lower_bound_95": None}, "score_lower_bound_95 is unknown"),
        ({"passed_count": 9}, "9 cases passed; silver asks for 10"),
        ({"block_severity_failure_modes": ("harm",)}, "failure modes of severity block: harm"),
    ],
)
def test_each_condition_alone_is_enough_to_hold(change, reason):
    run = report(*[1.0] * 12).model_copy(update=change)
    verdict = evaluate(run)
    assert not verdict.sufficient
    assert len(verdict.reasons) == 1
    assert verdict.reasons[0].startswith(reason)


def test_a_bound_that_equals_the_threshold_is_enough():
    run = report(*[1.0] * 12).model_copy(update={"score_lower_bound_95": 0.7})
    assert evaluate(run).sufficient


def test_the_held_out_cases_alone_can_hold():
    held = evaluate(report(*[1.0] * 40, held=[0.69, 0.69]))
    assert held.reasons == ("mean of the held-out cases (n=2) 0.69 < 0.7",)
    assert evaluate(report(*[1.0] * 40, held=[0.7, 0.7])).sufficient


def test_a_broken_chain_alone_holds():
    assert not evaluate(report(*[1.0] * 12), chain_intact=False).sufficient


def test_the_current_tier_is_kept_or_a_demotion_is_recommended_in_the_same_shape():
    good, bad = report(*[1.0] * 60), report(*[0.0] * 60)
    kept = evaluate(good, "silver", "silver")
    assert (kept.recommendation, kept.sufficient) == ("keep", True)
    lost = evaluate(bad, "silver", "silver")
    assert (lost.recommendation, lost.sufficient) == ("demote", False)
    assert type(kept) is type(lost) is PromotionVerdict
    assert b'echo = "bronze"' in promotion_toml(lost, 1)
    assert evaluate(bad, "bronze", "bronze").recommendation == "hold"
    with pytest.raises(PromotionGateError, match="echo is gold, above silver"):
        evaluate(good, "silver", "gold")


def test_a_seed_bench_stays_bronze():
    seed = {"bronze": 3, "silver": 3}
    assert evaluate(report(*[1.0] * 12), "bronze", min_cases=seed).sufficient
    assert not evaluate(report(*[1.0] * 12), "silver", min_cases=seed).sufficient


def test_a_class_may_ask_for_more_cases():
    asked = {**MIN_CASES, "silver": 13}
    assert evaluate(report(*[1.0] * 12), min_cases=asked).reasons == (
        "12 cases passed; silver asks for 13; unreachable at n=12",
    )


def test_a_report_of_another_class_and_an_unknown_tier_are_refused():
    with pytest.raises(PromotionGateError, match="is of task class 'echo', not 'other'"):
        GATE.evaluate(
            "other", "bronze", report(1.0), target_tier="silver", min_cases={}, chain_intact=True
        )
    with pytest.raises(PromotionGateError, match="'diamond' is no tier"):
        evaluate(report(1.0), "diamond")


@given(
    scores=st.lists(st.floats(0, 1), min_size=1, max_size=30),
    target=st.sampled_from(TIERS),
    chained=st.booleans(),
)
def test_a_verdict_is_pure_follows_from_its_own_bar_and_never_falls_with_the_tier(
    scores, target, chained
):
    run = report(*scores)
    verdict = evaluate(run, target, chain_intact=chained)
    assert verdict == evaluate(run, target, chain_intact=chained)
    again = judge_tier(run, "bronze", target, verdict.bar, chain_intact=chained)
    assert again == verdict
    assert verdict.sufficient == (verdict.reasons == ("all conditions met",))
    if verdict.sufficient:  # whatever is enough for a tier is enough for those below
        for lower in TIERS[: TIERS.index(target)]:
            assert evaluate(run, lower, chain_intact=chained).sufficient
    assert PromotionVerdict.read_json(verdict.model_dump_json().encode()) == verdict


@pytest.mark.parametrize(
    "change",
    [
        {"score_lower_bound_95": float("inf")},
        {"block_severity_failure_modes": None},
        {"complete": "no"},
        {"passed_count": None},
        {"mean_score": float("nan")},
    ],
)
def test_a_report_that_does_not_hold_is_refused(change):
    run = report(*[1.0] * 12).model_copy(update=change)
    with pytest.raises(PromotionGateError, match="the report is not valid"):
        evaluate(run)


def test_a_report_with_a_score_that_does_not_hold_is_refused():
    run = report(*[1.0] * 12)
    made_up = BenchScore.model_construct(passed=True, score=2.0)
    first = run.per_case[0].model_copy(update={"score": made_up})
    run = run.model_copy(update={"per_case": (first, *run.per_case[1:])})
    with pytest.raises(PromotionGateError, match=r"the report is not valid.*\n*.*score"):
        evaluate(run)


@pytest.mark.parametrize(
    "asked", [{"bronze": float("nan")}, {"silver": 0}, {"tin": 3}, {"gold": None}]
)
def test_a_number_of_cases_that_is_none_is_refused(asked):
    with pytest.raises(PromotionGateError, match="min_cases has"):
        evaluate(report(*[1.0] * 12), min_cases=asked)


def test_apply_promotes_nothing_and_says_how_a_person_does():
    verdict = evaluate(report(*[1.0] * 12))
    with pytest.raises(PromotionMustBeHumanAuthorized) as caught:
        GATE.apply(verdict)
    error = caught.value
    assert (error.task_class, error.target_tier) == ("echo", "silver")
    assert error.tier_file == "docs/trust-tiers.toml"
    assert 'echo = "silver"' in str(error)
    assert isinstance(error, PromotionGateError)


def test_the_tier_above():
    assert [next_tier(tier) for tier in TIERS] == ["silver", "gold", "platinum", "platinum"]


# The file


def test_a_file_of_tiers_is_read(tmp_path):
    path = tmp_path / "trust-tiers.toml"
    path.write_text('[thresholds]\nsilver = 0.6\n[current]\necho = "gold"\n')
    tiers = TierConfig.read(path)
    assert [tiers.threshold(tier) for tier in TIERS] == [0.0, 0.6, 0.85, 0.95]
    assert (tiers.tier_of("echo"), tiers.tier_of("another")) == ("gold", "bronze")
    with pytest.raises(TypeError):
        tiers.current["echo"] = "platinum"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[thresholds]\nsilber = 0.7",
            ":2: thresholds.silber: unknown key; did you mean 'silver'?",
        ),
        ("[thresholds]\nbronze = 0.1", ":2: thresholds.bronze: unknown key"),
        ("[tresholds]", ":1: tresholds: unknown key; did you mean 'thresholds'?"),
        ("[current]\n\necho = 'gol'", ":3: current.echo: Input should be 'bronze', 'silver'"),
        ("[current]\necho = 1", ":2: current.echo: "),
        ("[thresholds]\nsilver = true", ":2: thresholds.silver: "),
        ("[thresholds]\nsilver = nan", ":2: thresholds.silver: "),
        ("[thresholds]\nsilver = 1.5", ":2: thresholds.silver: "),
        ("[thresholds]\nsilver = 0.9", "must not fall from silver to gold"),
        ("[thresholds", ":1: "),
        ("x" * 70_000, "70000 bytes; at most 65536"),
    ],
)
def test_a_wrong_file_of_tiers_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "trust-tiers.toml"
    path.write_text(text)
    with pytest.raises(PromotionGateError) as caught:
        TierConfig.read(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_a_missing_file_of_tiers_is_an_error_of_the_gate(tmp_path):
    with pytest.raises(PromotionGateError, match="cannot be read: No such file"):
        TierConfig.read(tmp_path / "none.toml")


def test_the_lines_to_merge_are_toml_and_name_their_evidence():
    verdict = evaluate(report(*[1.0] * 12))
    text = promotion_toml(verdict, 7).decode()
    assert tomli.loads(text) == {"current": {"echo": "silver"}}
    assert text.startswith(f"# Evidence: record 7 of echo, run {verdict.run_id}.\n")
