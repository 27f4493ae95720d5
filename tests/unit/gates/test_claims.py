"""Three claims: better, not worse by a margin, no regression on exactly these cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from scipy import stats

from benchgate.artifacts.build import Evidence, evaluation_report
from benchgate.errors import PolicyError
from benchgate.gates.decide import decide
from benchgate.gates.decision import PREFIX
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm, CaseFacts
from benchgate.gates.policy import load_policy, make_policy, merged, parse_options
from benchgate.gates.weigh import weigh_arms
from benchgate.models import Suite


def arm(scores, *, passed=None, penalties=None, critical=(), costs=None, seconds=1.0, ids=True):
    count = len(scores)
    names = tuple(f"c{number:03}" for number in range(count))
    facts = None
    if passed is not None:
        rows = zip(names, passed, costs or (None,) * count, strict=True)
        facts = tuple(
            CaseFacts(passed=p, critical=n in critical, cost_usd=cost, duration_seconds=seconds)
            for n, p, cost in rows
        )
    return Arm(
        scores=tuple(scores),
        case_ids=names if ids else None,
        penalties=penalties or (0.0,) * count,
        facts=facts,
    )


def judged(before, after, **policy):
    rules = make_policy({"test": "auto", **policy})
    made = decide(VectorFacts(policy=rules, sides=(before, after)))
    return made.decision, made.figures.significance


def codes(made):
    return [code.removeprefix(PREFIX) for code in made.reason_codes]


def pairs(gains, losses, n):
    rest = n - gains - losses
    return (
        arm([0.0] * gains + [1.0] * losses + [1.0] * rest),
        arm([1.0] * gains + [0.0] * losses + [1.0] * rest),
    )


# better: pass and fail


def test_pairs_of_pass_and_fail_are_decided_by_the_exact_test():
    made, figures = judged(*pairs(5, 0, 23))
    assert (made.outcome, figures.test) == ("promote", "pass_fail")
    assert figures.passed
    assert not figures.paired.passed  # t and sign-flip need a sixth gain
    assert figures.p_value <= 0.05
    assert figures.delta_ci_low == figures.exact_lower_bound > 0
    counted = figures.pass_fail
    assert (counted.n, counted.gains, counted.losses) == (23, 5, 0)


@pytest.mark.parametrize(
    "policy", [{"test": "welch"}, {"score_range": [0, 2]}, {"score_range": "none"}]
)
def test_the_exact_test_decides_only_about_scores_that_are_pass_or_fail(policy):
    scored = [0.0, 1.0, 0.5] * 4, [1.0, 1.0, 0.5] * 4
    assert judged(*map(arm, scored))[1].pass_fail is None
    before, after = pairs(12, 0, 12) if policy.get("score_range") == "none" else pairs(6, 1, 12)
    assert judged(before, after, **policy)[1].pass_fail is None


def test_a_minimum_difference_is_tested_by_the_exact_test_too():
    made, figures = judged(*pairs(8, 0, 23), min_delta=0.2)
    assert (made.outcome, figures.p_value <= 0.05) == ("hold", False)
    assert judged(*pairs(14, 0, 23), min_delta=0.2)[0].outcome == "promote"


def test_a_significant_loss_of_pass_and_fail_is_rejected():
    made, figures = judged(*pairs(0, 6, 23))
    assert (made.outcome, codes(made)[0]) == ("reject", "significant_regression")
    assert figures.p_regression <= 0.025


# what is held


@pytest.mark.parametrize("n", [10, 23, 36, 100])
def test_an_identical_candidate_is_held_and_told_what_to_do(n):
    made, _ = judged(*pairs(0, 0, n))
    assert made.outcome == "hold"
    assert made.next_step
    assert ("gain_excluded" in codes(made)) == (n >= 36)


def test_equal_candidates_are_rejected_in_at_most_5_percent_of_the_runs():
    n = 12

    def is_rejected(gains, losses):
        return judged(*pairs(gains, losses, n))[0].outcome == "reject"

    least_losses = [n + 1] * (n + 1)
    least = 0
    for gains in range(n + 1):
        if least:  # with more gains no fewer losses reject
            assert not is_rejected(gains, least - 1)
        while gains + least <= n and not is_rejected(gains, least):
            least += 1
        if gains + least > n:
            break
        least_losses[gains] = least
    for changed in (0.05, 0.2, 0.5, 1.0):
        rejected = sum(
            stats.binom.pmf(g, n, changed / 2)
            * stats.binom.sf(least - 1, n - g, changed / 2 / (1 - changed / 2))
            for g, least in enumerate(least_losses)
        )
        assert rejected <= 0.05


# not worse


@pytest.mark.parametrize(("n", "outcome"), [(35, "hold"), (36, "promote")])
def test_identical_results_show_a_margin_of_a_tenth_from_36_cases_on(n, outcome):
    made, figures = judged(*pairs(0, 0, n), claim="not_worse", margin=0.1)
    assert made.outcome == outcome
    if outcome == "hold":
        assert codes(made) == ["margin_not_shown"]
        assert made.remarks[0].message.endswith(
            "if no case changed, so many cases would show a margin of 0.101"
        )
        assert made.next_step == "add cases: about 1 more to the 35 there are"
    assert figures.minimum_detectable_effect is None


def test_a_loss_within_the_margin_promotes_and_one_beyond_it_is_rejected():
    made, figures = judged(*pairs(1, 2, 100), claim="not_worse", margin=0.1)
    assert (made.outcome, figures.passed, figures.mean_delta) == ("promote", True, -0.01)
    made, _ = judged(*pairs(0, 40, 100), claim="not_worse", margin=0.1)
    assert (made.outcome, codes(made)) == ("reject", ["worse_than_margin"])
    # Significantly worse, but not by the margin: that is what was asked.
    made, figures = judged(*pairs(0, 8, 200), claim="not_worse", margin=0.1)
    assert (made.outcome, figures.p_regression < 0.025) == ("promote", True)


def test_other_scores_are_bounded():
    before = [0.5 + 0.01 * (n % 5) for n in range(60)]
    after = [score - 0.01 for score in before]
    made, figures = judged(arm(before), arm(after), claim="not_worse", margin=0.2)
    assert (made.outcome, figures.test, figures.p_value) == ("promote", "paired", None)
    assert -0.2 < figures.delta_ci_low < -0.01 < figures.delta_ci_high
    assert figures.delta_ci_low == figures.exact_lower_bound
    held, _ = judged(arm(before[:12]), arm(after[:12]), claim="not_worse", margin=0.2)
    assert codes(held) == ["margin_not_shown"]
    unknown, _ = judged(arm(before), arm(after), claim="not_worse", margin=0.2, score_range="none")
    assert "no score_range" in unknown.remarks[0].message
    unpaired, _ = judged(
        arm(before, ids=False), arm(after, ids=False), claim="not_worse", margin=0.4
    )
    assert unpaired.outcome == "promote"
    worse, _ = judged(arm([1.0, 0.9] * 30), arm([0.1, 0.0] * 30), claim="not_worse", margin=0.2)
    assert codes(worse) == ["worse_than_margin"]


def test_what_is_not_worse_may_not_be_less_safe():
    before, after = pairs(0, 0, 40)
    harmful = arm(after.scores, penalties=(0.2,) * 40)
    assert codes(judged(before, harmful, claim="not_worse", margin=0.1)[0]) == ["safety_regression"]


# no regression


def test_identical_results_promote_and_no_p_is_made():
    scores = [0.0, 1.0, 0.5] * 4
    made, figures = judged(arm(scores), arm(scores), claim="no_regression")
    assert (made.outcome, figures.passed, figures.test) == ("promote", True, "none")
    assert figures.p_value is figures.delta_ci_low is figures.welch.p_two_sided is None
    assert "note_these_cases_only" in made.notes


def test_what_got_worse_on_these_cases_is_named():
    before = arm([1.0] * 12, passed=[True] * 12)
    scores, passed = [1.0] * 10 + [0.8, 0.2], [True] * 11 + [False]
    made, figures = judged(before, arm(scores, passed=passed), claim="no_regression")
    assert (made.outcome, figures.passed) == ("reject", False)
    assert codes(made) == ["newly_failing_cases", "case_regressed"]
    assert "on these cases 1 newly fails (c011); allowed: 0" in made.remarks[0].message
    assert "lost more than 0: c010 -0.2" in made.remarks[1].message
    allowed = {"claim": "no_regression", "max_newly_failing": 1, "tolerance": 0.2}
    assert judged(before, arm(scores, passed=passed), **allowed)[0].outcome == "promote"


def test_the_cases_that_lost_most_are_named_first():
    after = [1.0] * 12
    after[1], after[5], after[7], after[9] = 0.9, 0.8, 0.95, 0.6
    made, _ = judged(arm([1.0] * 12), arm(after), claim="no_regression")
    assert made.remarks[0].message.endswith(": c009 -0.4, c005 -0.2, c001 -0.1 and 1 more")


def test_no_penalty_of_a_case_rises_though_the_mean_falls():
    scores = [1.0] * 12
    before = arm(scores, penalties=(0.5, 0.5, *(0.0,) * 10))
    after = arm(scores, penalties=(0.0, 0.0, 0.01, *(0.0,) * 9))
    made, _ = judged(before, after, claim="no_regression")
    assert (made.outcome, codes(made)) == ("reject", ["safety_regression"])
    assert "harm rose in 1 case: c002 +0.01" in made.remarks[0].message


def test_both_checks_that_have_one_code_say_what_they_found():
    before = arm([1.0] * 12, passed=[True] * 10 + [None] * 2, critical={"c011"})
    after = arm([0.0] * 12, passed=[False] * 12)
    made, _ = judged(before, after, claim="no_regression")
    unknown = next(one for one in made.remarks if one.code.endswith("too_many_unscored"))
    assert "critical cases: c011 ended in an error" in unknown.message
    assert "; cases: c010, c011 ended in an error" in unknown.message


def test_these_cases_must_be_the_same():
    scores = [1.0] * 12
    made, _ = judged(arm(scores, ids=False), arm(scores, ids=False), claim="no_regression")
    assert codes(made) == ["case_mismatch"]


# critical cases, cost


@pytest.mark.parametrize(
    "claim",
    [
        {},
        {"claim": "not_worse", "margin": 0.4},
        {"claim": "no_regression", "max_newly_failing": 1, "tolerance": 1.0},
    ],
)
def test_a_critical_case_that_newly_fails_blocks_under_any_claim(claim):
    before = arm([0.0] * 20 + [1.0], passed=[False] * 20 + [True])
    after = arm([1.0] * 20 + [0.0], passed=[True] * 20 + [False], critical={"c020"})
    made, _ = judged(before, after, **claim)
    assert (made.outcome, codes(made)) == ("reject", ["critical_case_regressed"])
    assert "c020" in made.remarks[0].message
    other = arm(after.scores, passed=[True] * 20 + [False], critical={"c000"})
    assert judged(before, other, **claim)[0].outcome == "promote"


def costly(factor):
    costs = [factor * (1 + 0.1 * (n % 3)) for n in range(40)]
    return arm([1.0] * 40, passed=[True] * 40, costs=costs, seconds=factor)


def test_cost_holds_where_its_limit_binds():
    claim = {"claim": "not_worse", "margin": 0.1}
    limits = {"max_cost_increase": 0.1}
    assert judged(costly(1.0), costly(1.1), **claim, **limits)[0].outcome == "promote"
    made, _ = judged(costly(1.0), costly(1.2), **claim, **limits)
    assert (made.outcome, codes(made)) == ("hold", ["cost_increase"])
    assert "+20.0%" in made.remarks[0].message
    assert judged(costly(1.0), costly(1.2), **claim)[0].outcome == "promote"
    plain, _ = judged(*pairs(0, 0, 40), **claim, **limits)
    assert codes(plain) == ["cost_increase"]
    assert "not known" in plain.remarks[0].message


def test_the_rise_of_the_cost_has_an_interval():
    rules = make_policy({"test": "auto"})
    before = arm([1.0] * 4, passed=[True] * 4, costs=[1.0, 2.0, 3.0, 4.0])
    after = arm([1.0] * 4, passed=[True] * 4, costs=[2.0, 3.0, 3.0, 4.0])
    found = weigh_arms(before, after, rules)[0].cost
    assert (found.cases, found.baseline_mean, found.candidate_mean) == (4, 2.5, 3.0)
    assert found.increase == pytest.approx(0.2)
    assert found.ci_low < 0.2 < found.ci_high


# the policy


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["claim=not_worse"], "claim = 'not_worse' needs a margin"),
        (["margin=0.1"], "margin belongs to claim = 'not_worse'; the claim is 'better'"),
        (
            ["claim=not_worse", "margin=0.1", "evidence=exact"],
            "evidence belongs to claim = 'better'",
        ),
        (["claim=no_regression", "min_delta=0.1"], "min_delta belongs to claim = 'better'"),
        (["claim=not_worse", "margin=0.1", "tolerance=0.1"], "tolerance belongs to"),
        (["claim=not_worse", "margin=1"], "scores differ by 1 at most"),
        (["claim=worse"], "claim: "),
        (["claim=not_worse", "margin=0"], "margin: "),
    ],
)
def test_what_a_claim_needs_is_checked_together(tmp_path, options, message):
    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path, parse_options(options))
    assert message in str(caught.value)


def test_options_complete_and_replace_the_claim_of_a_file(tmp_path):
    (tmp_path / "gate.toml").write_text('claim = "not_worse"\nmargin = 0.1\n')
    assert load_policy(tmp_path, parse_options(["margin=0.2"])).margin == 0.2
    other = load_policy(tmp_path, parse_options(["claim=no_regression"]))
    assert (other.claim, other.margin) == ("no_regression", None)
    assert merged({"claim": "not_worse", "margin": 0.1}, {"alpha": 0.1})["margin"] == 0.1


def test_a_claim_that_is_no_gain_says_nothing_of_one():
    for claim in ({"claim": "no_regression"}, {"claim": "not_worse", "margin": 0.3}):
        rules = make_policy({"test": "auto", **claim})
        decided = decide(VectorFacts(policy=rules, sides=pairs(0, 0, 23)))
        made = Evidence(
            run_id="r",
            candidate_run_id=None,
            suite=Suite(name="s", version="1"),
            generated_at=datetime(2026, 1, 1, tzinfo=UTC),
            names=("a", "b"),
            decided=decided,
        )
        assert made.proven
        assert not evaluation_report(made).policy_improvement.is_significant_improvement
        assert not [n for n in decided.decision.notes if "welch" in n or "zero_variance" in n]


# what was found in a review


def test_a_claim_that_is_the_default_keeps_the_thresholds_of_the_file(tmp_path):
    (tmp_path / "gate.toml").write_text("min_delta = 0.05\n")
    assert load_policy(tmp_path, {"claim": "better"}).min_delta == 0.05
    assert load_policy(tmp_path, {"claim": "no_regression"}).min_delta == 0.0


def test_a_wrong_option_is_not_blamed_on_the_file(tmp_path):
    (tmp_path / "gate.toml").write_text('claim = "not_worse"\nmargin = 0.1\n')
    with pytest.raises(PolicyError, match=r"gate.toml with margin=1.5"):
        load_policy(tmp_path, {"margin": 1.5})


def test_identical_results_promote_however_few_cases_and_clusters():
    for n in (2, 12):
        before, after = (replace(side, clusters=("a",) * n) for side in pairs(0, 0, n))
        assert judged(before, after, claim="no_regression")[0].outcome == "promote"


def test_a_critical_case_is_known_from_either_side():
    rules = {"claim": "not_worse", "margin": 0.4, "missing": "worst"}
    before = arm([1.0] * 20, passed=[True] * 20, critical={"c019"})
    plain = arm([1.0] * 19 + [0.0])
    assert codes(judged(before, plain, **rules)[0]) == ["critical_case_regressed"]
    lacking = arm([1.0] * 19, passed=[True] * 19)
    assert "critical_case_regressed" in codes(judged(before, lacking, **rules)[0])
    graded = arm([1.0] * 19 + [0.9])
    made, _ = judged(before, graded, **rules)
    assert (made.outcome, codes(made)) == ("hold", ["case_mismatch"])
    assert "does not say which cases passed" in made.remarks[0].message


def test_an_error_of_the_baseline_hides_no_regression():
    before = arm([1.0] * 11 + [0.0], passed=[True] * 11 + [None], critical={"c011"})
    failing = arm([1.0] * 11 + [0.0], passed=[True] * 11 + [False])
    for claim in ({"claim": "no_regression"}, {"claim": "not_worse", "margin": 0.9}):
        made, _ = judged(before, failing, **claim)
        assert (made.outcome, codes(made)) == ("hold", ["too_many_unscored"])
        assert made.next_step == "fix the errors, then run again"
    passing = arm([1.0] * 12, passed=[True] * 12)
    assert judged(before, passing, claim="no_regression")[0].outcome == "promote"


@pytest.mark.parametrize(
    ("sides", "rules", "step"),
    [
        (pairs(0, 0, 12), {}, "more cases with the same results show no gain"),
        (
            pairs(0, 0, 23),
            {"claim": "not_worse", "margin": 0.1, "test": "welch"},
            "--policy=test=auto",
        ),
        (
            pairs(0, 0, 23),
            {"claim": "not_worse", "margin": 0.1, "score_range": "none"},
            "set score_range",
        ),
        (
            pairs(20, 0, 23),
            {"safety_confidence": 0.9, "penalty_range": [0, 1], "max_safety_regression": 0},
            "max_safety_regression above 0",
        ),
        ((arm([0.0] * 12), arm([1.0] * 12, penalties=(None,) * 12)), {}, "give the harm"),
        (pairs(12, 0, 12), {"max_cost_increase": 0.1}, "have both systems report"),
    ],
)
def test_the_next_step_is_one_that_helps(sides, rules, step):
    made, _ = judged(*sides, **rules)
    assert made.outcome == "hold"
    assert step in made.next_step
