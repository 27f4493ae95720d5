"""What is planned holds: an effect is found as often as promised, and the cases named show the margin."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.gates.vectors import compare_vectors

RULES = {"min_cases": 2, "safety": "optional", "test": "auto", "n_resamples": 499}
UNEQUAL = [12, 10, 8, 6, 4, 3, 2, 2, 1, 1, 1, 1]


def labels_of(sizes):
    return tuple(f"k{i:03}" for i, size in enumerate(sizes) for _ in range(size))


def figures(differences, labels=None, **policy):
    n = len(differences)
    ids = tuple(f"c{i:04}" for i in range(n))
    arms = [
        Arm(scores=tuple(map(float, scores)), case_ids=ids, clusters=labels)
        for scores in ([0.0] * n, differences)
    ]
    return compare_vectors(*arms, GatePolicy(**{**RULES, **policy})).figures.significance


@pytest.mark.parametrize("sizes", [UNEQUAL, [20] + [2] * 15, [5] * 12])
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
