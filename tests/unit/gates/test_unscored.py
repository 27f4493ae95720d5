"""Trials without a score: the second judgement, in which they speak against the candidate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchgate.aggregate import build_report
from benchgate.gates.baseline import arm, baseline_beside
from benchgate.gates.choice import BaselineChoice
from benchgate.gates.comparison import VectorComparison
from benchgate.gates.conditions import next_step
from benchgate.gates.decide import decide
from benchgate.gates.decision import PREFIX
from benchgate.gates.facts import RunFacts, VectorFacts
from benchgate.gates.judge import FinishedRun, judge
from benchgate.gates.policy import make_policy
from benchgate.ids import RunPlan
from benchgate.models import BenchScore, FailureMode, RunDigests, TrialResult
from benchgate.sentences.says import says
from benchgate.taxonomy import RESERVED, Taxonomy

SHA = "0" * 64
CHOICE = BaselineChoice(path=None, binding=True, requested=True)
ERROR, LATE = "harness_error", "timeout"
N = 100


def trial(case_id, number, value):
    """Return a trial: a score, a pair of score and penalty (0 if left out), or an outcome without a score."""
    common = {"case_id": case_id, "trial": number, "seed": 0, "held_out": False}
    if isinstance(value, str):
        modes = (FailureMode(code=value, detail="x", error="E"),)
        return TrialResult(**common, outcome=value, failure_modes=modes)
    score, penalty = value if isinstance(value, tuple) else (value, 0.0)
    made = BenchScore(passed=score >= 0.5, score=score, safety_penalty=penalty)
    return TrialResult(**common, outcome="scored", score=made)


def run(rows):
    """Return a report; each of the rows is a trial of a case, or a list of them."""
    table = {f"c{n:03}": row if isinstance(row, list) else [row] for n, row in enumerate(rows)}
    digests = dict.fromkeys(("rubric", "scorer", "taxonomy", "policy"), SHA)
    plan = RunPlan(
        task_class="toy",
        case_ids=tuple(table),
        scope="full",
        system="s",
        trial_count=len(table["c000"]),
        seed=0,
        digests=RunDigests(cases=dict.fromkeys(table, SHA), system=None, **digests),
        harness_version="0",
    )
    trials = [trial(c, n, value) for c, row in table.items() for n, value in enumerate(row)]
    return build_report(plan, trials, Taxonomy(RESERVED))


def judged(before, after, **policy):
    rules = make_policy({"test": "auto", **policy})
    before, after = run(before), run(after)
    baseline = baseline_beside(before)
    facts = RunFacts(policy=rules, report=after, baseline=baseline.facts)
    made = judge(FinishedRun(facts=facts, choice=CHOICE, baseline=baseline)).decision
    assert (
        decide(VectorFacts(policy=rules, sides=(arm(before), arm(after)))).decision.outcome
        == made.outcome
    )
    return made


def codes(made):
    return [code.removeprefix(PREFIX) for code in made.reason_codes]


@pytest.mark.parametrize(("n", "value"), [(100, 1.0), (150, 0.9), (200, 0.9)])
def test_an_identical_candidate_is_not_promoted_for_errors_of_the_baseline(n, value):
    errors = n // 20
    made = judged([ERROR] * errors + [value] * (n - errors), [value] * n)
    assert (made.outcome, codes(made)) == ("hold", ["unscored_decide"])
    assert "baseline: c000, c001, c002" in made.remarks[0].message
    assert "baseline_errors" in made.next_step


def test_who_takes_a_crash_for_the_true_score_says_so():
    sides = [ERROR] * 5 + [1.0] * (N - 5), [1.0] * N
    assert judged(*sides, baseline_errors="zero").outcome == "promote"


def test_a_gain_that_errors_do_not_make_is_promoted():
    assert judged([ERROR] * 3 + [0.0] * 20 + [1.0] * 77, [1.0] * N).outcome == "promote"


def test_errors_of_the_candidate_stay_the_worst():
    assert judged([1.0] * N, [ERROR] * 5 + [1.0] * (N - 5)).outcome == "reject"
    limits = {"claim": "not_worse", "margin": 0.05}
    assert judged([1.0] * N, [1.0] * N, **limits).outcome == "promote"
    assert judged([1.0] * N, [ERROR] * 3 + [1.0] * 97, **limits).outcome == "hold"


def test_timeouts_of_the_baseline_stay_0():
    assert judged([LATE] * 5 + [1.0] * 95, [1.0] * N).outcome == "promote"


def test_a_reject_is_never_softened():
    before = [ERROR] + [1.0] * (N - 1)
    made = judged(before, [0.0] * 30 + [1.0] * 70)
    assert (made.outcome, codes(made)[0]) == ("reject", "significant_regression")


def test_an_error_of_one_trial_is_filled_trial_by_trial():
    # 2 trials each: an error leaves 0.5, and 1.0 with the best score.
    before = [[ERROR, 1.0]] * 8 + [[1.0, 1.0]] * 92
    made = judged(before, [[1.0, 1.0]] * N)
    assert codes(made) == ["unscored_decide"]
    assert "c000-t0" in made.remarks[0].message


@pytest.mark.parametrize("claim", [{"claim": "not_worse", "margin": 0.04}, {}])
def test_without_a_score_range_any_error_holds(claim):
    before = [ERROR] + [0.1 + 0.001 * n for n in range(N - 1)]
    after = [0.8 + 0.001 * n for n in range(N)]
    assert judged(before, after).outcome == "promote"
    made = judged(before, after, score_range=None)
    assert codes(made) == ["unscored_decide"]
    assert "score_range" in made.remarks[0].message


def test_no_worse_is_judged_twice_too():
    before = [ERROR] * 5 + [1.0] * 95
    after = [0.0] * 5 + [1.0] * 95
    limits = {"claim": "not_worse", "margin": 0.06}
    assert judged(before, after, **limits, baseline_errors="zero").outcome == "promote"
    assert codes(judged(before, after, **limits)) == ["unscored_decide"]


def test_no_regression_counts_an_error_of_the_baseline_as_passed():
    before = [ERROR] + [1.0] * 11
    assert judged(before, [1.0] * 12, claim="no_regression").outcome == "promote"
    made = judged(before, [0.7] + [1.0] * 11, claim="no_regression")
    assert codes(made) == ["unscored_decide"]
    assert "case_regressed" in made.remarks[0].message


# penalties


GOOD, POOR = (1.0, 0.0), (0.0, 0.0)


def test_one_error_of_the_baseline_leaves_the_penalties_comparable():
    assert judged([ERROR] + [POOR] * 39, [GOOD] * 40).outcome == "promote"


def test_harm_where_the_baseline_erred_holds_if_it_decides():
    made = judged([ERROR] + [POOR] * 15, [(1.0, 1.0)] + [GOOD] * 15)
    assert (made.outcome, codes(made)) == ("hold", ["unscored_decide"])
    assert "safety_regression" in made.remarks[0].message
    # Of 40 cases one is .025, which is allowed.
    assert judged([ERROR] + [POOR] * 39, [(1.0, 1.0)] + [GOOD] * 39).outcome == "promote"


def test_harm_elsewhere_rejects_although_the_baseline_erred():
    made = judged([ERROR] + [POOR] * 15, [GOOD] + [(1.0, 1.0)] + [GOOD] * 14)
    assert (made.outcome, codes(made)) == ("reject", ["safety_regression"])


def test_a_crash_of_the_candidate_may_have_done_the_largest_harm():
    sides = [POOR] * 40, [ERROR] + [GOOD] * 39
    made = judged(*sides)
    assert codes(made) == ["safety_missing"]
    assert "penalty_range" in made.next_step
    assert judged(*sides, penalty_range=(0, 1)).outcome == "promote"
    made = judged(*sides, penalty_range=(0, 10))
    assert codes(made) == ["unscored_decide"]
    assert "candidate: c000" in made.remarks[0].message


def test_a_penalty_that_a_scored_trial_lacks_is_missing():
    made = judged([ERROR, (0.0, None)] + [POOR] * 38, [GOOD] * 40)
    assert codes(made) == ["safety_missing"]


def test_penalties_of_trials_are_filled_one_by_one():
    before = [[ERROR, (0.0, 0.4)]] + [[POOR, POOR]] * 11
    after = [[GOOD, (1.0, 0.9)]] + [[GOOD, GOOD]] * 11
    # .4 against .45 over 12 cases, and .2 against .45 if the crash did no harm.
    assert judged(before, after, max_safety_regression=0.01).outcome == "hold"
    assert judged(before, after, max_safety_regression=0.03).outcome == "promote"


def test_an_error_of_the_baseline_makes_no_candidate_cheap():
    def spent(rows, costs):
        side = arm(run(rows))
        known = zip(side.facts, costs, strict=True)
        facts = tuple(one.model_copy(update={"cost_usd": cost}) for one, cost in known)
        return replace(side, facts=facts)

    rules = make_policy({"test": "auto", "max_cost_increase": 0.1, "max_unscored": 1.0})
    after = spent([0.9] * 20, [2.0] * 20)
    for first, costs in ((0.1, [1.0] * 20), (ERROR, [60.0] + [1.0] * 19)):
        before = spent([first] + [0.1] * 19, costs)
        made = decide(VectorFacts(policy=rules, sides=(before, after))).decision
        assert made.outcome == "hold"
        assert codes(made) == ["cost_increase" if first == 0.1 else "unscored_decide"]


@pytest.mark.parametrize(
    ("before", "after", "policy", "step"),
    [
        (
            [LATE, LATE],
            [1.0, 1.0],
            {"penalty_range": [0, 1]},
            "again: 2 trials of the baseline, 0 ",
        ),
        ([1.0, 1.0], [1.0, ERROR], {}, "again; or set penalty_range"),
    ],
)
def test_the_next_step_of_missing_penalties_is_one_that_helps(before, after, policy, step):
    rows = [0.5, 1.0] * 9
    made = judged([*before, *rows], [*after, *rows], safety="required", **policy)
    assert "safety_missing" in codes(made)
    sides = (arm(run([*before, *rows])), arm(run([*after, *rows])))
    comparison = VectorComparison(VectorFacts(policy=make_policy(policy), sides=sides))
    (said,) = next_step(
        comparison, ["safety_missing"], None, says("look.later", number=2, chance=0.1)
    )
    assert step in said.text
