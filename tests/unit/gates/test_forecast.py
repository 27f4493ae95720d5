"""What a plan promises is what the gate says of simulated runs."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest

from benchgate.gates import forecast as forecasts
from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm, CaseFacts
from benchgate.gates.forecast import LOSING, UNEVEN, Simulation, forecast
from benchgate.gates.policy import make_policy


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Simulate few runs."""
    monkeypatch.setattr(forecasts, "REPETITIONS", 20)


def baseline(n=20, trials=3, *, passes=False, clusters=None):
    draw = random.Random(5)  # noqa: S311
    levels = [0.3 + 0.4 * draw.random() for _ in range(n)]
    rows = tuple(
        tuple(float(draw.random() < p) if passes else p + draw.gauss(0, 0.1) for _ in range(trials))
        for p in levels
    )
    scores = tuple(sum(row) / trials for row in rows)
    ids = tuple(f"c{number:02}" for number in range(n))
    return Arm(scores=scores, case_ids=ids, trials=rows, clusters=clusters)


def rules(**policy):
    return make_policy({"test": "auto", "safety": "optional", **policy})


def planned(side, trials=1, **policy):
    return forecast(side, rules(**policy), trials, look=1)


@cache
def usual(cases=12):
    """Return what is planned of the baseline that most others are compared with."""
    return planned(baseline(cases))


def test_the_share_is_that_of_the_gates_own_decisions():
    side, policy = baseline(12), rules()
    runs = Simulation(side, policy, 2)
    chance = runs.chance(0.1)
    promoted = [
        decide(VectorFacts(policy=policy, sides=runs.sides(0.1, number))).decision.promotion_allowed
        for number in range(chance.runs)
    ]
    assert chance.share == sum(promoted) / len(promoted)
    low, high = chance.interval
    assert 0 <= low < chance.share < high <= 1


def test_the_same_plan_is_the_same_again_and_a_larger_gain_is_found_more_often():
    runs = Simulation(baseline(12), rules(), 1)
    shares = [runs.chance(gain).share for gain in (0.0, 0.05, 0.1, 0.25)]
    assert shares == sorted(shares)
    assert shares[0] <= 0.1
    assert shares[-1] >= 0.9
    assert runs.chance(0.05).share == shares[1]


def test_more_cases_and_more_trials_find_less():
    outlooks = [usual(12), usual(20), planned(baseline(20), 4)]
    effects = [outlook.detectable for outlook in outlooks]
    assert effects == sorted(effects, reverse=True)
    assert len({*effects}) == 3


def test_more_cases_than_can_be_simulated_are_left_to_the_formula(monkeypatch):
    side = baseline(40, 1, passes=True)
    simulated = planned(side, target_effect=0.3)
    monkeypatch.setattr(forecasts, "MOST_CASES", 39)
    formula = planned(side, target_effect=0.3)
    assert simulated.chance.runs
    assert formula.chance.runs == 0
    assert formula.chance.share == pytest.approx(simulated.chance.share, abs=0.2)
    assert formula.detectable == pytest.approx(simulated.detectable, abs=0.1)


def test_of_many_cases_the_formula_says_which_gain_is_found(
    monkeypatch,
):
    monkeypatch.setattr(forecasts, "_CASES", 600)  # as if 31 cases were more than 120
    side = baseline(31, 1)
    bound = planned(side, evidence="exact", score_range=[0, 1])
    plain = planned(side, score_range=[0, 1])
    assert plain.chance.runs == bound.chance.runs == 20
    assert bound.chance.share < plain.chance.share
    assert bound.detectable == plain.detectable
    monkeypatch.setattr(forecasts, "MOST_CASES", 30)
    assert planned(side, score_range=[0, 1]).detectable == plain.detectable


