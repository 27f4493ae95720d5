"""Gaffke's bounds and what is built of them."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from benchgate.statistics import unseen_failure_ucb
from benchgate.statistics.bounds import _simplex_cdf, gaffke_lower, gaffke_upper, mover_gaffke

pytestmark = pytest.mark.filterwarnings("error")

fewer = settings(max_examples=settings().max_examples * 60 // 100)
units = st.lists(st.integers(0, 100).map(lambda k: k / 100), min_size=1, max_size=25)
levels = st.sampled_from([0.5, 0.8, 0.95, 0.975, 0.999])


@fewer
@given(st.integers(1, 60), st.data(), levels)
def test_equals_clopper_pearson_on_binary_scores(n: int, data: Any, confidence: float) -> None:
    k = data.draw(st.integers(0, n))
    scores = [1] * k + [0] * (n - k)
    interval = stats.binomtest(k, n).proportion_ci(2 * confidence - 1, method="exact")
    assert gaffke_lower(scores, confidence=confidence) == pytest.approx(interval.low, abs=1e-12)
    assert gaffke_upper(scores, confidence=confidence) == pytest.approx(interval.high, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 30, 100, 500])
def test_the_inversion_agrees_with_the_beta_law_on_two_points(n: int) -> None:
    for k in {1, (n + 1) // 2, n}:
        points, counts = np.array([0.0, 1.0]), np.array([n - k + 1.0, k])
        for t in (0.1, 0.5, 0.9, 0.99):
            exact = float(special.betainc(k, n - k + 1, t))
            assert _simplex_cdf(points, counts, t) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("n", [1, 3, 8, 40])
def test_the_inversion_agrees_with_the_bayesian_bootstrap(n: int) -> None:
    generator = np.random.default_rng(n)
    x = generator.beta(2.0, 1.0, n)
    weights = generator.dirichlet(np.ones(n + 1), 100_000)
    draws = weights[:, 1:] @ x
    bound = gaffke_lower(x.tolist())
    assert abs(float((draws <= bound).mean()) - 0.05) < 5 * math.sqrt(0.05 * 0.95 / 1e5)


@pytest.mark.parametrize(("n", "c"), [*product((1, 10, 100), (0.3, 0.7, 1.0)), (10**6, 0.7)])
def test_a_constant_shrinks_towards_the_floor(n: int, c: float) -> None:
    assert gaffke_lower([c] * n) == pytest.approx(c * 0.05 ** (1 / n), rel=1e-9)


def test_certifying_ninety_five_percent_needs_59_straight_passes() -> None:
    assert gaffke_lower([1.0] * 58) < 0.95 <= gaffke_lower([1.0] * 59)


@fewer
@given(units, levels)
def test_stays_in_range_and_brackets_the_mean(x: list[float], confidence: float) -> None:
    low, high = gaffke_lower(x, confidence=confidence), gaffke_upper(x, confidence=confidence)
    assert 0.0 <= low <= max(x)
    assert min(x) <= high <= 1.0
    if confidence >= 0.95:
        assert low <= math.fsum(x) / len(x) <= high


@fewer
@given(units)
def test_more_confidence_means_wider_bounds(x: list[float]) -> None:
    bounds = [gaffke_lower(x, confidence=c) for c in (0.999, 0.975, 0.95, 0.8, 0.5)]
    assert bounds == sorted(bounds)
    uppers = [gaffke_upper(x, confidence=c) for c in (0.5, 0.8, 0.95, 0.975, 0.999)]
    assert uppers == sorted(uppers)


@fewer
@given(units, st.data())
def test_a_better_score_never_lowers_the_bound(x: list[float], data: Any) -> None:
    index = data.draw(st.integers(0, len(x) - 1))
    better = [*x]
    better[index] = data.draw(st.integers(round(100 * x[index]), 100)) / 100
    assert gaffke_lower(better) >= gaffke_lower(x) - 1e-10
    assert gaffke_upper(better) >= gaffke_upper(x) - 1e-10


@fewer
@given(units, st.randoms())
def test_the_order_of_cases_does_not_matter(x: list[float], shuffler: Any) -> None:
    before = gaffke_lower(x), gaffke_upper(x)
    shuffler.shuffle(x)
    assert (gaffke_lower(x), gaffke_upper(x)) == before


@fewer
@given(units, st.sampled_from([1e-300, 0.01, 3.0, 1e300]), st.sampled_from([0.0, -1.0, 0.5]))
def test_general_support_is_a_change_of_unit(x: list[float], width: float, shift: float) -> None:
    low, high = shift * width, shift * width + width
    moved = [min(high, low + v * width) for v in x]
    expected = low + gaffke_lower(x) * width
    result = gaffke_lower(moved, low=low, high=high)
    assert result == pytest.approx(expected, rel=1e-8, abs=1e-8 * width)


@fewer
@given(units)
def test_upper_mirrors_lower(x: list[float]) -> None:
    mirrored = [(100 - round(100 * v)) / 100 for v in x]
    assert gaffke_upper(x) == pytest.approx(1 - gaffke_lower(mirrored), abs=1e-9)


@fewer
@given(units)
def test_a_lower_floor_gives_a_lower_bound_and_the_ceiling_does_not_matter(x: list[float]) -> None:
    bound = gaffke_lower(x)
    assert gaffke_lower(x, low=-1.0) <= bound
    assert gaffke_lower(x, high=7.0) == bound


def test_no_scores_leave_the_whole_range() -> None:
    assert gaffke_lower([], low=-1.0, high=2.0) == -1.0
    assert gaffke_upper([], low=-1.0, high=2.0) == 2.0


def test_all_failures_give_the_floor() -> None:
    assert gaffke_lower([0.0] * 20) == 0.0
    assert gaffke_upper([0.0] * 20) == pytest.approx(unseen_failure_ucb(20), rel=1e-12)


def test_covers_rare_breaks_where_t_does_not() -> None:
    generator = random.Random(5)  # noqa: S311 - a seeded simulation
    n, runs, misses, t_misses = 10, 200, 0, 0
    for _ in range(runs):
        d = [-0.95 if generator.random() < 0.05 else 0.05 for _ in range(n)]
        misses += gaffke_lower(d, low=-1.0) > 0.0
        t_misses += max(d) == min(d)
    assert misses <= 0.05 * runs
    assert t_misses > 0.4 * runs


def test_many_distinct_scores() -> None:
    generator = random.Random(6)  # noqa: S311 - a seeded simulation
    x = [generator.random() for _ in range(3000)]
    mean, sd = float(np.mean(x)), float(np.std(x))
    expected = mean - 1.6449 * sd / math.sqrt(3000)
    assert gaffke_lower(x) == pytest.approx(expected, abs=6e-4)


@fewer
@given(units, units, levels)
def test_mover_combines_the_limits_of_both_arms(
    b: list[float], c: list[float], confidence: float
) -> None:
    lower, upper = mover_gaffke(b, c, confidence=confidence)
    mean_b, mean_c = math.fsum(b) / len(b), math.fsum(c) / len(c)
    delta = mean_c - mean_b
    assert -1.0 - 1e-12 <= lower <= delta + 1e-12
    assert delta - 1e-12 <= upper <= 1.0 + 1e-12
    drop = mean_c - gaffke_lower(c, confidence=confidence)
    rise = gaffke_upper(b, confidence=confidence) - mean_b
    assert lower == pytest.approx(delta - math.hypot(drop, rise), abs=1e-9)


@fewer
@given(units, units)
def test_swapping_the_arms_mirrors_the_mover_limits(b: list[float], c: list[float]) -> None:
    result, mirror = mover_gaffke(b, c), mover_gaffke(c, b)
    assert mirror == pytest.approx((-result[1], -result[0]), abs=1e-12)


@fewer
@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 10))
def test_identical_constant_arms_are_never_significant(n: int, m: int, tenth: int) -> None:
    lower, upper = mover_gaffke([tenth / 10] * n, [tenth / 10] * m)
    assert lower < 0.0 < upper


@pytest.mark.parametrize(("n", "passes"), [(58, False), (59, True)])
def test_a_clean_safety_record_clears_five_percent_from_59_cases(n: int, passes: bool) -> None:
    assert (mover_gaffke([0.0] * n, [0.0] * n)[1] <= 0.05) is passes


@pytest.mark.parametrize(("n", "rate"), [(1, 0.95), (10, 0.2589), (30, 0.0950), (100, 0.0295)])
def test_unseen_failures(n: int, rate: float) -> None:
    assert unseen_failure_ucb(n) == pytest.approx(rate, abs=5e-5)


def test_unseen_failures_keep_their_digits_at_huge_n() -> None:
    assert unseen_failure_ucb(10**15) == pytest.approx(-math.log(0.05) / 1e15, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: unseen_failure_ucb(0), "n is 0"),
        (lambda: unseen_failure_ucb(5, 1.0), "confidence"),
        (lambda: gaffke_lower([0.5], confidence=0.0), "confidence"),
        (lambda: gaffke_lower([0.5, 1.5]), r"values\[1\] is 1.5"),
        (lambda: gaffke_lower([-0.5]), r"values\[0\] is -0.5"),
        (lambda: gaffke_lower([math.nan]), r"values\[0\] is nan"),
        (lambda: gaffke_lower([True]), r"values\[0\] is True"),
        (lambda: gaffke_lower([0.5], low=1.0, high=1.0), "range"),
        (lambda: gaffke_lower([0.5], low=math.nan), "low"),
        (lambda: gaffke_lower([0.5], low=-1.7e308, high=1.7e308), "range"),
        (lambda: mover_gaffke([], [0.5]), "no values"),
        (lambda: mover_gaffke([0.5], [2.0]), r"values\[0\] is 2.0"),
    ],
)
def test_misuse_is_named(call: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        call()


@given(st.integers(1, 10**6), st.floats(1e-9, 0.5))
def test_the_closed_form_for_equal_scores_has_the_digits_of_the_beta_quantile(
    n: int, alpha: float
) -> None:
    assert math.pow(alpha, 1.0 / n) == float(special.betaincinv(float(n), 1.0, alpha))


def test_a_bound_loads_only_the_numerics_that_it_needs() -> None:
    code = (
        "import sys; from benchgate.statistics.bounds import gaffke_lower\n"
        "for scores in ([1.0, 1.0], [0.5, 1.0], [0.0, 1.0]):\n"
        "    gaffke_lower(scores); print('numpy' in sys.modules, 'scipy.special' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.stdout.split() == ["False", "False", "True", "False", "True", "True"]
