"""Welch's test: laws, degenerate arms, extreme scales, scipy.stats as oracle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from benchgate.statistics import TTest
from benchgate.statistics.summary import summarize
from benchgate.statistics.welch import _apart, mean_difference, welch_test

if TYPE_CHECKING:
    from benchgate.statistics.summary import Summary

pytestmark = pytest.mark.filterwarnings("error")

scores = st.lists(st.integers(0, 100).map(lambda x: x / 100), min_size=2, max_size=25)
eighths = st.lists(st.integers(-64, 64).map(lambda x: x / 8), min_size=2, max_size=25)
wild = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8)
FIGURES = ("t", "df", "p_two_sided", "p_greater", "p_less")


def varying(*samples: list[float]) -> bool:
    return all(min(sample) != max(sample) for sample in samples)


def figures(result: TTest) -> list[float | None]:
    return [getattr(result, name) for name in FIGURES]


@given(scores, scores, st.sampled_from([0.01, 0.05, 0.1]))
def test_agrees_with_scipy(b: list[float], c: list[float], alpha: float) -> None:
    assume(varying(b, c))
    result = welch_test(b, c, alpha=alpha)
    oracle = stats.ttest_ind(c, b, equal_var=False)
    interval = oracle.confidence_interval(1 - alpha)
    greater = stats.ttest_ind(c, b, equal_var=False, alternative="greater")
    assert result.t == pytest.approx(oracle.statistic, rel=1e-9, abs=1e-9)
    assert result.df == pytest.approx(oracle.df, rel=1e-9)
    assert result.p_two_sided == pytest.approx(oracle.pvalue, rel=1e-8)
    assert result.p_greater == pytest.approx(greater.pvalue, rel=1e-8)
    assert result.ci_low == pytest.approx(interval.low, rel=1e-9, abs=1e-9)
    assert result.ci_high == pytest.approx(interval.high, rel=1e-9, abs=1e-9)


@given(scores, scores, st.randoms())
def test_the_order_of_cases_does_not_matter(b: list[float], c: list[float], random: Any) -> None:
    before = welch_test(b, c)
    random.shuffle(b)
    random.shuffle(c)
    assert welch_test(b, c) == before


@given(eighths, eighths, st.sampled_from([0.0, 0.25, -1.0]))
def test_swapping_the_arms_mirrors_everything(b: list[float], c: list[float], null: float) -> None:
    result = welch_test(b, c, null_delta=null)
    mirror = welch_test(c, b, null_delta=-null)
    assert mirror.delta == -(result.delta or 0.0)
    assert mirror.se == result.se
    assert mirror.p_two_sided == result.p_two_sided
    assert (mirror.p_greater, mirror.p_less) == (result.p_less, result.p_greater)
    if result.t is not None:
        assert mirror.t == -result.t
        assert mirror.ci_low == -(result.ci_high or 0.0)


@given(eighths, eighths, st.integers(-(2**20), 2**20))
def test_a_common_shift_changes_nothing_but_the_means(
    b: list[float], c: list[float], shift: int
) -> None:
    assume(varying(b) or varying(c))
    result = welch_test(b, c)
    moved = welch_test([x + shift for x in b], [x + shift for x in c])
    assert moved.t == pytest.approx(result.t, rel=1e-9, abs=1e-9)
    assert moved.p_two_sided == pytest.approx(result.p_two_sided, rel=1e-9)
    assert moved.delta == pytest.approx(result.delta, rel=1e-9, abs=1e-12)


@given(eighths, eighths, st.integers(-950, 950))
def test_powers_of_two_scale_exactly(b: list[float], c: list[float], exponent: int) -> None:
    result = welch_test(b, c)
    scaled = welch_test([math.ldexp(x, exponent) for x in b], [math.ldexp(x, exponent) for x in c])
    assert figures(scaled) == figures(result)
    assert scaled.delta == math.ldexp(result.delta or 0.0, exponent)
    assert scaled.se == math.ldexp(result.se or 0.0, exponent)


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**300, 1e-300, 1e300, 1e-307])
def test_every_scale_gives_the_same_test(scale: float) -> None:
    b, c = [0.1, 0.4, 0.3, 0.9], [0.8, 0.7, 1.0]
    plain = welch_test(b, c)
    scaled = welch_test([x * scale for x in b], [x * scale for x in c])
    for name in FIGURES:
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name), rel=1e-12)
    assert scaled.ci_low == pytest.approx((plain.ci_low or 0.0) * scale, rel=1e-9)


@given(eighths, eighths, st.integers(-16, 16).map(lambda x: x / 8))
def test_the_null_shifts_t_but_not_the_interval(
    b: list[float], c: list[float], null: float
) -> None:
    assume(varying(b) or varying(c))
    shifted = welch_test(b, c, null_delta=null)
    moved = welch_test(b, [x - null for x in c])
    plain = welch_test(b, c)
    assert figures(shifted) == pytest.approx(figures(moved), rel=1e-9, abs=1e-9)
    assert (shifted.delta, shifted.ci_low, shifted.ci_high) == (
        plain.delta,
        plain.ci_low,
        plain.ci_high,
    )


@given(scores, scores, st.sampled_from([0.01, 0.05, 0.2]))
def test_p_interval_and_bounds_tell_one_story(b: list[float], c: list[float], alpha: float) -> None:
    assume(varying(b, c))
    r = welch_test(b, c, alpha=alpha)
    assert r.p_two_sided is not None
    assert r.p_greater is not None
    assert r.ci_low is not None
    assert r.delta is not None
    assume(abs(r.p_two_sided - alpha) > 1e-9)
    assert (r.p_two_sided <= alpha and r.delta > 0) == (r.ci_low > 0)
    assert (r.p_greater <= alpha / 2) == (r.ci_low > 0)


@given(scores, scores)
def test_more_confidence_means_wider_bounds(b: list[float], c: list[float]) -> None:
    assume(varying(b, c))
    wide, narrow = welch_test(b, c, alpha=0.01), welch_test(b, c, alpha=0.1)
    assert wide.ci_low is not None
    assert narrow.ci_low is not None
    assert wide.ci_low < narrow.ci_low


@given(scores, scores)
def test_degrees_of_freedom_stay_in_their_range(b: list[float], c: list[float]) -> None:
    assume(varying(b) or varying(c))
    df = welch_test(b, c).df
    assert df is not None
    assert min(len(b), len(c)) - 1 - 1e-9 <= df <= len(b) + len(c) - 2 + 1e-9


def test_identical_constant_arms_are_never_significant() -> None:
    # Equal to one arm is equal to each other: not every pair need be tried.
    samples: dict[float, list[Summary]] = {
        c / 100: [summarize([c / 100] * n) for n in range(2, 41)] for c in range(1, 100)
    }
    bad = [
        (c, b.n, a.n)
        for c, (b, *arms) in samples.items()
        for a in (b, *arms)
        if mean_difference(b, a) != 0.0 or (spread := _apart(b, a)) is None or spread.squared_se
    ]
    assert bad == []


@given(scores, st.integers(0, 10), st.integers(2, 20))
def test_one_constant_arm_is_a_one_sample_test(b: list[float], tenth: int, n: int) -> None:
    assume(varying(b))
    result = welch_test(b, [tenth / 10] * n)
    oracle = stats.ttest_1samp(b, tenth / 10)
    assert result.df == len(b) - 1
    assert result.t == pytest.approx(-oracle.statistic, rel=1e-9, abs=1e-9)
    assert result.p_two_sided == pytest.approx(oracle.pvalue, rel=1e-8)


def test_constant_arms_that_differ_have_no_p() -> None:
    result = welch_test([0.2] * 5, [0.9] * 5)
    assert result.delta == pytest.approx(0.7)
    assert result.se == 0.0
    assert figures(result) == [None] * 5


@pytest.mark.parametrize(
    ("b", "c", "delta"),
    [([], [], None), ([], [1.0, 2.0], None), ([1.0], [2.0], 1.0), ([1.0], [2.0, 3.0], 1.5)],
)
def test_too_few_values_leave_none_not_nan(
    b: list[float], c: list[float], delta: float | None
) -> None:
    result = welch_test(b, c)
    assert result.delta == delta
    assert result.se is None
    assert figures(result) == [None] * 5


def test_equal_samples_are_a_perfect_tie() -> None:
    result = welch_test([0.0, 1.0, 0.5, 0.5], [0.5, 0.0, 0.5, 1.0])
    assert figures(result) == [0.0, 6.0, 1.0, 0.5, 0.5]


@given(wild, wild)
def test_any_finite_input_gives_finite_figures(b: list[float], c: list[float]) -> None:
    with np.errstate(all="raise"):
        result = welch_test(b, c)
    for name in TTest.__slots__:
        value = getattr(result, name)
        assert value is None or (type(value) in {int, float} and math.isfinite(value)), name
    for p in (result.p_greater, result.p_less, result.p_two_sided):
        assert p is None or 0.0 <= p <= 1.0


def test_ten_thousand_cases() -> None:
    b = [(i * 7919 % 1000) / 1000 for i in range(10**4)]
    c = [min(1.0, x + 0.002) for x in b]
    result = welch_test(b, c)
    oracle = stats.ttest_ind(c, b, equal_var=False)
    assert result.t == pytest.approx(oracle.statistic, rel=1e-9)
    assert result.p_two_sided == pytest.approx(oracle.pvalue, rel=1e-8)


def test_tiny_p_keeps_its_digits() -> None:
    b, c = [i / 100 for i in range(10)], [5 + i / 100 for i in range(10)]
    result = welch_test(b, c)
    oracle = stats.ttest_ind(c, b, equal_var=False, alternative="greater")
    assert result.p_greater == pytest.approx(oracle.pvalue, rel=1e-9, abs=0.0)
    assert result.p_greater is not None
    assert 0.0 < result.p_greater < 1e-25


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "1", None])
@pytest.mark.parametrize("arm", ["baseline", "candidate"])
def test_bad_values_are_named(arm: str, value: Any) -> None:
    arms: dict[str, Any] = {"baseline": [0.0, 1.0], "candidate": [0.0, 1.0]}
    arms[arm] = [0.0, value]
    with pytest.raises(ValueError, match=rf"{arm}\[1\]"):
        welch_test(**arms)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan, True])
def test_alpha_outside_the_unit_interval_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        welch_test([0.0, 1.0], [0.0, 1.0], alpha=alpha)


def test_a_null_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="null_delta"):
        welch_test([0.0, 1.0], [0.0, 1.0], null_delta=math.nan)
