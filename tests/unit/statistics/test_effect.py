"""Cohen's d and Hedges' g."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special, stats

from benchgate.statistics import effect_size
from benchgate.statistics.effect import hedges_correction

pytestmark = pytest.mark.filterwarnings("error")

eighths = st.lists(st.integers(-64, 64).map(lambda x: x / 8), min_size=2, max_size=25)


@given(eighths, eighths)
def test_d_is_the_pooled_t_in_other_units(b: list[float], c: list[float]) -> None:
    assume(min(b) != max(b) and min(c) != max(c))
    result = effect_size(b, c)
    t = stats.ttest_ind(c, b, equal_var=True).statistic
    assert result.cohens_d == pytest.approx(
        t * math.sqrt(1 / len(b) + 1 / len(c)), rel=1e-9, abs=1e-9
    )
    assert result.hedges_g == pytest.approx(
        (result.cohens_d or 0.0) * hedges_correction(len(b) + len(c) - 2), rel=1e-12
    )


@given(eighths, eighths, st.integers(-900, 900))
def test_antisymmetric_and_free_of_units(b: list[float], c: list[float], exponent: int) -> None:
    result, mirror = effect_size(b, c), effect_size(c, b)
    scaled = effect_size([math.ldexp(x, exponent) for x in b], [math.ldexp(x, exponent) for x in c])
    assert scaled.cohens_d == result.cohens_d
    assert mirror.pooled_sd == result.pooled_sd
    if result.cohens_d is not None:
        assert mirror.cohens_d == -result.cohens_d


@pytest.mark.parametrize("m", [2, 3, 5, 10, 57, 300, 10_000])
def test_correction_is_the_ratio_of_gamma_functions(m: int) -> None:
    logs = special.gammaln(m / 2) - special.gammaln((m - 1) / 2)
    assert hedges_correction(m) == pytest.approx(math.exp(logs) / math.sqrt(m / 2), rel=1e-9)


def test_correction_known_values() -> None:
    assert hedges_correction(2) == pytest.approx(1 / math.sqrt(math.pi), rel=1e-14)
    assert hedges_correction(3) == pytest.approx(math.sqrt(math.pi / 6), rel=1e-14)
    assert hedges_correction(10**6) == pytest.approx(1 - 3 / (4e6 - 1), abs=1e-9)


def test_correction_grows_towards_one() -> None:
    values = [hedges_correction(m) for m in range(2, 500)]
    assert values == sorted(values)
    assert 0.56 < values[0] < values[-1] < 1.0


def test_constant_arms_have_no_effect_size_rather_than_zero() -> None:
    result = effect_size([0.5] * 4, [0.9] * 7)
    assert result.pooled_sd == 0.0
    assert result.cohens_d is result.hedges_g is None


@pytest.mark.parametrize(("b", "c"), [([], []), ([1.0], [0.0, 1.0]), ([0.0, 1.0], [])])
def test_below_two_values_there_is_nothing_to_pool(b: list[float], c: list[float]) -> None:
    result = effect_size(b, c)
    assert result.pooled_sd is result.cohens_d is result.hedges_g is None


def test_extreme_effects_stay_finite() -> None:
    result = effect_size([0.0, 5e-324], [1e308] * 2)
    assert result.cohens_d is not None
    assert math.isfinite(result.cohens_d)


def test_bad_values_are_named() -> None:
    with pytest.raises(ValueError, match=r"candidate\[0\] is nan"):
        effect_size([0.0, 1.0], [math.nan, 1.0])
