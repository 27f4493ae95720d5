"""Paired t, and the binding combination with the sign-flip test."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from benchgate.statistics.paired import paired_interval, paired_t, paired_test
from benchgate.statistics.sign_flip import flip_interval, sign_flip

pytestmark = pytest.mark.filterwarnings("error")

differences = st.lists(st.integers(-100, 100).map(lambda k: k / 100), min_size=2, max_size=40)
FIGURES = ("se", "t", "df", "p_two_sided", "p_greater", "p_less", "ci_low")


@given(differences, st.sampled_from([0.01, 0.05, 0.2]), st.sampled_from([0.0, 0.05, -0.3]))
def test_agrees_with_scipy(d: list[float], alpha: float, null: float) -> None:
    assume(min(d) != max(d))
    result = paired_t(d, alpha=alpha, null_delta=null, is_skewed=False)
    oracle = stats.ttest_1samp(d, null)
    interval = oracle.confidence_interval(1 - alpha)
    assert result.t == pytest.approx(oracle.statistic, rel=1e-9, abs=1e-9)
    assert result.df == len(d) - 1
    assert result.p_two_sided == pytest.approx(oracle.pvalue, rel=1e-8)
    assert result.ci_low == pytest.approx(interval.low, rel=1e-9, abs=1e-9)
    assert result.ci_high == pytest.approx(interval.high, rel=1e-9, abs=1e-9)
    less = stats.ttest_1samp(d, null, alternative="less")
    assert result.p_less == pytest.approx(less.pvalue, rel=1e-8)


@given(differences.filter(lambda d: len(d) > 2), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_guard_is_halls_cubic_of_t_and_its_interval_where_p_is_half_of_alpha(d, alpha) -> None:
    assume(min(d) != max(d))
    n, plain, guard = len(d), paired_t(d, alpha=alpha, is_skewed=False), paired_t(d, alpha=alpha)
    a = stats.skew(d, bias=False) / math.sqrt(n) * (1 + 3 / n)
    even = plain.t + a / 6 + a * plain.t**2 / 3 + a**2 * plain.t**3 / 27
    assert guard.t == plain.t
    assert guard.p_greater == pytest.approx(stats.t.sf(even, n - 1), rel=1e-6, abs=1e-12)
    at_low, at_high = (paired_t(d, null_delta=end) for end in (guard.ci_low, guard.ci_high))
    assert at_low.p_greater == pytest.approx(alpha / 2, rel=1e-6)
    assert at_high.p_less == pytest.approx(alpha / 2, rel=1e-6)


def test_a_larger_gain_never_has_a_larger_p_and_a_long_left_tail_has() -> None:
    tail = [0.1] * 9 + [-0.1]
    ps = [paired_t([x + gain for x in tail]).p_greater for gain in (0.0, 0.05, 0.1, 0.5, 5.0, 1e9)]
    assert ps == sorted(ps, reverse=True)
    assert paired_t(tail).p_greater > 10 * paired_t(tail, is_skewed=False).p_greater
    assert paired_t([-x for x in tail]).p_less == paired_t(tail).p_greater


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=16, unique=True))
def test_the_ends_of_the_flips_are_where_its_p_passes_half_of_alpha(d: list[float]) -> None:
    low, high = flip_interval(d, [1] * len(d))
    for end, name, way in ((low, "p_greater", 1), (high, "p_less", -1)):
        inside, outside = (sign_flip(d, null_delta=end + way * at) for at in (1e-9, -1e-9))
        assert getattr(outside, name) <= 0.025 < getattr(inside, name)


@pytest.mark.parametrize("n", [5, 12, 40])
def test_the_interval_holds_both_and_swaps_with_the_arms(n: int) -> None:
    d = [0.1 + math.sin(17.0 * i) for i in range(n)]
    (low, high), t = paired_interval(d), paired_t(d)
    flips = flip_interval(d, [1] * n)
    expected = (min(t.ci_low, flips[0]), max(t.ci_high, flips[1]))
    assert (low, high) == pytest.approx(expected)
    assert paired_interval([-x for x in d]) == pytest.approx((-high, -low))
    assert math.isinf(low) is (n < 6)  # no pattern of five signs is as rare as 2.5 %


@given(differences)
def test_swapping_the_arms_mirrors_the_test(d: list[float]) -> None:
    result, mirror = paired_test(d), paired_test([-x for x in d])
    assert (mirror.p_greater, mirror.p_less) == (result.p_less, result.p_greater)
    assert mirror.p_two_sided == result.p_two_sided


@given(differences, st.randoms())
def test_the_order_of_cases_does_not_matter(d: list[float], random: Any) -> None:
    before = paired_test(d)
    random.shuffle(d)
    assert paired_test(d) == before


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**300, 1e-300, 1e300])
def test_every_scale_gives_the_same_test(scale: float) -> None:
    d = [0.1, 0.2, -0.05, 0.3, 0.1]
    plain, scaled = paired_test(d), paired_test([x * scale for x in d])
    assert scaled.t.t == pytest.approx(plain.t.t, rel=1e-12)
    assert scaled.p_two_sided == pytest.approx(plain.p_two_sided, rel=1e-12)
    assert scaled.differences.sd == pytest.approx((plain.differences.sd or 0.0) * scale, rel=1e-12)


@given(differences, st.sampled_from([0.0, 0.1]))
def test_the_binding_p_is_the_worse_of_the_two(d: list[float], null: float) -> None:
    assume(min(d) != max(d))
    result = paired_test(d, null_delta=null)
    t, flip = paired_t(d, null_delta=null), sign_flip(d, null_delta=null)
    assert t.p_greater is not None
    assert t.p_less is not None
    assert result.t == t
    assert result.sign_flip == flip
    assert result.p_greater == max(t.p_greater, flip.half_ties_greater)
    assert result.p_less == max(t.p_less, flip.half_ties_less)
    assert result.p_two_sided is not None
    if t.t and t.t > 0:
        assert result.p_two_sided == min(1.0, 2 * max(t.p_greater, flip.half_ties_greater))


@given(differences)
def test_significant_implies_the_interval_excludes_zero(d: list[float]) -> None:
    result = paired_test(d)
    if result.p_two_sided is not None and result.p_two_sided <= 0.05 and result.t.t:
        assert result.t.ci_low is not None
        assert result.t.ci_high is not None
        assert result.t.ci_low > -1e-12 if result.t.t > 0 else result.t.ci_high < 1e-12


def test_fewer_than_six_changed_pairs_are_never_significant() -> None:
    for n in range(2, 6):
        result = paired_test([0.5 + i / 100 for i in range(n)] + [0.0] * 30)
        assert result.p_two_sided is not None
        assert result.p_two_sided > 0.05
    enough = paired_test([0.5 + i / 100 for i in range(6)] + [0.0] * 30)
    assert enough.p_two_sided is not None
    assert enough.p_two_sided <= 0.05


@given(st.integers(-100, 100), st.integers(2, 40))
def test_constant_differences_have_no_t(hundredth: int, n: int) -> None:
    result = paired_test([hundredth / 100] * n)
    assert result.t.delta == hundredth / 100
    assert result.differences.sd == result.t.se == 0.0
    assert result.t.t is result.t.df is result.t.p_two_sided is result.t.ci_low is None
    assert result.p_greater is result.p_less is result.p_two_sided is None
    assert result.sign_flip.p_two_sided == (min(1.0, 2 * 0.5**n) if hundredth else 1.0)


@pytest.mark.parametrize("d", [[], [0.3]])
def test_below_two_pairs_there_is_no_test(d: list[float]) -> None:
    result = paired_t(d)
    assert result.delta == (d[0] if d else None)
    assert [getattr(result, name) for name in FIGURES] == [None] * len(FIGURES)
    assert paired_test(d).p_two_sided is None


def test_sampling_options_reach_the_sign_flip_test() -> None:
    d = [math.sin(i * i) for i in range(30)]
    result = paired_test(d, n_resamples=499, alpha=0.5)
    assert result.sign_flip.method == "monte_carlo"
    assert result.sign_flip == sign_flip(d, n_resamples=499, alpha=0.5)


@pytest.mark.parametrize("value", [math.nan, -math.inf, False, "0"])
def test_bad_values_are_named(value: Any) -> None:
    with pytest.raises(ValueError, match=r"differences\[1\]"):
        paired_t([0.1, value])


def test_arguments_are_checked_even_without_data() -> None:
    with pytest.raises(ValueError, match="alpha"):
        paired_t([], alpha=2.0)
    with pytest.raises(ValueError, match="null_delta"):
        paired_t([], null_delta=math.nan)
