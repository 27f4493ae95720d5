"""What is planned holds: an effect is found as often as promised, and the cases named show the margin."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from benchgate.gates.cost import cost_increase
from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm, CaseFacts
from benchgate.gates.policy import GatePolicy

RULES = {"min_cases": 2, "safety": "optional", "test": "auto"}
UNEQUAL = [12, 10, 8, 6, 4, 3, 2, 2, 1, 1, 1, 1]


CLEAN = {"safety": "required", "safety_confidence": 0.95, "penalty_range": [0, 1]}


def labels_of(sizes):
    return tuple(f"k{i:03}" for i, size in enumerate(sizes) for _ in range(size))


def figures(differences, labels=None, before=0.0, **policy):
    n = len(differences)
    ids = tuple(f"c{i:04}" for i in range(n))
    arms = [
        Arm(scores=tuple(map(float, scores)), case_ids=ids, clusters=labels)
        for scores in ([before] * n, [before + change for change in differences])
    ]
    return decide(
        VectorFacts(policy=GatePolicy(**{**RULES, **policy}), sides=arms)
    ).figures.significance


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([5] * 12, marks=pytest.mark.slow),
        pytest.param([20] + [2] * 15, marks=pytest.mark.nightly),
        pytest.param(UNEQUAL, marks=pytest.mark.nightly),
    ],
)
def test_in_clusters_an_effect_is_found_as_often_as_promised(sizes):
    rng, labels, found, number = np.random.default_rng(len(sizes)), labels_of(sizes), 0, 250

    def draw():
        shared = np.repeat(rng.normal(0, 0.2, len(sizes)), sizes)
        return shared + rng.normal(0, 0.1, len(labels))

    for _ in range(number):
        effect = figures(draw(), labels, score_range=[-3, 3]).minimum_detectable_effect
        found += figures(draw() + effect, labels, score_range=[-3, 3]).passed
    # The standard error of the count is 2.5 %.
    assert found / number == pytest.approx(0.8, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[3] * 12, UNEQUAL, [1] * 20, [20, *[2] * 15]])
@pytest.mark.parametrize("margin", [0.1, 0.03])
def test_who_adds_the_clusters_that_were_named_shows_the_margin(sizes, margin):
    claim = {"claim": "not_worse", "margin": margin, "score_range": [0, 1]}
    needed = figures([0.0] * sum(sizes), labels_of(sizes), **claim).cases_needed
    all_sizes = list(itertools.islice(itertools.cycle(sizes), needed))
    count = next(k for k in itertools.count(1) if sum(all_sizes[:k]) >= needed)
    assert sum(all_sizes[:count]) == needed
    for clusters, passed in ((count, True), (count - 1, False)):
        labels = labels_of(all_sizes[:clusters])
        claim_figures = figures([0.0] * len(labels), labels, **claim)
        assert claim_figures.passed is passed


def test_a_margin_smaller_than_the_exact_test_can_show_is_the_bounds_to_answer():
    for margin in (0.011, 0.001, 1e-4):
        claim = {"claim": "not_worse", "margin": margin, "score_range": [0, 1]}
        needed = figures([0.0] * 20, **claim).cases_needed
        assert needed > 300
        assert needed == np.floor(np.log(0.025) / np.log1p(-margin)) + 1
    shown = [
        figures([0.0] * n, claim="not_worse", margin=0.011, score_range=[0, 1]).passed
        for n in (333, 334)
    ]
    assert shown == [False, True]


def test_a_number_of_cases_that_chance_made_is_not_named():
    change = [0.0] * 91 + [-1.0] * 9
    named = [
        figures(change, before=1.0, claim="not_worse", margin=margin).cases_needed
        for margin in (0.095, 0.13)
    ]
    assert named[0] is None
    assert 100 < named[1] < 1000


@pytest.mark.parametrize("labels", [None, labels_of([5] * 8), labels_of([20, *[2] * 10])])
def test_equal_results_promise_no_number_of_cases(labels):
    assert figures([0.0] * 40, labels).cases_needed is None


def judge_safety(sizes, **policy):
    labels = labels_of(sizes)
    ids, clean = tuple(f"c{i:04}" for i in range(len(labels))), (0.0,) * len(labels)
    arms = [
        Arm(scores=scores, case_ids=ids, penalties=clean, clusters=labels)
        for scores in (clean, (1.0,) * len(labels))
    ]
    return decide(VectorFacts(policy=GatePolicy(**{**RULES, **CLEAN, **policy}), sides=arms))


def test_the_clean_cases_that_a_bound_takes_are_counted_in_clusters():
    (text,) = (
        remark.message
        for remark in judge_safety([5] * 12).decision.remarks
        if remark.code.endswith("safety_upper_bound")
    )
    assert text.endswith("it takes about 295 cases in 59 clusters without harm")
    bounds = [judge_safety([5] * count).figures.safety.upper_bound for count in (58, 59)]
    assert bounds[0] > 0.05 >= bounds[1]


def test_the_interval_of_the_cost_counts_clusters():
    rng, sizes, covered, number = np.random.default_rng(11), [5] * 10, 0, 300
    ids = tuple(f"c{i:04}" for i in range(50))
    for _ in range(number):
        cost = 1.2 + np.repeat(rng.normal(0, 0.3, 10), sizes) + rng.normal(0, 0.1, 50)
        arms = [
            Arm(
                scores=(1.0,) * 50,
                case_ids=ids,
                clusters=labels_of(sizes),
                facts=tuple(
                    CaseFacts(passed=True, critical=False, cost_usd=usd, duration_seconds=1.0)
                    for usd in map(float, costs)
                ),
            )
            for costs in ([1.0] * 50, cost)
        ]
        found = cost_increase(*arms, 0.05)
        covered += found.ci_low <= 0.2 <= found.ci_high
    assert covered / number == pytest.approx(0.95, abs=0.04)