def test_the_number_of_simulated_runs_follows_from_the_number_of_cases(monkeypatch):
    monkeypatch.setattr(forecasts, "_CASES", 60)
    few = len(baseline().scores)
    monkeypatch.setattr(forecasts, "REPETITIONS", 3)
    monkeypatch.setattr(forecasts, "_LEAST", 1)
    assert Simulation(baseline(), rules(), 1).chance(0.1).runs == min(3, 60 // few)
    monkeypatch.setattr(forecasts, "_CASES", 1)
    assert Simulation(baseline(), rules(), 1).chance(0.1).runs == 1


def test_a_baseline_whose_trials_agree_shows_nothing_of_what_pairs_share():
    one = baseline(12, trials=1)
    same = Arm(scores=one.scores, case_ids=one.case_ids, trials=tuple(r * 2 for r in one.trials))
    for side in (one, same):
        assert planned(side).is_lower_limit
    assert not usual().is_lower_limit
    assert planned(one).detectable > usual().detectable


def test_a_trial_is_drawn_from_its_case_as_far_as_trials_of_a_case_agree():
    runs = Simulation(baseline(200, 4), rules(), 4)
    before, after = runs.sides(0.0, 0)
    differences = [b - a for a, b in zip(before.scores, after.scores, strict=True)]
    spread = sum(d * d for d in differences) / len(differences)
    assert spread == pytest.approx(0.1**2 * (1 / 4 + 1 / 4), rel=0.35)
    assert sum(differences) / len(differences) == pytest.approx(0.0, abs=0.02)


def test_a_trial_of_the_candidate_ends_without_a_score_as_far_as_there_are_so_many():
    facts = CaseFacts(
        passed=None, critical=False, cost_usd=None, duration_seconds=None, timeouts=(0, 2)
    )
    side = replace(baseline(12), facts=(facts,) * 12, penalties=(0.5,) * 12)
    for trials, places in ((1, (0,)), (2, (0,)), (4, (0, 2))):
        before, after = Simulation(side, rules(), trials).sides(0.0, 0)
        assert {one.timeouts for one in before.facts} == {(0, 2)}
        assert {one.timeouts for one in after.facts} == {places}


@pytest.mark.parametrize("passes", [True, False])
def test_a_gain_is_added_within_the_range(passes):
    runs = Simulation(baseline(400, 2, passes=passes), rules(), 2)
    before, after = runs.sides(0.1, 0)
    gain = sum(after.scores) / 400 - sum(before.scores) / 400
    assert gain == pytest.approx(0.1, abs=0.03)
    assert max(after.scores) <= 1.0


@pytest.mark.parametrize(
    ("side", "policy", "obstacle"),
    [
        (baseline(5), {}, "5 cases are too few: at least 10 are needed"),
        (baseline(12), {"safety": "required"}, "harm was not measured on every case of both sides"),
        (
            baseline(5, clusters=("a",) * 5),
            {"min_cases": 2},
            "1 cluster is too few: at least 6 are needed",
        ),
        (
            baseline(5),
            {"min_cases": 2, "test": "paired", "alpha": 0.001},
            "it may be chance: so small a comparison",
        ),
    ],
)
def test_what_no_candidate_can_overcome_is_the_gates_own_reason(side, policy, obstacle):
    found = planned(side, **policy)
    assert found.obstacle.startswith(obstacle)
    assert found.detectable is None


def test_few_cases_can_promote_under_no_regression():
    found = planned(baseline(3), claim="no_regression")
    assert (found.obstacle, found.chance, found.detectable) == (None, None, None)


def test_without_a_score_range_the_best_candidate_is_far_better():
    assert planned(baseline(12), score_range="none").obstacle is None


def test_looks_that_spend_alpha_end():
    found = planned(baseline(12), looks="spend")
    assert found.looks == 7
    assert usual().looks is None


def test_cases_of_one_cluster_are_one_unit():
    names = tuple(f"s{number // 2}" for number in range(20))
    shared = planned(baseline(clusters=names))
    assert shared.units == 10
    assert shared.detectable > usual(20).detectable


def test_not_worse_of_many_cases_is_reckoned_and_not_simulated(monkeypatch):
    monkeypatch.setattr(forecasts, "MOST_CASES", 120)
    few, many = (planned(baseline(n), claim="not_worse", margin=0.12) for n in (120, 121))
    assert few.chance.runs
    assert not many.chance.runs
    assert many.chance.gain == 0.0
    assert many.chance.share == pytest.approx(few.chance.share, abs=0.25)


def test_not_worse_asks_about_a_candidate_that_is_as_good():
    found = planned(baseline(40), trials=3, claim="not_worse", margin=0.2)
    assert found.chance.gain == 0.0
    assert found.chance.share > 0.5
    assert 0.05 < found.smallest_margin < 0.2
    assert found.detectable is None


@pytest.mark.parametrize(("shares", "gains"), [(UNEVEN, {0.0, 0.02}), (LOSING, {-0.01, 0.03})])
def test_gains_that_differ_from_case_to_case_are_found_less_often(shares, gains):
    runs = Simulation(baseline(12), rules(), 1)
    after, same = (runs.sides(gain, 3, shares)[1].scores for gain in (0.01, 0.0))
    assert {round(c - b, 9) for b, c in zip(same, after, strict=True)} == gains
    assert runs.chance(0.1, shares).share <= runs.chance(0.1).share


def test_a_plan_has_the_chances_of_even_and_uneven_gains_and_of_some_losses():
    outlook = usual(12)
    assert outlook.losing.share <= outlook.uneven.share <= outlook.chance.share


def test_a_loss_of_scores_that_pass_or_fail_makes_passes_fail():
    scores = (1.0,) * 20 + (0.0,) * 20
    side = Arm(scores=scores, case_ids=tuple(f"c{n:02}" for n in range(40)))
    runs = Simulation(side, rules(), 1)
    means = []
    for number in range(60):
        before, after = runs.sides(0.2, number, (-1.0, -1.0))
        assert {*after.scores} <= {0.0, 1.0}
        means.append(sum(after.scores) / 40 - sum(before.scores) / 40)
    assert sum(means) / 60 == pytest.approx(-0.2, abs=0.03)


def test_a_baseline_of_equal_scores_does_not_say_how_they_vary():
    side = replace(baseline(12), scores=(0.5,) * 12, trials=((0.5, 0.5),) * 12)
    outlook = planned(side)
    assert (outlook.chance, outlook.detectable, outlook.obstacle) == (None, None, None)
