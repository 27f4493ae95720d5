"""What a plan promises: more cases and trials find less, and pass or fail is counted out."""

from __future__ import annotations

import random

import pytest

from benchgate.gates.figures import Arm
from benchgate.gates.forecast import forecast
from benchgate.gates.policy import make_policy
from benchgate.statistics import pass_fail_p


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


def planned(side, trials=1, scale=1, **policy):
    return forecast(side, make_policy({"test": "auto", **policy}), trials, scale=scale)


@pytest.mark.parametrize("test", ["auto", "welch"])
@pytest.mark.parametrize("passes", [True, False])
def test_a_larger_gain_is_found_more_often_and_the_detectable_one_as_asked(test, passes):
    found = planned(baseline(passes=passes), test=test)
    power = [found.power(gain / 20) for gain in range(1, 12)]
    assert power == sorted(power)
    assert found.power(found.detectable) == pytest.approx(0.8, abs=1e-3)


def test_more_cases_and_more_trials_find_less():
    side = baseline()
    sizes = [(1, 1), (2, 1), (4, 1), (4, 2)]
    effects = [planned(side, trials, scale).detectable for trials, scale in sizes]
    assert effects == sorted(effects, reverse=True)
    assert len(set(effects)) == 4


def test_one_trial_promises_what_two_samples_would_find():
    one, three = baseline(trials=1), baseline(trials=3)
    assert planned(one).is_lower_limit
    assert not planned(three).is_lower_limit
    assert planned(one).detectable > planned(three).detectable


@pytest.mark.parametrize("passes", [True, False])
def test_trials_that_agree_show_no_more_than_one_of_them(passes):
    one = baseline(trials=1, passes=passes)
    same = Arm(scores=one.scores, case_ids=one.case_ids, trials=tuple(r * 2 for r in one.trials))
    for trials in (1, 2, 4):
        assert planned(same, trials).detectable == planned(one).detectable
        assert planned(same, trials).is_lower_limit


def test_wins_beyond_a_least_gain_are_those_of_the_exact_test_of_it():
    wins = planned(baseline(trials=1, passes=True), min_delta=0.1).wins
    for losses, gains in enumerate(wins):
        assert pass_fail_p(gains, losses, 20, null_delta=0.1) <= 0.025
        assert pass_fail_p(gains - 1, losses, 20, null_delta=0.1) > 0.025
    assert wins[0] > planned(baseline(trials=1, passes=True)).wins[0]


def test_that_clusters_have_other_numbers_of_cases_is_no_spread():
    clusters = tuple(f"k{size}" for size in range(1, 8) for _ in range(size))
    ids = tuple(f"c{number:02}" for number in range(len(clusters)))
    side = Arm(scores=(0.5,) * len(clusters), case_ids=ids, clusters=clusters)
    found = planned(side)
    assert found.units == 7
    assert found.power(0.01) == 1.0


def test_wins_are_those_of_the_exact_test():
    found = planned(baseline(trials=1, passes=True))
    for losses, gains in enumerate(found.wins[:3]):
        assert pass_fail_p(gains, losses, 20) <= 0.025 * 1.2
        assert pass_fail_p(gains - 2, losses, 20) > 0.025


def test_cases_of_one_cluster_are_one_unit():
    names = tuple(f"s{number // 4}" for number in range(20))
    shared = planned(baseline(clusters=names))
    assert shared.units == 5
    assert shared.detectable > planned(baseline()).detectable


def test_claims_that_infer_no_gain_promise_none():
    side = baseline(trials=1, passes=True)
    found = planned(side, claim="not_worse", margin=0.2)
    assert (found.power, found.detectable) == (None, None)
    assert 0.1 < found.smallest_margin < 0.3
    found = planned(side, claim="no_regression")
    assert (found.power, found.smallest_margin) == (None, None)


def test_a_system_that_never_varies_shows_any_gain():
    rows = ((0.5, 0.5),) * 12
    side = Arm(scores=(0.5,) * 12, case_ids=tuple(map(str, range(12))), trials=rows)
    found = planned(side)
    assert found.power(0.01) == 1.0
    assert found.power(0.0) == 0.0
