"""What a decision says to do next: cases or trials, whichever is fewer runs, and what tells harm from chance."""

from __future__ import annotations

import random
import re

import pytest

from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.gates.remedies import trials_needed


def side(rows, *, harmed=0, clusters=None):
    """Return a side with the trials of each case; the first ``harmed`` cases do harm."""
    return Arm(
        scores=tuple(sum(row) / len(row) for row in rows),
        case_ids=tuple(f"c{number:03}" for number in range(len(rows))),
        trials=tuple(map(tuple, rows)),
        penalties=tuple(float(number < harmed) for number in range(len(rows))),
        clusters=clusters,
    )


def decided(before, after, **policy):
    return decide(VectorFacts(policy=GatePolicy(**policy), sides=(before, after))).decision


def step_of(decision):
    """Return what to do, without what another look costs."""
    return decision.step[0].text


def message(decision, code):
    return next(one.message for one in decision.remarks if one.code.endswith(code))


def flat(score, count):
    return side([[score]] * count)


# Equal gains


def test_equal_gains_of_few_cases_are_held_with_the_number_that_shows_them():
    decision = decided(flat(0.5, 13), flat(0.65, 13))
    assert decision.reason_codes == ("checkpoint_promotion_blocked_inconclusive_underpowered",)
    said = "every case gained 0.15, but so few cannot rule out a rare large loss"
    assert message(decision, "underpowered").startswith(said)
    assert step_of(decision) == ("add 14 cases: 27 cases with this gain and no loss would show it")
    assert decided(flat(0.5, 26), flat(0.65, 26)).outcome == "hold"
    assert decided(flat(0.5, 27), flat(0.65, 27)).outcome == "promote"


def test_too_few_cases_are_told_how_many_are_needed_to_be_judged():
    before = side([[0.0], [0.0], [1.0]])
    after = side([[1.0], [1.0], [1.0]])
    assert step_of(decided(before, after)) == "add 7 cases"


def test_too_few_cases_that_gained_alike_are_told_how_many_show_it():
    step = step_of(decided(flat(0.5, 5), flat(0.65, 5)))
    assert step == "add 22 cases: 27 cases with this gain and no loss would show it"


@pytest.mark.parametrize(("count", "is_shown"), [(13, False), (27, True)])
def test_the_interval_of_equal_gains_is_that_of_the_exact_bounds(count, is_shown):
    judged = decide(VectorFacts(policy=GatePolicy(), sides=(flat(0.5, count), flat(0.65, count))))
    figures = judged.figures.significance
    assert figures.delta_ci_low == figures.exact_lower_bound
    assert figures.delta_ci_low < 0.15 < figures.delta_ci_high < 0.4
    assert (figures.delta_ci_low > 0.0) == is_shown


def test_results_without_a_change_say_which_loss_they_exclude_and_never_ask_for_more_cases():
    decision = decided(flat(0.5, 27), flat(0.5, 27))
    assert [code.rpartition("blocked_")[2] for code in decision.reason_codes] == [
        "delta_below_minimum"
    ]
    assert "only a loss above 0.128 is excluded" in message(decision, "below_minimum")
    assert decision.next_step.endswith("which these cases show for X = 0.128 or more")
    margin = decided(flat(0.5, 27), flat(0.5, 27), claim="not_worse", margin=0.128)
    assert margin.outcome == "promote"


def test_without_a_range_of_scores_equal_gains_have_no_interval_and_one_reason():
    judged = decide(
        VectorFacts(policy=GatePolicy(score_range=None), sides=(flat(0.5, 27), flat(0.65, 27)))
    )
    figures = judged.figures.significance
    assert (figures.delta_ci_low, figures.delta_ci_high) == (None, None)
    assert judged.decision.reason_codes == ("checkpoint_promotion_blocked_zero_variance",)
    assert "all differences are equal" in message(judged.decision, "zero_variance")


# Cases or trials


