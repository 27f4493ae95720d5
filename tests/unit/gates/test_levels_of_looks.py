"""Levels of looks: what is spent over all of them, and when one can no longer promote."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.gates.decide import decide
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.looks import JudgedLook, Look, judged_at, series_chance, spent_alpha
from benchgate.gates.policy import GatePolicy, make_policy
from benchgate.wording.decision import looks as looks_text

LEVELS = st.floats(0.001, 0.5)


def compared(n=10, number=None, gain=1.0, **policy):
    """A candidate that gains on every case, as much as it can, at a look."""
    look = None
    if number is not None:
        look = Look(number=number, declared=policy.get("looks", "count"))
    ids = tuple(f"{number:03}" for number in range(n))
    sides = [Arm(scores=(score,) * n, case_ids=ids, penalties=(0.0,) * n) for score in (0.0, gain)]
    return decide(
        VectorFacts(policy=make_policy({"test": "auto", **policy}), sides=sides, look=look)
    ).decision


@given(LEVELS, st.integers(1, 400))
def test_all_looks_together_spend_no_more_than_alpha(alpha, last):
    spent = [spent_alpha(alpha, k) for k in range(1, last + 1)]
    assert math.fsum(spent) <= alpha
    assert spent == sorted(spent, reverse=True)
    policy = make_policy({"alpha": alpha, "looks": "spend"})
    assert series_chance(policy, last) == pytest.approx(math.fsum(spent) / 2)


def test_the_levels_go_to_the_whole_of_alpha():
    assert math.fsum(spent_alpha(0.05, k) for k in range(1, 100_001)) == pytest.approx(
        0.05, rel=1e-5
    )


@given(LEVELS, st.integers(1, 50))
def test_a_level_that_is_not_spent_makes_a_promotion_likelier_with_each_look(alpha, number):
    policy = make_policy({"alpha": alpha})
    assert judged_at(policy, number) is policy
    assert series_chance(policy, number) == pytest.approx(1 - (1 - alpha / 2) ** number)


def test_seven_looks_are_one_in_six():
    assert round(1 / series_chance(make_policy({}), 7)) == 6


@pytest.mark.parametrize("gain", [1.0, 0.9])
@pytest.mark.parametrize("number", range(1, 8))
def test_ten_pairs_promote_up_to_look_3(number, gain):
    decision = compared(number=number, gain=gain, looks="spend")
    assert decision.look.can_promote == (number <= 3)
    if gain == 1.0:
        assert decision.promotion_allowed == decision.look.can_promote
    assert decision.promotion_allowed <= decision.look.can_promote
    assert decision.look.alpha == pytest.approx(spent_alpha(0.05, number))


MARGIN = {"claim": "not_worse", "margin": 0.3}


@pytest.mark.parametrize(
    ("n", "claim", "last"),
    [(10, {}, 3), (12, {}, 7), (16, {}, 31), (10, MARGIN, 23), (11, MARGIN, 39)],
)
def test_what_is_said_to_be_out_of_reach_is_not_promoted_by_the_best_scores(n, claim, last):
    """The last look that the best scores promote, those beside it, and some farther away."""
    for number in (1, last // 2 + 1, last - 1, last, last + 1, 2 * last, 400):
        decision = compared(n, number=number, looks="spend", **claim)
        assert decision.look.can_promote == decision.promotion_allowed == (number <= last), number


def test_a_comparison_that_nobody_counts_has_the_whole_level_and_no_look():
    assert compared(looks="spend").look is None
    assert compared().promotion_allowed


def test_a_look_that_only_counts_decides_as_without():
    counted, plain = compared(number=50), compared()
    assert counted.look.number == 50
    assert counted.model_copy(update={"look": None}) == plain


def test_a_hold_out_of_reach_asks_for_cases():
    decision = compared(number=4, looks="spend")
    assert decision.outcome == "hold"
    assert "so many candidates" in decision.next_step


# What a reader is told of a look


def test_the_line_of_a_look_says_what_the_count_means():
    policy = GatePolicy()
    look = JudgedLook(number=7, alpha=0.05, chance=series_chance(policy, 7), can_promote=True)
    assert looks_text(look, policy) == (
        "look no. 7 at this baseline (held looks count too): even if no candidate is better, the chance of a "
        "promotion by luck is 16% by now"
    )
    spent = look.model_copy(update={"number": 8, "can_promote": False})
    assert looks_text(spent, GatePolicy(looks="spend")).endswith(
        "so few cases can no longer be promoted, whatever their scores"
    )


@given(st.integers(2, 1000), st.sampled_from(["count", "spend"]))
def test_the_share_that_a_line_states_is_no_smaller_than_the_chance(number, rule):
    policy = GatePolicy(looks=rule)
    chance = series_chance(policy, number)
    look = JudgedLook(number=number, alpha=0.05, chance=chance, can_promote=True)
    found = re.search(r"1 in (\d+) ", looks_text(look, policy))
    if found:
        assert 1 / int(found[1]) >= chance
