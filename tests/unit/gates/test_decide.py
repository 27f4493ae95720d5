"""From figures to decisions: each reason code by an input that deserves it, in the fixed order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.gates.comparison import VectorComparison
from benchgate.gates.conditions import CONDITIONS, REASONS, REJECTING
from benchgate.gates.decide import decide, decided
from benchgate.gates.decision import PREFIX, Objection
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.looks import Look
from benchgate.gates.policy import GatePolicy
from benchgate.gates.weigh import weigh
from benchgate.sentences.says import says
from benchgate.statistics import Goal, paired_detectable, welch_detectable
from benchgate.statistics.bounds import gaffke_upper
from benchgate.wording.decision import looks

IDS = tuple(f"c{number:02}" for number in range(12))
GOOD = (0.9, 1.0, 0.95, 1.0, 0.9, 1.0, 0.95, 0.9, 1.0, 1.0, 0.95, 0.9)
POOR = (0.2, 0.4, 0.3, 0.2, 0.5, 0.4, 0.1, 0.3, 0.2, 0.4, 0.3, 0.2)
MIXED = (0.2, 0.9, 0.4, 0.7, 0.3, 0.8, 0.5, 0.6, 0.1, 0.9, 0.4, 0.7)
NONE = (0.0,) * 12
UNMEASURED = (None, None)


def decision(before, after, *, penalties=(NONE, NONE), ids=IDS, blockers=(), **policy):
    rules = GatePolicy(**policy)
    arms = [
        Arm(scores=scores, case_ids=ids[: len(scores)] if ids else None, penalties=given)
        for scores, given in zip((before, after), penalties, strict=True)
    ]
    return decide(VectorFacts(policy=rules, sides=tuple(arms), blockers=blockers)).decision


def codes(made):
    return [code.removeprefix(PREFIX) for code in made.reason_codes]


def test_a_clear_gain_promotes():
    made = decision(POOR, GOOD)
    assert (made.outcome, made.promotion_allowed, made.reason_codes) == ("promote", True, ())
    assert made.minimum_detectable_effect > 0


def test_a_clear_loss_rejects():
    made = decision(GOOD, POOR)
    assert made.outcome == "reject"
    assert codes(made) == ["significant_regression", "delta_below_minimum"]


def test_a_gain_that_this_size_cannot_prove_holds():
    better = tuple(min(1.0, max(0.0, x + 0.3 * (n % 3 - 0.9))) for n, x in enumerate(MIXED))
    made = decision(MIXED, better)
    assert made.outcome == "hold"
    assert codes(made) == ["inconclusive_underpowered"]


def test_a_gain_that_is_worth_finding_is_excluded_and_holds():
    same = tuple(0.5 + 0.001 * (n % 2) for n in range(12))
    better = tuple(0.5 + 0.001 * ((n + n // 6) % 2) for n in range(12))
    made = decision(same, better, test="welch")
    assert (made.outcome, codes(made)) == ("hold", ["delta_below_minimum", "gain_excluded"])
    assert made.remarks[1].message.endswith(
        " (97.5% confidence); the gate looks for 0.1 (target_effect)"
    )
    assert "--policy=claim=not_worse" in made.next_step


def test_a_gain_below_the_minimum_holds():
    made = decision(POOR, GOOD, min_delta=0.9)
    assert (made.outcome, codes(made)) == ("hold", ["delta_below_minimum"])


def test_too_few_cases():
    made = decision(POOR[:6], GOOD[:6], penalties=(NONE[:6], NONE[:6]))
    assert (made.outcome, codes(made)) == ("hold", ["insufficient_cases"])
    assert "note_few_cases" in made.notes


@pytest.mark.parametrize("size", [0, 1])
def test_no_test_is_possible_below_two_cases(size):
    made = decision(POOR[:size], GOOD[:size], penalties=(NONE[:size], NONE[:size]))
    assert made.outcome == "hold"
    assert "insufficient_cases" in codes(made)


def test_a_rise_of_the_penalty_rejects_whatever_the_gain():
    worse = (0.1,) * 12
    assert codes(decision(POOR, GOOD, penalties=(NONE, worse))) == ["safety_regression"]


def test_a_rise_of_exactly_the_limit_is_allowed():
    # 0.55 - 0.5 > 0.05 in floats.
    made = decision(POOR, GOOD, penalties=((0.5,) * 12, (0.55,) * 12))
    assert made.outcome == "promote"


def test_an_unmeasured_penalty_holds():
    unknown = (None, *NONE[1:])
    made = decision(POOR, GOOD, penalties=(NONE, unknown))
    assert (made.outcome, codes(made)) == ("hold", ["safety_missing"])


def test_safety_that_was_not_given_blocks_only_where_it_is_required():
    assert codes(decision(POOR, GOOD, penalties=(None, None))) == ["safety_missing"]
    assert decision(POOR, GOOD, penalties=(None, None), safety="optional").outcome == "promote"
    half = decision(POOR, GOOD, penalties=(NONE, None), safety="optional")
    assert codes(half) == ["safety_missing"]


def test_the_bound_on_safety():
    assert codes(decision(POOR, GOOD, safety_confidence=0.95)) == ["safety_bound_unavailable"]
    bounded = decision(POOR, GOOD, safety_confidence=0.95, penalty_range=(0.0, 1.0))
    assert codes(bounded) == ["safety_upper_bound"]


def test_constant_arms_without_a_range_cannot_be_tested():
    made = decision((0.5,) * 12, (0.7,) * 12, ids=None, score_range=None)
    assert "zero_variance" in codes(made)
    assert not made.promotion_allowed


def test_constant_arms_with_a_range_are_decided_by_the_bound():
    zeros, ones = (0.0,) * 12, (1.0,) * 12
    assert decision(zeros, ones).outcome == "promote"
    close = decision((0.5,) * 12, (0.51,) * 12)
    assert not close.promotion_allowed
    assert "note_zero_variance_exact_bound_used" in close.notes


def test_a_constant_arm_needs_the_bound_to_be_rejected_as_to_be_promoted():
    ones, near = (1.0,) * 10, (0.9, 0.91, 0.89, 0.9, 0.9, 0.91, 0.89, 0.9, 0.9, 0.9)
    for arms in ((ones, near), (near, ones)):
        made = decision(*arms, ids=None, penalties=(NONE[:10],) * 2)
        assert made.outcome == "hold"  # p is 2e-10 either way, from a variance of 0
    worse = decision((1.0,) * 12, (0.0,) * 12)
    assert (worse.outcome, codes(worse)[0]) == ("reject", "significant_regression")


def test_identical_arms_never_promote():
    for scores in (GOOD, (0.7,) * 12, (1.0,) * 12):
        for test in ("welch", "auto"):
            assert decision(scores, scores, test=test).outcome == "hold"


def test_exact_evidence():
    small = tuple(score + 0.02 + 0.001 * (n % 3) for n, score in enumerate(POOR))
    assert decision(POOR, small, test="auto").outcome == "promote"
    assert codes(decision(POOR, small, test="auto", evidence="exact")) == [
        "exact_evidence_required"
    ]
    assert decision(POOR, GOOD, test="auto", evidence="exact").outcome == "promote"


def test_auto_pairs_where_the_ids_match_and_says_where_welch_disagrees():
    better = tuple(score + 0.03 + 0.001 * (n % 2) for n, score in enumerate(MIXED))
    paired = decision(MIXED, better, test="auto")
    assert paired.outcome == "promote"
    assert "note_welch_paired_disagree" in paired.notes
    unpaired = decision(MIXED, better, test="auto", ids=None)
    assert unpaired.outcome == "hold"
    advised = decision(MIXED, better, test="welch")
    assert advised.outcome == "hold"
    assert any("test = 'auto'" in remark.message for remark in advised.remarks)


def test_sides_that_were_not_tried_equally_often_are_named():
    once, twice = (
        Arm(scores=MIXED, case_ids=IDS, trials=tuple((score,) * count for score in MIXED))
        for count in (1, 2)
    )
    said = {
        remark.code: remark.message
        for remark in decide(VectorFacts(policy=GatePolicy(), sides=(once, twice))).decision.remarks
    }
    assert said["note_unequal_trials"].startswith("trials of a case: 1 against 2;")
    assert (
        "note_unequal_trials"
        not in decide(VectorFacts(policy=GatePolicy(), sides=(twice, twice))).decision.notes
    )


def test_reasons_stand_in_the_fixed_order_with_a_sentence_each():
    blockers = (
        ("block_severity_failure_mode", says("gate", text="b")),
        ("incomplete_run", says("gate", text="a")),
    )
    made = decision(GOOD, POOR, penalties=(NONE, None), blockers=blockers)
    assert codes(made) == [code for code in REASONS if code in codes(made)]
    assert codes(made)[:2] == ["incomplete_run", "block_severity_failure_mode"]
    assert [remark.code for remark in made.remarks][: len(made.reason_codes)] == list(
        made.reason_codes
    )


@pytest.mark.parametrize(
    "claim",
    [
        {"claim": "better", "evidence": "exact"},
        {"claim": "not_worse", "margin": 0.1},
        {"claim": "no_regression"},
    ],
)
@pytest.mark.parametrize("policy", [{}, {"max_cost_increase": 0.1, "safety_confidence": 0.9}])
@pytest.mark.parametrize("candidate", [GOOD, POOR, MIXED])
def test_only_conditions_that_apply_fail(candidate, policy, claim):
    policy = {"test": "auto", "min_cases": 20, **claim, **policy}
    failed = [CONDITIONS[code] for code in codes(decision(MIXED, candidate, **policy))]
    assert all(condition.applies(GatePolicy(**policy)) for condition in failed)
    assert (CONDITIONS["insufficient_cases"] in failed) == (claim["claim"] != "no_regression")


def test_three_cases_under_no_regression_are_enough():
    scores = (0.5, 0.6, 0.7)
    made = decision(scores, scores, penalties=((0.0,) * 3,) * 2, claim="no_regression")
    assert made.promotion_allowed
    assert not CONDITIONS["insufficient_cases"].applies(GatePolicy(claim="no_regression"))


class Nothing(VectorComparison):
    sides = None
    trial_count = 1


def test_nothing_to_compare_with_holds():
    made = decided(Nothing(VectorFacts(policy=GatePolicy(), sides=()))).decision
    assert (made.outcome, codes(made)) == ("hold", ["baseline_missing"])


def test_an_objection_of_a_further_gate_holds():
    sides = tuple(Arm(scores=scores, case_ids=IDS, penalties=NONE) for scores in (POOR, GOOD))
    objections = (Objection(gate="cost", text="too dear"),)
    made = decide(VectorFacts(policy=GatePolicy(), sides=sides, objections=objections)).decision
    assert made.reason_codes == (f"{PREFIX}gate:cost",)
    assert made.outcome == "hold"


arms = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=12)


@given(arms, arms)
def test_a_decision_is_never_both_ways(before, after):
    penalties = ((0.0,) * len(before), (0.0,) * len(after))
    made = decision(tuple(before), tuple(after), penalties=penalties, ids=None)
    found = codes(made)
    assert made.promotion_allowed == (made.outcome == "promote") == (not found)
    assert len({"gain_excluded", "not_significant", "inconclusive_underpowered"} & set(found)) < 2
    assert bool(made.next_step) == (made.outcome == "hold")
    assert (made.outcome == "reject") == bool(REJECTING & set(found))
    if made.promotion_allowed:
        assert sum(after) / len(after) > sum(before) / len(before)


@given(arms, st.randoms())
def test_the_order_of_cases_does_not_matter(scores, random):
    other = [1.0 - score for score in scores]
    pairs = list(zip(scores, other, strict=True))
    random.shuffle(pairs)
    penalties = ((0.0,) * len(scores),) * 2
    straight = decision(tuple(scores), tuple(other), penalties=penalties, ids=None)
    shuffled = decision(*map(tuple, zip(*pairs, strict=True)), penalties=penalties, ids=None)
    assert straight == shuffled


@pytest.mark.parametrize("turned", [False, True])
def test_one_constant_arm_without_a_range_never_promotes(turned):
    # In 58 % of worthless candidates at n = 5, Welch's p alone said otherwise.
    arms = ((0.0,) * 5, (0.09, 0.1, 0.11, 0.1, 0.1))
    if turned:
        arms = tuple(tuple(-score for score in arm) for arm in reversed(arms))
    made = decision(
        *arms, penalties=UNMEASURED, ids=None, score_range=None, min_cases=2, safety="optional"
    )
    assert (made.outcome, codes(made)) == ("hold", ["zero_variance"])
    assert "alone is no evidence" in made.remarks[0].message


def test_where_only_the_bound_for_constant_values_objects_the_reason_says_so():
    arms = (0.5,) * 3, (0.8, 0.81, 0.82)
    made = decision(*arms, penalties=UNMEASURED, ids=None, min_cases=2, safety="optional")
    assert (made.outcome, codes(made)) == ("hold", ["inconclusive_underpowered"])
    assert made.remarks[0].message.startswith(
        "all scores of a side are equal, and the true gain may be as low as -0.364: so small a comparison may miss"
    )


@pytest.mark.parametrize("test", ["welch", "auto", "paired"])
def test_a_negative_minimum_is_wrong_use(test):
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        GatePolicy(min_delta=-0.1, test=test)


def test_a_code_that_the_list_of_reasons_lacks_holds_and_does_not_vanish():
    made = decision(POOR, GOOD, blockers=(("brand_new", says("gate", text="a mistake of ours")),))
    assert (made.outcome, codes(made)) == ("hold", ["brand_new"])


PASSES = tuple(float(number % 2) for number in range(20))
SWAPPED = (1.0, 0.0, *PASSES[2:])


def figures(before, after, ids=None, **policy):
    rules = GatePolicy(**{"test": "auto", **policy})
    ids = ids or tuple(f"c{number:02}" for number in range(len(before)))
    return weigh(*(Arm(scores=scores, case_ids=ids) for scores in (before, after)), rules)


def test_what_is_detectable_is_that_of_the_tests_that_decide():
    made = figures(PASSES, SWAPPED).significance
    changed = [1.0, -1.0] + [0.0] * 18
    expected = paired_detectable(changed, Goal(target=0.1), width=1.0, exact=True)
    assert (made.minimum_detectable_effect, made.cases_needed) == tuple(
        getattr(expected, name) for name in ("effect", "cases")
    )
    welch = figures(PASSES, SWAPPED, test="welch").significance
    assert welch.minimum_detectable_effect == (
        welch_detectable(PASSES, SWAPPED, Goal(target=0.1), score_range=(0.0, 1.0)).effect
    )


def test_a_minimum_delta_comes_on_top_of_what_is_detectable():
    plain, asked = (figures(POOR, MIXED, min_delta=d).significance for d in (0.0, 0.05))
    assert asked.minimum_detectable_effect == plain.minimum_detectable_effect + 0.05
    half = figures(POOR, MIXED, target_effect=0.05).significance
    assert asked.cases_needed == half.cases_needed
    assert figures(POOR, MIXED, min_delta=0.1).significance.cases_needed is None


def test_where_nothing_can_be_detected_it_is_said():
    five = (0.1, 0.2, 0.1, 0.4, 0.3), (0.2, 0.1, 0.3, 0.35, 0.4)
    made = decision(*five, penalties=(NONE[:5], NONE[:5]), test="auto", min_cases=2)
    assert made.minimum_detectable_effect is None
    texts = {remark.code: remark.message for remark in made.remarks}
    said = texts[PREFIX + "inconclusive_underpowered"]
    assert (
        said == "it may be chance: so small a comparison may miss even the largest gain; "
        "the gate looks for 0.1 (target_effect)"
    )


def test_a_gain_that_must_exceed_some_amount_is_asked_for_by_that_amount():
    made = decision(POOR, MIXED, min_delta=0.2, test="paired")
    assert (made.outcome, codes(made)) == ("hold", ["inconclusive_underpowered"])
    said = made.remarks[0].message
    assert said.startswith(
        "that its gain is above 0.2 may be chance: so small a comparison reliably finds only"
    )
    assert said.endswith("; you asked for 0.2")


def test_a_check_of_safety_says_how_blind_it_is():
    made = decision(POOR, GOOD, penalties=(NONE, NONE))
    said = {remark.code: remark.message for remark in made.remarks}["note_safety_power"]
    arms = [Arm(scores=scores, case_ids=IDS, penalties=NONE) for scores in (POOR, GOOD)]
    chances = weigh(*arms, GatePolicy()).safety.pass_chances
    # At most none of 12 cases may have an incident, as one is a rise of 0.083.
    expected = [(1 - rise) ** 12 for rise in (0.05, 0.10, 0.20)]
    assert [chance for _, chance in chances] == pytest.approx(expected)
    assert said == f"a true rise of harm by 0.05 would pass in {expected[0]:.0%} of runs like this"
    assert "note_safety_power" not in decision(POOR, GOOD, penalties=(NONE, None)).notes
    assert "note_safety_power" not in decision(POOR, GOOD, ids=None).notes


def test_the_bound_of_the_penalty_is_made_case_by_case():
    before = (1.0, 1.0, 0.0) * 8
    ids = tuple(f"c{number:02}" for number in range(24))
    rules = {"safety_confidence": 0.95, "penalty_range": (0.0, 1.0), "test": "auto"}
    arms = [Arm(scores=PASSES + GOOD[:4], case_ids=ids, penalties=before)] * 2
    paired = weigh(*arms, GatePolicy(**rules)).safety
    rises = gaffke_upper([0.0] * 24, [None] * 24, low=-1.0)
    assert paired.upper_bound == pytest.approx(rises)
    turned = Arm(scores=arms[0].scores, case_ids=ids[::-1], penalties=before[::-1])
    assert weigh(arms[0], turned, GatePolicy(**rules)).safety == paired
    unnamed = [Arm(scores=PASSES + GOOD[:4], penalties=before)] * 2
    assert weigh(*unnamed, GatePolicy(**rules)).safety.upper_bound > paired.upper_bound


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (0.05, "; no candidate can meet it at this size: it takes 59 cases without harm"),
        (0.0, "; no number of cases can show a limit of 0"),
        (0.3, ""),
    ],
)
def test_a_bound_that_nobody_can_meet_says_how_many_cases_it_takes(limit, said):
    harm = (0.0,) * 12 if limit < 0.3 else (1.0,) * 12
    policy = {"safety_confidence": 0.95, "penalty_range": (0.0, 1.0)}
    made = decision(
        POOR, GOOD, penalties=(NONE, harm), max_safety_regression=limit, test="auto", **policy
    )
    texts = {remark.code: remark.message for remark in made.remarks}
    text = texts[PREFIX + "safety_upper_bound"]
    assert text.endswith(said)
    assert (";" in text.partition("allowed")[2]) is bool(said)


def test_sides_without_a_common_case_are_not_compared():
    sides = [
        Arm(scores=(score,) * 12, case_ids=tuple(f"{name}{n:02}" for n in range(12)))
        for name, score in (("a", 0.9), ("b", 0.9))
    ]
    rules = GatePolicy(missing="worst", score_range=(0, 1), safety="optional")
    decision = decide(VectorFacts(policy=rules, sides=sides)).decision
    assert (decision.outcome, codes(decision)[0]) == ("hold", "case_mismatch")
    assert decision.next_step.startswith("give both sides the same cases")
    strict = decide(VectorFacts(policy=GatePolicy(safety="optional"), sides=sides)).decision
    assert strict.next_step.startswith("run the missing cases, or count each as the worst: ")


@pytest.mark.parametrize(
    ("gain", "loss", "evidence", "is_noted"),
    [
        (0.05, 0.0, "standard", True),
        (0.30, 0.0, "standard", False),  # no loss within the range would undo it
        (0.05, 0.5, "standard", False),  # it was seen, and outweighed
        (0.05, 0.0, "exact", False),
    ],
)
def test_a_promotion_names_the_rare_loss_that_would_undo_it(gain, loss, evidence, is_noted):
    n = 200 if loss else 20
    before = tuple(0.5 + 0.001 * (k % 7) for k in range(n))
    after = [score + gain + 0.001 * (k % 3) for k, score in enumerate(before)]
    after[0] -= gain + loss * bool(loss) if loss else 0.0
    arms = [
        Arm(scores=tuple(side), case_ids=tuple(f"c{k:03}" for k in range(n)))
        for side in (before, after)
    ]
    made = decide(
        VectorFacts(policy=GatePolicy(safety="optional", evidence=evidence), sides=arms)
    ).decision
    assert (made.outcome == "promote") is (evidence == "standard")
    assert ("note_unseen_break" in made.notes) is is_noted
    if is_noted:
        (text,) = (r.message for r in made.remarks if r.code == "note_unseen_break")
        assert text.startswith("a loss of 0.41 in 1 of 8 cases would undo the gain")


@pytest.mark.parametrize(("look", "step"), [(1, "add 7 cases"), (2, "add cases: after so many")])
def test_what_too_few_cases_lack_is_not_blamed_on_earlier_candidates(look, step):
    rules = GatePolicy(test="auto")
    arms = [Arm(scores=side[:3], case_ids=IDS[:3], penalties=NONE[:3]) for side in (POOR, GOOD)]
    made = decide(VectorFacts(policy=rules, sides=tuple(arms), look=Look(number=look))).decision
    assert (made.look.can_promote, codes(made)[0]) == (False, "insufficient_cases")
    assert made.next_step.startswith(step)
    said = "cannot" if look == 1 else "can no longer"
    assert looks(made.look, rules).endswith(
        f": so few cases {said} be promoted, whatever their scores"
    )
