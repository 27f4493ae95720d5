"""Cases that share a source: the clusters are the sample, in every figure and condition of the gate."""

from __future__ import annotations

import numpy as np
import pytest

from benchgate.gates.decide import decide
from benchgate.gates.decision import PREFIX
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.statistics import unseen_failure_ucb

RULES = {"min_cases": 2, "safety": "optional"}


def sides(before, after, labels, *, named=True):
    ids = tuple(f"c{number:03}" for number in range(len(before))) if named else None
    return [
        Arm(scores=tuple(map(float, scores)), case_ids=ids, clusters=labels and tuple(labels))
        for scores in (before, after)
    ]


def judged(before, after, labels, *, named=True, **policy):
    return decide(
        VectorFacts(
            policy=GatePolicy(**{**RULES, **policy}),
            sides=sides(before, after, labels, named=named),
        )
    )


def codes(made):
    return [code.removeprefix(PREFIX) for code in made.decision.reason_codes]


def clustered(rng, clusters, size, gain=0.0):
    before = 0.5 + rng.normal(0, 0.05, clusters * size)
    change = np.repeat(rng.normal(0, 0.2, clusters), size) + rng.normal(0, 0.1, clusters * size)
    return np.clip(before, 0, 1), np.clip(before + change + gain, 0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["auto", "welch"])
def test_worthless_candidates_in_clusters_do_not_win(test):
    rng, labels = np.random.default_rng(3), np.repeat([f"p{i}" for i in range(10)], 5).tolist()
    draws = [clustered(rng, 10, 5) for _ in range(100)]
    won = {
        name: sum(judged(*d, given, test=test).decision.promotion_allowed for d in draws)
        for name, given in (("clusters", labels), ("cases", None))
    }
    # 2.5 % is nominal: 9 of 100 or more would come up in one of 1000 such tests.
    assert won["clusters"] < 9 < won["cases"]


def test_two_samples_tell_as_much_as_their_own_scores_say_whether_they_have_ids_or_not():
    rng, labels = np.random.default_rng(5), np.repeat([f"p{i}" for i in range(12)], 3).tolist()
    arms = clustered(rng, 12, 3)
    named, unnamed = (judged(*arms, labels, named=named, test="welch") for named in (True, False))
    assert named.figures.significance.test == "welch"
    assert (
        named.figures.significance.effective_cases == unnamed.figures.significance.effective_cases
    )


def test_the_figures_are_of_the_clusters():
    rng, labels = np.random.default_rng(5), np.repeat([f"p{i}" for i in range(12)], 3).tolist()
    arms = clustered(rng, 12, 3, gain=0.3)
    alone, together = (judged(*arms, given, test="auto") for given in (None, labels))
    before, after = (made.figures.significance for made in (alone, together))
    assert after.mean_delta == before.mean_delta
    assert after.paired.df == pytest.approx(11)
    assert after.delta_ci_low < before.delta_ci_low
    assert after.exact_lower_bound < before.exact_lower_bound
    assert after.minimum_detectable_effect > before.minimum_detectable_effect
    assert after.cases_needed > before.cases_needed
    assert after.unseen_failure_ucb95 == unseen_failure_ucb(12)
    assert (before.clusters, before.effective_cases) == (None, None)
    assert after.clusters == 12 <= after.effective_cases < 36
    text = {remark.code: remark.message for remark in together.decision.remarks}["note_clusters"]
    assert text.startswith(
        "36 cases come from 12 clusters of like cases, which are the sample; they tell as much as"
    )


def test_clusters_of_one_change_nothing():
    rng = np.random.default_rng(7)
    arms = clustered(rng, 20, 1, gain=0.1)
    made = [
        judged(*arms, labels, test="auto")
        for labels in (None, [None] * 20, [f"p{i}" for i in range(20)])
    ]
    assert made[0].figures.significance == made[1].figures.significance
    assert made[0].figures.significance == made[2].figures.significance
    assert made[0].decision == made[1].decision == made[2].decision


@pytest.mark.parametrize("test", ["auto", "welch"])
@pytest.mark.parametrize(("clusters", "held"), [(5, True), (6, False)])
def test_below_six_clusters_nothing_can_be_shown(test, clusters, held):
    n = clusters * 4
    before = np.tile([0.1, 0.2, 0.1, 0.15], clusters) + np.arange(n) / 1000
    labels = np.repeat([f"p{i}" for i in range(clusters)], 4).tolist()
    made = judged(before, before + 0.7 + np.arange(n) / 500, labels, test=test)
    assert codes(made)[:1] == ["insufficient_cases"] * held
    assert made.decision.outcome == ("hold" if held else "promote")
    if held:
        assert "5 clusters are too few: at least 6 are needed" in {
            remark.message for remark in made.decision.remarks
        }


def test_min_cases_counts_clusters():
    before = np.linspace(0.1, 0.3, 24)
    labels = np.repeat([f"p{i}" for i in range(8)], 3).tolist()
    made = judged(before, before + 0.6 + before / 5, labels, test="auto", min_cases=10)
    assert codes(made) == ["insufficient_cases"]
    assert made.decision.remarks[0].message == "8 clusters are too few: at least 10 are needed"
    step = "add cases from 2 new sources"
    assert made.decision.next_step == step


def test_a_margin_is_planned_in_clusters():
    scores, labels = [0.5] * 36, np.repeat([f"p{i}" for i in range(12)], 3).tolist()
    claim = {"claim": "not_worse", "margin": 0.2, "test": "auto"}
    together, twelve, alone = (
        judged(scores[:n], scores[:n], given, **claim).figures.significance.smallest_margin
        for n, given in ((36, labels), (12, None), (36, None))
    )
    assert together == pytest.approx(twelve, abs=1e-6)
    assert together > alone


def test_clusters_of_equal_means_are_no_evidence():
    # Within each cluster half gains 1 and half loses nothing: not constant, but all totals are.
    before, after = [0.0, 0.0] * 8, [1.0, 0.0] * 8
    labels = np.repeat([f"p{i}" for i in range(8)], 2).tolist()
    made = judged(before, after, labels, test="auto")
    figures = made.figures.significance
    assert figures.p_value is None
    assert figures.passed is (figures.exact_lower_bound > 0)
    assert "significant_regression" not in codes(made)


def test_sides_that_disagree_about_clusters_are_not_compared():
    before, _ = sides([0.1] * 12, [0.9] * 12, ["a"] * 6 + ["b"] * 6)
    other = sides([0.1] * 12, [0.9] * 12, None)[1]
    for missing in ("hold", "worst"):
        policy = GatePolicy(**RULES, test="auto", missing=missing)
        made = decide(VectorFacts(policy=policy, sides=(before, other)))
        assert "case_mismatch" in codes(made)
        assert "in other clusters: c000, c001" in made.decision.remarks[0].message


def test_a_missing_case_keeps_its_cluster():
    before, after = sides([0.5] * 12, [0.6] * 12, [f"p{i // 2}" for i in range(12)])
    lacking = Arm(
        scores=after.scores[:-1], case_ids=after.case_ids[:-1], clusters=after.clusters[:-1]
    )
    made = decide(
        VectorFacts(
            policy=GatePolicy(**RULES, test="auto", missing="worst"), sides=(before, lacking)
        )
    )
    assert made.figures.candidate.clusters == before.clusters
    assert made.figures.candidate.sources == 6
    assert "case_mismatch" not in codes(made)
