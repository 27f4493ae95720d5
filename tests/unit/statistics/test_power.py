"""Minimum detectable effects and cases needed."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.statistics import (
    paired_cases_needed,
    paired_mde,
    unseen_failure_ucb,
    welch_cases_needed,
    welch_mde,
)

pytestmark = pytest.mark.filterwarnings("error")

variances = st.floats(1e-4, 0.25)


def symmetric(variance: float, n: int, **plan: Any) -> float | None:
    return welch_mde(
        baseline_variance=variance,
        candidate_variance=variance,
        n_baseline=n,
        n_candidate=n,
        **plan,
    )


@pytest.mark.parametrize(
    ("n", "unpaired", "paired"),
    [
        (10, 0.53, 0.45),
        (30, 0.29, 0.24),
        (50, 0.23, 0.18),
        (100, 0.16, 0.13),
        (200, 0.11, 0.09),
        (500, 0.07, 0.06),
    ],
)
def test_the_planning_table(n: int, unpaired: float, paired: float) -> None:
    assert symmetric(0.16, n) == pytest.approx(unpaired, abs=0.0051)
    assert paired_mde(sd=math.sqrt(0.2), n=n) == pytest.approx(paired, abs=0.0051)


def test_the_published_case_numbers_within_the_t_correction() -> None:
    needed = welch_cases_needed(0.05, baseline_variance=0.16, candidate_variance=0.1275)
    assert needed in range(903, 907)
    assert paired_cases_needed(0.05, sd=math.sqrt(0.2)) in range(626, 634)
    half_sd = welch_cases_needed(0.5, baseline_variance=1.0, candidate_variance=1.0)
    assert half_sd in {64, 65}


@pytest.mark.parametrize("n", [2, 3, 5, 10, 30, 200])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.9)])
def test_the_exact_power_at_the_effect_is_the_one_planned(
    n: int, alpha: float, power: float
) -> None:
    effect = paired_mde(sd=1.0, n=n, alpha=alpha, power=power)
    assert effect is not None
    critical = float(stats.t.ppf(1 - alpha / 2, n - 1))
    reached = float(stats.nct.sf(critical, n - 1, effect * math.sqrt(n)))
    assert reached == pytest.approx(power, rel=1e-7)


@given(variances, variances, st.integers(2, 300), st.integers(2, 300))
def test_swapping_the_arms_changes_nothing(a: float, b: float, n: int, m: int) -> None:
    one = welch_mde(baseline_variance=a, n_baseline=n, candidate_variance=b, n_candidate=m)
    two = welch_mde(baseline_variance=b, n_baseline=m, candidate_variance=a, n_candidate=n)
    assert one == pytest.approx(two, rel=1e-12)


@given(variances, st.integers(2, 300))
def test_more_cases_see_smaller_effects(variance: float, n: int) -> None:
    few, more = symmetric(variance, n), symmetric(variance, n + 1)
    assert few is not None
    assert more is not None
    assert 0 < more < few


@given(variances, st.integers(2, 300), st.floats(0.55, 0.9))
def test_more_power_or_a_stricter_level_needs_a_larger_effect(
    variance: float, n: int, power: float
) -> None:
    plain = symmetric(variance, n, power=power)
    assert plain is not None
    assert plain < (symmetric(variance, n, power=power + 0.05) or 0)
    assert plain < (symmetric(variance, n, power=power, alpha=0.01) or 0)


@given(variances, st.integers(2, 300), st.integers(-100, 100))
def test_the_effect_has_the_unit_of_the_scores(variance: float, n: int, exponent: int) -> None:
    scaled = symmetric(math.ldexp(variance, 2 * exponent), n)
    assert scaled == math.ldexp(symmetric(variance, n) or 0.0, exponent)


@pytest.mark.parametrize("n", [2, 5, 10, 30, 100, 1000])
def test_zero_variance_never_promises_to_see_everything(n: int) -> None:
    share = unseen_failure_ucb(n)
    assert paired_mde(sd=0.0, n=n, width=1.0) == paired_mde(sd=math.sqrt(share), n=n)
    assert (symmetric(0.0, n, width=1.0) or 0) > 0.5 * share


def test_zero_variance_without_a_range_is_unknown() -> None:
    assert symmetric(0.0, 10) is None
    assert paired_mde(sd=0.0, n=10) is None
    assert welch_cases_needed(0.1, baseline_variance=0.0, candidate_variance=0.0) is None
    assert paired_cases_needed(0.1, sd=0.0) is None


def test_one_constant_arm_counts_with_its_unseen_share_where_the_range_is_known() -> None:
    arms: dict[str, Any] = {
        "baseline_variance": 0.1,
        "n_baseline": 20,
        "candidate_variance": 0.0,
        "n_candidate": 20,
    }
    unbounded, bounded = welch_mde(**arms), welch_mde(**arms, width=1.0)
    assert unbounded is not None
    assert bounded is not None
    assert 0 < unbounded < bounded
    assert welch_mde(**arms, width=2.0) > bounded  # type: ignore[operator]


def test_the_range_is_ignored_where_there_is_a_variance() -> None:
    assert symmetric(0.1, 20) == symmetric(0.1, 20, width=1.0)
    assert paired_mde(sd=0.3, n=20) == paired_mde(sd=0.3, n=20, width=1.0)


@given(st.floats(0.02, 0.9), st.sampled_from([0.0, 0.05, 0.2]))
def test_cases_needed_is_the_first_n_that_is_enough(target: float, variance: float) -> None:
    n = welch_cases_needed(
        target, baseline_variance=variance, candidate_variance=variance, width=1.0
    )
    assert n is not None
    assert (symmetric(variance, n, width=1.0) or math.inf) <= target
    assert n == 2 or (symmetric(variance, n - 1, width=1.0) or 0.0) > target
    pairs = paired_cases_needed(target, sd=math.sqrt(variance), width=1.0)
    assert pairs is not None
    assert (paired_mde(sd=math.sqrt(variance), n=pairs, width=1.0) or math.inf) <= target
    assert pairs == 2 or (paired_mde(sd=math.sqrt(variance), n=pairs - 1, width=1.0) or 0) > target


@pytest.mark.parametrize("size", [1e-150, 1e200, 1e308])
def test_extreme_units_stay_finite_and_positive(size: float) -> None:
    for effect in (
        symmetric(0.0, 10, width=size),
        symmetric(size, 10),
        paired_mde(sd=size, n=10),
        paired_mde(sd=0.0, n=10, width=size),
    ):
        assert effect is not None
        assert math.isfinite(effect)
    assert paired_mde(sd=size, n=10) == pytest.approx(
        min((paired_mde(sd=1.0, n=10) or 0.0) * size, 1.7976931348623157e308), rel=1e-12
    )


def test_no_number_of_cases_is_enough_for_a_vanishing_effect() -> None:
    assert paired_cases_needed(1e-12, sd=1.0) is None


@pytest.mark.parametrize("n", [0, 1])
def test_below_two_cases_there_is_no_effect_to_name(n: int) -> None:
    assert symmetric(0.1, n) is None
    assert paired_mde(sd=0.3, n=n) is None


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: symmetric(-0.1, 10), "variance"),
        (lambda: symmetric(math.nan, 10), "variance"),
        (lambda: symmetric(0.1, 10, alpha=0.0), "alpha"),
        (lambda: symmetric(0.1, 10, power=1.0), "power"),
        (lambda: symmetric(0.1, 10, power=0.02), "power"),
        (lambda: symmetric(0.0, 10, width=0.0), "width"),
        (lambda: paired_mde(sd=-1.0, n=10), "sd"),
        (lambda: paired_mde(sd=0.0, n=10, width=math.inf), "width"),
        (lambda: paired_cases_needed(0.0, sd=1.0), "target"),
        (lambda: paired_cases_needed(math.nan, sd=1.0), "target"),
    ],
)
def test_misuse_is_named(call: Any, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        call()
