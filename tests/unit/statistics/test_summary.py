"""Exact means, and variances that are zero iff all values are equal."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.statistics.summary import finite_floats, mean, summarize

pytestmark = pytest.mark.filterwarnings("error")

any_floats = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30)
moderate = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=2, max_size=30)


def exact_variance(values: list[float]) -> Fraction:
    exact = [Fraction(x) for x in values]
    center = sum(exact, Fraction()) / len(exact)
    return sum(((x - center) * (x - center) for x in exact), Fraction()) / (len(exact) - 1)


@given(any_floats)
def test_mean_is_the_rounded_exact_mean(values: list[float]) -> None:
    exact = sum(map(Fraction, values), Fraction()) / len(values)
    assert abs(Fraction(mean(values)) - exact) <= Fraction(math.ulp(float(exact))) * 51 / 100


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 200))
def test_mean_of_a_constant_is_that_constant(value: float, n: int) -> None:
    summary = summarize([value] * n)
    assert summary.mean == value
    assert summary.mean_tail == 0.0
    assert summary.constant
    assert summary.variance == (None if n == 1 else 0.0)


@given(any_floats, st.randoms())
def test_no_figure_depends_on_the_order(values: list[float], random: object) -> None:
    shuffled = values[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert summarize(shuffled) == summarize(values)


@given(moderate)
def test_variance_agrees_with_exact_arithmetic(values: list[float]) -> None:
    summary = summarize(values)
    assert summary.variance == pytest.approx(float(exact_variance(values)), rel=1e-12)
    assert summary.sd == pytest.approx(math.sqrt(exact_variance(values)), rel=1e-12)


@given(any_floats.filter(lambda values: len(values) > 1))
def test_variance_is_zero_iff_all_values_are_equal(values: list[float]) -> None:
    summary = summarize(values)
    assert (summary.variance == 0.0) == (min(values) == max(values))
    assert (summary.sd == 0.0) == (min(values) == max(values))
    assert math.isfinite(summary.variance or 0.0)
    assert math.isfinite(summary.sd or 0.0)


@pytest.mark.parametrize("exponent", [-1000, -300, 0, 300, 1000])
def test_standard_deviation_scales_exactly_by_powers_of_two(exponent: int) -> None:
    values = [0.1, 0.7, 0.3, 0.9]
    scaled = summarize([math.ldexp(x, exponent) for x in values])
    assert scaled.sd == math.ldexp(summarize(values).sd or 0.0, exponent)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_standard_deviation_survives_where_the_variance_is_no_float(scale: float) -> None:
    summary = summarize([-scale, 0.0, scale])
    assert summary.sd == pytest.approx(scale, rel=1e-15)
    assert summary.variance
    assert math.isfinite(summary.variance)


def test_a_large_offset_does_not_hide_the_spread() -> None:
    values = [1e9 + x / 1024 for x in (1, 2, 3, 4)]
    assert summarize(values).variance == pytest.approx(float(exact_variance(values)), rel=1e-14)


def test_noise_of_one_unit_in_the_last_place_has_a_variance() -> None:
    values = [0.5, 0.5, math.nextafter(0.5, 1)]
    assert summarize(values).variance == pytest.approx(float(exact_variance(values)), rel=1e-9)


def test_the_largest_floats_do_not_overflow() -> None:
    assert mean([1.7e308] * 9) == 1.7e308
    assert mean([1.7e308, -1.7e308, 1.7e308]) == pytest.approx(1.7e308 / 3)


def test_an_empty_sample_is_all_none() -> None:
    summary = summarize([])
    assert summary.n == 0
    assert summary.mean is summary.variance is summary.sd is None


def test_the_mean_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        mean([])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (True, "True"),
        (np.True_, "True"),
        ("0.5", "'0.5'"),
        (None, "None"),
        (1j, "1j"),
        (10**400, "1000"),
    ],
)
def test_what_is_no_finite_real_number_is_refused(value: object, text: str) -> None:
    with pytest.raises(ValueError, match=r"scores\[2\] is .*") as caught:
        finite_floats([0.0, 1.0, value], "scores")  # type: ignore[list-item]
    assert text in str(caught.value)


def test_integers_and_numpy_scalars_become_floats() -> None:
    result = finite_floats([1, np.float32(0.5), np.int64(2), np.float64(0.25), Fraction(1, 8)])  # type: ignore[list-item]
    assert result == [1.0, 0.5, 2.0, 0.25, 0.125]
    assert {type(x) for x in result} == {float}
