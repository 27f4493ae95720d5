"""Boschloo's test of two numbers of passes: against scipy's, with its laws, its size, its bounds and its power."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from benchgate.statistics import Goal
from benchgate.statistics.boschloo import Passes, boschloo_p, boschloo_test, size, smallest_effect

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.filterwarnings("error")

few = settings(max_examples=settings().max_examples * 25 // 100, deadline=None)
LEVEL = 0.025


@st.composite
def sides(draw: st.DrawFn, most: int = 12) -> tuple[Passes, Passes]:
    """Draw two sides with at least one case."""
    before, after = draw(st.integers(1, most)), draw(st.integers(1, most))
    return (
        Passes(draw(st.integers(0, before)), before),
        Passes(draw(st.integers(0, after)), after),
    )


def every(n: int, m: int) -> Iterator[tuple[Passes, Passes]]:
    for x, y in product(range(n + 1), range(m + 1)):
        yield Passes(x, n), Passes(y, m)


def chance(n: int, m: int, before: float, after: float) -> Any:
    """Return the probability of each outcome of :func:`every`."""
    masses = (
        stats.binom.pmf(np.arange(n + 1), n, before),
        stats.binom.pmf(np.arange(m + 1), m, after),
    )
    return np.outer(*masses).ravel()


@few
@given(sides())
def test_p_is_that_of_scipy(of: tuple[Passes, Passes]) -> None:
    before, after = of
    table = [[after.passed, before.passed], [after.of - after.passed, before.of - before.passed]]
    for alternative, p in (
        ("greater", boschloo_p(before, after)),
        ("less", boschloo_p(after, before)),
    ):
        expected = stats.boschloo_exact(table, alternative=alternative, n=256).pvalue
        # scipy searches for the largest value, and may miss it by a little.
        assert expected * (1 - 1e-9) <= p <= expected * 1.002


def test_published_values() -> None:
    # The example of scipy's documentation: 74 of 105 professors and 43 of 75 scientists like their job.
    assert boschloo_p(Passes(43, 75), Passes(74, 105)) == pytest.approx(0.0358, abs=1e-4)
    # Three of three against none of three: (1/2)**6, where Fisher's p is 1/20.
    assert boschloo_p(Passes(0, 3), Passes(3, 3)) == pytest.approx(1 / 64)


@few
@given(sides(), st.sampled_from([0.0, 0.1, -0.2]))
def test_a_pass_more_never_speaks_less_for_the_candidate(
    of: tuple[Passes, Passes], shift: float
) -> None:
    before, after = of
    test = boschloo_test(before, after, null_delta=shift)
    if after.passed < after.of:
        more = boschloo_test(before, after._replace(passed=after.passed + 1), null_delta=shift)
        assert more.p_greater <= test.p_greater
        assert more.ci_low >= test.ci_low
    if before.passed:
        less = boschloo_test(before._replace(passed=before.passed - 1), after, null_delta=shift)
        assert less.p_greater <= test.p_greater
        assert less.ci_low >= test.ci_low


@few
@given(sides(), st.sampled_from([0.0, 0.1]))
@example((Passes(1, 4), Passes(0, 4)), 0.0)
def test_sides_exchanged_and_failures_counted_say_the_same(
    of: tuple[Passes, Passes], shift: float
) -> None:
    before, after = of
    test = boschloo_test(before, after, null_delta=shift)
    exchanged = boschloo_test(after, before, null_delta=-shift)
    assert exchanged.p_less == pytest.approx(test.p_greater)
    assert exchanged.ci_high == pytest.approx(-test.ci_low, abs=1e-9)
    failed = [Passes(side.of - side.passed, side.of) for side in (after, before)]
    mirrored = boschloo_test(*failed, null_delta=shift)
    assert mirrored.p_greater == pytest.approx(test.p_greater)
    assert mirrored.ci_low == pytest.approx(test.ci_low, abs=1e-5)


@few
@given(sides(), st.sampled_from([0.01, 0.05, 0.2]), st.sampled_from([0.0, 0.05, -0.1, -0.3]))
def test_a_bound_excludes_a_difference_exactly_if_the_test_does(
    of: tuple[Passes, Passes], alpha: float, shift: float
) -> None:
    test = boschloo_test(*of, alpha=alpha, null_delta=shift)
    for p, is_excluded in (
        (test.p_greater, test.ci_low > shift),
        (test.p_less, test.ci_high < shift),
    ):
        if math.isclose(p, alpha / 2, rel_tol=1e-4):
            continue  # the bounds are computed to 1e-6
        assert is_excluded == (p <= alpha / 2)
    assert -1.0 <= test.ci_low <= test.ci_high <= 1.0


@pytest.mark.parametrize(("n", "m"), [(5, 5), (9, 6), pytest.param(20, 20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shift", [0.0, -0.1, -0.2, 0.1])
def test_the_level_is_kept_at_every_pair_of_shares(n: int, m: int, shift: float) -> None:
    passing = [boschloo_p(*of, null_delta=shift) <= LEVEL for of in every(n, m)]
    for before in np.linspace(max(0.0, -shift), min(1.0, 1.0 - shift), 101):
        assert chance(n, m, before, before + shift)[passing].sum() <= LEVEL


@pytest.mark.parametrize(("n", "m"), [(4, 7), (10, 10)])
def test_either_end_of_the_interval_errs_in_as_few_samples(n: int, m: int) -> None:
    tests = [boschloo_test(*of) for of in every(n, m)]
    low = np.array([test.ci_low for test in tests])
    high = np.array([test.ci_high for test in tests])
    for before, after in product(np.linspace(0.02, 0.98, 13), repeat=2):
        mass = chance(n, m, before, after)
        assert mass[low > after - before].sum() <= LEVEL
        assert mass[high < after - before].sum() <= LEVEL


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 8), (12, 13)])
def test_the_size_is_that_of_what_passes(n: int, m: int) -> None:
    passing = [boschloo_p(*of) <= LEVEL for of in every(n, m)]
    found = max(chance(n, m, s, s)[passing].sum() for s in np.linspace(0.0, 1.0, 501))
    assert size(n, m) == pytest.approx(found, rel=1e-3)


@pytest.mark.parametrize(("passed", "n", "m"), [(7, 10, 10), (14, 20, 30), (0, 12, 9), (12, 12, 9)])
@pytest.mark.parametrize("null", [0.0, 0.05])
def test_the_smallest_effect_is_found_as_often_as_promised(
    passed: int, n: int, m: int, null: float
) -> None:
    goal = Goal(target=0.1, null_delta=null)
    effect = smallest_effect(Passes(passed, n), m, goal)
    assert effect is not None
    rate = {0: 1 - 0.05 ** (1 / n), n: 0.05 ** (1 / n)}.get(passed, passed / n)
    before = min(rate, 1.0 - effect)
    passing = [boschloo_p(*of, null_delta=null) <= LEVEL for of in every(n, m)]
    assert chance(n, m, before, before + effect)[passing].sum() == pytest.approx(0.8, abs=1e-4)


def test_too_few_cases_find_nothing() -> None:
    assert smallest_effect(Passes(1, 2), 2, Goal(target=0.1)) is None


@pytest.mark.parametrize(
    ("side", "options"),
    [
        (Passes(21, 20), {}),
        (Passes(-1, 20), {}),
        (Passes(0, 0), {}),
        (Passes(1, 2), {"alpha": 0.0}),
        (Passes(1, 2), {"null_delta": 1.0}),
        (Passes(1, 2), {"null_delta": math.nan}),
    ],
)
def test_wrong_arguments(side: Passes, options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"expected|finite"):
        boschloo_test(side, Passes(1, 2), **options)


@pytest.mark.parametrize("count", [100, 300])
def test_bounds_of_large_samples_are_those_of_the_normal_curve(count: int) -> None:
    before, after = Passes(count * 4 // 10, count), Passes(count * 7 // 10, count)
    test = boschloo_test(before, after)
    error = math.sqrt((0.4 * 0.6 + 0.7 * 0.3) / count)
    assert test.ci_low == pytest.approx(0.3 - 1.96 * error, abs=0.3 * error)
    assert test.ci_high == pytest.approx(0.3 + 1.96 * error, abs=0.3 * error)