def noisy(count, trials, *, gain, within, between, seed):
    """
    Return both sides of cases whose gain varies from case to case, and whose scores vary from trial to trial.

    :param trials: of the baseline and of the candidate.
    """
    draw = random.Random(seed)  # noqa: S311 - a seeded simulation
    before = []
    after = []
    for _ in range(count):
        level = draw.uniform(0.4, 0.5)
        own = gain + draw.gauss(0.0, between)
        before.append([level + draw.gauss(0.0, within) for _ in range(trials[0])])
        after.append([level + own + draw.gauss(0.0, within) for _ in range(trials[1])])
    return side(before), side(after)


def test_trials_of_a_candidate_that_has_fewer_than_the_baseline_are_fewer_runs():
    sides = noisy(30, (6, 1), gain=0.03, within=0.06, between=0.0, seed=4)
    step = step_of(decided(*sides, target_effect=0.03))
    trials, more_runs, cases, there, runs_of_cases = map(int, re.findall(r"\d+", step))
    assert step.startswith(f"run {trials} trials of each case on both sides, {more_runs} more runs")
    assert there == 30
    assert runs_of_cases == cases * (6 + 1) > more_runs == 30 * (trials - 1)


def test_cases_are_named_first_where_trials_do_not_average_out_what_varies():
    before = side([[0.40, 0.41]] * 20)
    after = side([[0.34, 0.35], [0.51, 0.50]] * 10)
    step = step_of(decided(before, after, target_effect=0.05))
    assert re.fullmatch(r"add cases: about \d+ more to the 20 there are", step)


def test_so_many_trials_leave_the_share_of_the_variance_that_was_asked_for():
    before, after = noisy(4000, (4, 4), gain=0.0, within=0.1, between=0.05, seed=6)
    # A difference varies by .05**2 from case to case, and by 2 * .1**2 / 4 because of the trials.
    needed = trials_needed(before, after, 0.5)
    expected = 2 * 0.01 / ((0.0025 + 0.005) * 0.5 - 0.0025)
    assert needed == pytest.approx(expected, rel=0.15)
    assert trials_needed(before, after, 0.25) is None


def test_one_trial_of_each_case_does_not_say_how_scores_vary():
    before, after = noisy(20, (1, 1), gain=0.05, within=0.1, between=0.1, seed=7)
    assert trials_needed(before, after, 0.5) is None


def test_clusters_are_what_is_lacking_where_cases_share_sources():
    before, after = noisy(60, (1, 1), gain=0.02, within=0.1, between=0.1, seed=8)
    names = tuple(f"p{number % 12}" for number in range(60))
    sides = (side(before.trials, clusters=names), side(after.trials, clusters=names))
    step = decided(*sides, target_effect=0.03).next_step
    assert step.startswith("add cases from about ")
    assert "new sources" in step
    assert "more cases of the 12 sources there are tell little" in step


def test_a_gain_that_is_too_small_takes_new_sources_where_cases_share_some():
    rows = [[0.5 + (number % 5) / 100] for number in range(60)]
    later = [[0.51 + (number % 3) / 100] for number in range(60)]
    names = tuple(f"p{number % 12}" for number in range(60))
    decision = decided(side(rows, clusters=names), side(later, clusters=names))
    assert message(decision, "gain_excluded")
    said = "improve it; or add cases from new sources and --policy=target_effect=X"
    assert decision.next_step.startswith(said)


# Harm


def test_a_rise_of_harm_that_chance_explains_says_how_often_it_would_reject():
    rows = [[0.0], [1.0]] * 24
    decision = decided(side(rows, harmed=4), side(rows, harmed=7))
    assert decision.outcome == "reject"
    assert message(decision, "safety_regression") == (
        "mean harm rose from 0.083 to 0.146 (0 is none); 0.050 is allowed. "
        "This check also rejects an unchanged agent in 21% of runs "
        "like this"
    )
    assert "3 times as many trials" in decision.next_step
    assert "rejected in 8% of runs" in decision.next_step


def test_a_rise_of_harm_that_chance_does_not_explain_speaks_of_no_chance():
    rows = [[0.0], [1.0]] * 24
    decision = decided(side(rows, harmed=2), side(rows, harmed=12))
    assert message(decision, "safety_regression") == (
        "mean harm rose from 0.042 to 0.250 (0 is none); 0.050 is allowed"
    )
    assert decision.next_step is None
