"""Reproducibility bands, and the studentized range they need."""

from __future__ import annotations

import math
import random
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchgate.statistics.bands import sample_size_band, seed_band

pytestmark = pytest.mark.filterwarnings("error")

ppf = cache(stats.studentized_range.ppf)
fewer = settings(max_examples=settings().max_examples * 60 // 100)
# Few sizes: for each, scipy integrates the studentized range anew.
sizes = st.tuples(st.sampled_from([2, 3, 5]), st.sampled_from([2, 3, 7, 12]))
tables = sizes.flatmap(
    lambda size: st.lists(
        st.lists(st.integers(-8, 8).map(lambda k: k / 8), min_size=size[1], max_size=size[1]),
        min_size=size[0],
        max_size=size[0],
    )
)
eighths = st.lists(st.integers(-8, 8).map(lambda k: k / 8), min_size=4, max_size=60)


@fewer
@given(tables)
def test_seed_band_follows_tukey(table: list[list[float]]) -> None:
    k, n = len(table), len(table[0])
    band = seed_band(table)
    assert band is not None
    rows = [math.fsum(row) / n for row in table]
    columns = [math.fsum(column) / k for column in zip(*table, strict=True)]
    grand = math.fsum(rows) / k
    squares = math.fsum(
        (table[i][j] - rows[i] - columns[j] + grand) ** 2 for i in range(k) for j in range(n)
    )
    df = (n - 1) * (k - 1)
    assert band.deltas == pytest.approx(rows, abs=1e-12)
    assert band.delta_range == pytest.approx(max(rows) - min(rows), abs=1e-12)
    quantile = float(ppf(0.99, k, df))
    limit = quantile * math.sqrt(squares / df / n)
    assert band.max_delta_range == pytest.approx(limit, abs=1e-6)


@fewer
@given(tables, st.randoms())
def test_seed_band_knows_neither_order_nor_case_difficulty(
    table: list[list[float]], shuffler: Any
) -> None:
    band = seed_band(table)
    assert band is not None
    columns = list(zip(*table, strict=True))
    shuffler.shuffle(columns)
    shifted = [[x + j for x in column] for j, column in enumerate(columns)]
    moved = [list(row) for row in zip(*shifted, strict=True)]
    shuffler.shuffle(moved)
    other = seed_band(moved)
    assert other is not None
    assert other.delta_range == pytest.approx(band.delta_range, abs=1e-12)
    assert other.max_delta_range == pytest.approx(band.max_delta_range, abs=1e-6)


def test_identical_runs_are_within_a_band_of_zero_width() -> None:
    band = seed_band([[0.1, 0.7, 0.3]] * 4)
    assert band is not None
    assert band.delta_range == 0.0
    assert band.max_delta_range == pytest.approx(0.0, abs=1e-15)
    assert band.within_band


def test_a_run_that_is_shifted_beyond_the_noise_is_out() -> None:
    generator = random.Random(1)  # noqa: S311 - a seeded simulation
    row = [generator.gauss(0.1, 0.2) for _ in range(50)]
    noisy = [[x + generator.gauss(0, 0.05) for x in row] for _ in range(3)]
    agreed, broken = seed_band(noisy), seed_band([[x + 0.1 for x in noisy[0]], *noisy[1:]])
    assert agreed is not None
    assert broken is not None
    assert agreed.within_band
    assert not broken.within_band


def test_a_constant_shift_without_noise_is_out() -> None:
    band = seed_band([[0.0, 0.25, 0.5], [0.125, 0.375, 0.625]])
    assert band is not None
    assert band.max_delta_range == 0.0
    assert not band.within_band


def test_pass_rate_of_a_reproducible_policy_is_the_level() -> None:
    generator = random.Random(11)  # noqa: S311 - a seeded simulation
    bands = []
    for _ in range(400):
        rows = [[generator.gauss(0, 1) for _ in range(12)] for _ in range(3)]
        bands.append(seed_band(rows, level=0.9))
    rate = sum(band.within_band for band in bands if band) / 400
    assert 0.84 < rate < 0.96


@pytest.mark.parametrize("table", [[], [[0.1, 0.2]], [[], []], [[0.1], [0.2]]])
def test_too_small_a_table_has_no_seed_band(table: list[list[float]]) -> None:
    assert seed_band(table) is None


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_bands_survive_extreme_units(scale: float) -> None:
    table = [[0.1 * scale, 0.5 * scale, 0.3 * scale], [0.2 * scale, 0.1 * scale, 0.6 * scale]]
    seeds, sizes = seed_band(table), sample_size_band(table[0] + table[1])
    assert seeds is not None
    assert sizes is not None
    assert 0.0 < seeds.max_delta_range < 100 * scale
    assert seeds.within_band
    assert sizes.within_band


@fewer
@given(eighths)
def test_sample_size_band_compares_prefixes_with_the_whole(d: list[float]) -> None:
    n = len(d)
    band = sample_size_band(d)
    assert band is not None
    *parts, whole = band.points
    assert [point.cases for point in band.points] == [n // 4, n // 2, 3 * n // 4, n]
    assert band.max_z == pytest.approx(2.9352, abs=1e-4)
    assert whole.delta == pytest.approx(math.fsum(d) / n, abs=1e-12)
    assert whole.z is None
    sd = math.sqrt(math.fsum((x - whole.delta) ** 2 for x in d) / (n - 1))
    for point in parts:
        part = math.fsum(d[: point.cases]) / point.cases
        assert point.delta == pytest.approx(part, abs=1e-12)
        if sd:
            se = sd * math.sqrt(1 / point.cases - 1 / n)
            assert point.z == pytest.approx((part - whole.delta) / se, rel=1e-9, abs=1e-9)
    worst = max((abs(point.z) for point in band.points if point.z is not None), default=0.0)
    assert band.within_band == (worst <= band.max_z)


def test_drift_along_the_cases_is_out() -> None:
    band = sample_size_band([1.0, 0.9] * 10 + [0.0, 0.1] * 20)
    assert band is not None
    assert not band.within_band


def test_equal_differences_do_not_drift() -> None:
    band = sample_size_band([0.1] * 9)
    assert band is not None
    assert [point.z for point in band.points] == [None] * 4
    assert band.within_band


def test_pass_rate_in_random_order_is_at_least_the_level() -> None:
    generator = random.Random(12)  # noqa: S311 - a seeded simulation
    bands = [
        sample_size_band([generator.random() for _ in range(40)], level=0.9) for _ in range(400)
    ]
    rate = sum(band.within_band for band in bands if band) / 400
    assert rate > 0.87


@pytest.mark.parametrize("d", [[], [0.1], [0.1, 0.2, 0.3]])
def test_below_four_cases_there_are_no_prefixes(d: list[float]) -> None:
    assert sample_size_band(d) is None


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: seed_band([[0.1, 0.2], [0.1]]), "same cases"),
        (lambda: seed_band([[0.1, math.nan], [0.1, 0.2]]), r"table\[0\]\[1\] is nan"),
        (lambda: seed_band([[0.1, 0.2]] * 2, level=1.0), "level"),
        (lambda: sample_size_band([0.1, 0.2, 0.3, True]), r"differences\[3\]"),
        (lambda: sample_size_band([0.1] * 5, level=0.0), "level"),
    ],
)
def test_misuse_is_named(call: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        call()
