"""What the check of the safety penalty can see."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import special, stats

from benchgate.statistics import unseen_failure_ucb
from benchgate.statistics.bounds import gaffke_upper, mover_gaffke
from benchgate.statistics.paired import paired_differences
from benchgate.statistics.safety import (
    incident_pass_chance,
    safety_pass_chance,
    unchanged_rise_chance,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.filterwarnings("error")


def penalty_rise_upper(
    before: list[float],
    after: list[float],
    labels: list[str] | None = None,
    *,
    confidence: float = 0.95,
    width: float = 1.0,
) -> float:
    """Bound the rise of the mean penalty case by case, as the gate does."""
    rises = paired_differences(before, after)
    return gaffke_upper(rises, labels, confidence=confidence, low=-width, high=width)


def incidents(n: int, count: int) -> list[float]:
    return [1.0] * count + [0.0] * (n - count)


@pytest.mark.parametrize(("n", "new"), [(10, 0), (23, 0), (23, 2), (59, 1), (100, 99)])
def test_without_a_fall_the_bound_is_that_of_clopper_and_pearson(n: int, new: int) -> None:
    expected = float(special.betaincinv(new + 1, n - new, 0.95))
    found = penalty_rise_upper([0.0] * n, incidents(n, new))
    assert found == pytest.approx(expected, abs=1e-9)
    if not new:
        assert found == pytest.approx(unseen_failure_ucb(n))


@pytest.mark.parametrize("n", [5, 10, pytest.param(23, marks=pytest.mark.slow)])
def test_the_bound_misses_in_at_most_5_percent_whatever_the_shares_are(n: int) -> None:
    outcomes = [(up, down) for up in range(n + 1) for down in range(n + 1 - up)]
    bound = [
        penalty_rise_upper([0.0] * (n - down) + [1.0] * down, incidents(n, up))
        for up, down in outcomes
    ]
    counts = np.array([(up, down, n - up - down) for up, down in outcomes])
    worst = 0.0
    for rises in np.linspace(0, 1, 41):
        for falls in np.linspace(0, 1 - rises, 21):
            chance = stats.multinomial.pmf(counts, n, [rises, falls, max(0, 1 - rises - falls)])
            worst = max(worst, float(chance[np.array(bound) < rises - falls - 1e-9].sum()))
    assert 0.04 < worst <= 0.05 + 1e-9


def test_pairing_makes_the_bound_tighter_where_both_sides_have_the_same_incidents() -> None:
    before = incidents(80, 10)
    assert penalty_rise_upper(before, before) < 0.04
    alone = (None,) * len(before)
    assert mover_gaffke(before, before, (alone, alone))[1] > 0.08


def test_the_bound_has_the_unit_of_the_penalties() -> None:
    before, after = [0.1, 0.5, 0.2, 0.0], [0.2, 0.4, 0.2, 0.6]
    scaled = penalty_rise_upper(
        [10 * x + 5 for x in before], [10 * x + 5 for x in after], width=10.0
    )
    assert scaled == pytest.approx(10 * penalty_rise_upper(before, after), rel=1e-9)


@pytest.mark.parametrize(("limit", "cases"), [(0.05, 59), (0.10, 29), (0.02, 149)])
def test_so_many_clean_cases_show_a_limit_and_one_less_does_not(limit: float, cases: int) -> None:
    clean = [0.0] * cases
    assert penalty_rise_upper(clean, clean) <= limit < penalty_rise_upper(clean[1:], clean[1:])


def test_a_rise_of_a_tenth_passes_a_third_of_the_time_at_23_cases() -> None:
    chances = [safety_pass_chance(0.1, incidents(23, k), limit=0.05) for k in (0, 1)]
    assert chances == [pytest.approx(0.315, abs=5e-4), pytest.approx(0.339, abs=5e-4)]
    weights = stats.binom.pmf(np.arange(24), 23, 1 / 50)
    whole = sum(w * incident_pass_chance(23, k, 0.12, limit=0.05) for k, w in enumerate(weights))
    assert whole == pytest.approx(0.331, abs=5e-4)


@pytest.mark.parametrize("confidence", [None, 0.9])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_the_chance_is_what_a_simulation_counts(count: int, confidence: float | None) -> None:
    n, limit, rise = 40, 0.08, 0.05
    before = incidents(n, count)
    rng, passed, number = np.random.default_rng(count), 0, 4000
    seen: dict[tuple[int, int], bool] = {}
    for _ in range(number):
        after = (rng.random(n) < count / n + rise).astype(float)
        key = int(after[:count].sum()), int(after[count:].sum())
        if key not in seen:
            within = after.mean() - count / n <= limit + 1e-12
            if confidence is not None and within:
                upper = penalty_rise_upper(before, after.tolist(), confidence=confidence)
                within = upper <= limit + 1e-12
            seen[key] = bool(within)
        passed += seen[key]
    chance = safety_pass_chance(rise, before, limit=limit, confidence=confidence)
    assert chance == pytest.approx(passed / number, abs=0.025)
    assert passed > 0.0


def test_a_bound_that_no_outcome_meets_is_never_passed() -> None:
    assert safety_pass_chance(0.1, [0.0] * 23, limit=0.05, confidence=0.95) == 0.0
    assert safety_pass_chance(0.1, [0.0] * 59, limit=0.05, confidence=0.95) == pytest.approx(
        0.9**59
    )


def test_penalties_in_between_have_no_closed_form() -> None:
    assert safety_pass_chance(0.1, [0.5, *[0.0] * 29], limit=0.15) is None


def test_the_unit_of_the_penalties_does_not_matter() -> None:
    plain = safety_pass_chance(0.1, incidents(30, 2), limit=0.05, confidence=0.9)
    tens = [10 * x - 5 for x in incidents(30, 2)]
    scaled = safety_pass_chance(0.1, tens, limit=0.5, confidence=0.9, low=-5.0, high=5.0)
    assert scaled == pytest.approx(plain)


def test_a_rise_that_the_baseline_leaves_no_room_for_has_no_chance_to_name() -> None:
    assert safety_pass_chance(0.2, incidents(10, 9), limit=0.05) is None
    assert safety_pass_chance(0.1, incidents(10, 9), limit=0.05) == pytest.approx(0.0)
    assert safety_pass_chance(0.1, [], limit=0.05) is None
    with pytest.raises(ValueError, match="penalties"):
        safety_pass_chance(0.1, [2.0], limit=0.05)


UNEQUAL = [12, 10, 8, 6, 4, 3, 2, 2, 1, 1, 1, 1] * 4


@pytest.mark.parametrize(
    ("sizes", "penalty", "check"),
    [
        ([5] * 10, 0.0, {"limit": 0.05}),
        ([3] * 50, 0.0, {"limit": 0.1, "confidence": 0.95}),
        ([3] * 50, 1.0, {"limit": 0.12}),
        (UNEQUAL, 0.0, {"limit": 0.2}),
        pytest.param(UNEQUAL, 1.0, {"limit": 0.05}, marks=pytest.mark.slow),
    ],
)
def test_where_cases_share_clusters_their_incidents_come_together(
    sizes: list[int], penalty: float, check: dict[str, float]
) -> None:
    labels = [f"k{i}" for i, size in enumerate(sizes) for _ in range(size)]
    before = np.where(np.arange(len(labels)) % 9, 0.0, penalty)
    others, rise = np.where(before == 1.0, 0.0, before), 0.08
    rate = (before.mean() + rise - others.mean()) / (1 - others.mean())
    rng, passed, number, level = np.random.default_rng(5), 0, 400, check.get("confidence")
    for _ in range(number):
        after = np.where(np.repeat(rng.random(len(sizes)) < rate, sizes), 1.0, others)
        within = after.mean() - before.mean() <= check["limit"] + 1e-12
        if within and level is not None:
            upper = penalty_rise_upper(before.tolist(), after.tolist(), labels, confidence=level)
            within = upper <= check["limit"] + 1e-12
        passed += bool(within)
    stated = safety_pass_chance(rise, before.tolist(), labels, **check)
    assert stated == pytest.approx(passed / number, abs=0.075)


@pytest.mark.parametrize(("sizes", "penalty"), [([3] * 50, 1.0), (UNEQUAL, 0.0)])
def test_a_bound_in_such_clusters_has_no_closed_form(sizes: list[int], penalty: float) -> None:
    labels = [f"k{i}" for i, size in enumerate(sizes) for _ in range(size)]
    before = [penalty, *[0.0] * (len(labels) - 1)]
    assert safety_pass_chance(0.08, before, labels, limit=0.2, confidence=0.9) is None


def counted_rises(pool: Sequence[float], n: int, limit: float) -> float:
    """Count the pairs of runs, each with n cases from the pool, of which the second has so much more harm."""
    runs = [math.fsum(run) for run in product(pool, repeat=n)]
    more = sum(after - before > limit * n + 1e-9 for before in runs for after in runs)
    return more / len(runs) ** 2


@pytest.mark.parametrize("pool", [(0.0, 1.0), (0.0, 0.0, 1.0), (0.5, 0.0, 0.0)])
@pytest.mark.parametrize("limit", [0.0, 0.1, 0.25, 1.0])
def test_an_unchanged_agent_is_rejected_as_often_as_all_runs_together_say(
    pool: Sequence[float], limit: float
) -> None:
    counted = counted_rises(pool, 4, limit)
    assert unchanged_rise_chance(pool, 4, limit=limit) == pytest.approx(counted, abs=1e-12)


def test_harm_of_several_amounts_has_the_chance_of_a_normal_difference() -> None:
    pool = (0.0, 0.0, 0.0, 0.25, 1.0)
    counted = counted_rises(pool, 4, 0.15)
    assert unchanged_rise_chance(pool, 4, limit=0.15) == pytest.approx(counted, abs=0.05)


def test_trials_lower_the_chance_that_an_unchanged_agent_is_rejected() -> None:
    pool = [1.0] * 10 + [0.0] * 90
    chances = [unchanged_rise_chance(pool, 48, limit=0.05, trials=trials) for trials in (1, 3)]
    assert [round(chance, 3) for chance in chances] == [0.195, 0.070]


@pytest.mark.parametrize("pool", [(), (0.0, 0.0), (1.0, 1.0, 1.0)])
def test_harm_that_does_not_vary_rejects_no_unchanged_agent(pool: Sequence[float]) -> None:
    assert unchanged_rise_chance(pool, 10, limit=0.0) == 0.0


@pytest.mark.parametrize("pool", [[0.0, 5e-324], [0.0, 1e-200, 2e-200]])
def test_penalties_that_are_as_good_as_0_never_rise_by_more_than_is_allowed(pool):
    assert unchanged_rise_chance(pool, 10, limit=0.05) == 0.0
