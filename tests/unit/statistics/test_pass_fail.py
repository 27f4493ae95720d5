"""The exact test of paired pass/fail: against direct enumeration, with its size, power and bounds."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from benchgate.statistics import pass_fail_test
from benchgate.statistics.pass_fail import (
    cases_for_margin,
    changes,
    given_open,
    largest_value,
    pass_fail_p,
    smallest_margin,
)
from benchgate.statistics.sign_flip import sign_flip

pytestmark = pytest.mark.filterwarnings("error")

few = settings(max_examples=settings().max_examples * 25 // 100, deadline=None)
Outcome = tuple[int, int]


def outcomes(n: int) -> list[Outcome]:
    return [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]


def chances(n: int, shift: float, shares: Any) -> Any:
    """Return the probability of each outcome, one row, at each share of changed cases, one column."""
    counts = np.array([(a, b, n - a - b) for a, b in outcomes(n)])
    columns = [
        stats.multinomial.pmf(counts, n, [(s + shift) / 2, (s - shift) / 2, 1 - s]) for s in shares
    ]
    return np.transpose(columns)


@cache
def region(n: int, shift: float) -> Any:
    return np.array([pass_fail_p(a, b, n, null_delta=shift) <= 0.025 for a, b in outcomes(n)])


def score(gains: int, losses: int, n: int, shift: float) -> float:
    """Compute the ordering's statistic with a likelihood maximised by search, not by formula."""
    counts = np.array([gains, losses, n - gains - losses])

    def unlikelihood(lost: float) -> float:
        cells = np.clip([lost + shift, lost, 1 - 2 * lost - shift], 1e-300, 1)
        return -float(np.sum(np.where(counts, counts * np.log(cells), 0.0)))

    bounds = (max(0.0, -shift), (1 - shift) / 2)
    lost = optimize.minimize_scalar(
        unlikelihood, bounds=bounds, method="bounded", options={"xatol": 1e-12}
    ).x
    variance = n * (2 * lost + shift - shift**2) + 0.5
    return float((gains - losses - n * shift) / np.sqrt(variance))


def limit(gains: int, losses: int, n: int) -> float:
    quantile = stats.norm.isf(0.025)

    def excess(shift: float) -> float:
        return score(gains, losses, n, shift) - quantile

    return -1.0 if excess(-1.0) < 0 else float(optimize.brentq(excess, -1.0, 1.0))


@cache
def limits_of(n: int) -> dict[Outcome, float]:
    return {outcome: limit(*outcome, n) for outcome in outcomes(n)}


@pytest.mark.parametrize(
    "n", [4, pytest.param(5, marks=pytest.mark.slow), pytest.param(7, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("shift", [0.0, -0.2, 0.15])
def test_p_equals_the_largest_tail_over_the_confidence_set(n: int, shift: float) -> None:
    limits = limits_of(n)
    for gains, losses in outcomes(n):
        interval = stats.binomtest(gains + losses, n).proportion_ci(1 - 1e-4, method="exact")
        low, high = max(abs(shift), interval.low), interval.high
        if high < abs(shift) or limits[gains, losses] == -1.0:
            continue  # no share of changes is both possible and plausible, or nothing speaks less for a gain
        tail = [limits[other] >= limits[gains, losses] - 1e-6 for other in outcomes(n)]
        found = chances(n, shift, np.linspace(low, high, 401))[tail].sum(axis=0).max()
        expected = min(1.0, found + 1e-4)
        assert pass_fail_p(gains, losses, n, null_delta=shift) == pytest.approx(expected, rel=2e-4)


@pytest.mark.parametrize("n", [5, 10, 23, pytest.param(36, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shift", [0.0, -0.05, -0.1, -0.2, 0.1])
def test_size_is_below_the_level_at_every_share_of_changes(n: int, shift: float) -> None:
    shares = np.linspace(abs(shift), 1.0, 301)
    assert chances(n, shift, shares)[region(n, shift)].sum(axis=0).max(initial=0.0) <= 0.025
    # Nor beyond the null hypothesis' edge.
    worse = chances(n, shift - 0.05, np.linspace(abs(shift - 0.05), 1.0, 101))
    assert worse[region(n, shift)].sum(axis=0).max(initial=0.0) <= 0.025


@pytest.mark.parametrize(
    "n",
    [
        pytest.param(60, marks=pytest.mark.slow),
        pytest.param(125, marks=pytest.mark.slow),
        pytest.param(200, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("shift", [0.0, -0.1])
def test_size_of_large_samples_has_an_upper_bound_below_the_level(n: int, shift: float) -> None:
    fewest, gains = np.full(n + 1, n + 1), 0
    for losses in range(n + 1):
        while gains + losses <= n and pass_fail_p(gains, losses, n, null_delta=shift) > 0.025:
            gains += 1
        if gains + losses <= n:
            fewest[losses] = gains
    assert largest_value(given_open(fewest, shift), 0.0, 1.0) <= 0.025


def test_power_on_23_cases_is_near_twice_that_of_mcnemar() -> None:
    mass = chances(23, 0.15, [0.2])[:, 0]
    assert mass[region(23, 0.0)].sum() == pytest.approx(0.251, abs=0.001)
    signs = ([1] * a + [-1] * b for a, b in outcomes(23))
    mcnemar = np.array([sign_flip(d).p_greater <= 0.025 for d in signs])
    assert mass[mcnemar].sum() == pytest.approx(0.134, abs=0.001)
    assert np.all(region(23, 0.0)[mcnemar])


@pytest.mark.parametrize("n", [1, 4, 13, 24])
@pytest.mark.parametrize("shift", [0.0, -0.15, 0.1])
def test_a_further_gain_or_a_loss_less_never_raises_p(n: int, shift: float) -> None:
    p = {o: pass_fail_p(*o, n, null_delta=shift) for o in outcomes(n)}
    for (gains, losses), value in p.items():
        # Near 1 a confidence set that moves may raise it.
        if value < 0.9:
            assert p.get((gains + 1, losses), 0.0) <= value + 1e-4
            assert p.get((gains, losses - 1), 0.0) <= value + 1e-4


@few
@given(st.integers(1, 60), st.data())
def test_bounds_are_the_differences_that_the_test_does_not_exclude(n: int, data: Any) -> None:
    gains = data.draw(st.integers(0, n))
    losses = data.draw(st.integers(0, n - gains))
    result = pass_fail_test(gains, losses, n)
    assert -1 <= result.ci_low <= (gains - losses) / n <= result.ci_high <= 1
    if result.ci_low > -0.99:
        below, above = (result.ci_low - 1e-4, min(result.ci_low + 1e-4, 0.9999))
        assert pass_fail_p(gains, losses, n, null_delta=below) <= 0.025
        assert pass_fail_p(gains, losses, n, null_delta=above) > 0.025


@few
@given(st.integers(1, 40), st.data())
def test_swapping_the_arms_swaps_the_sides(n: int, data: Any) -> None:
    gains = data.draw(st.integers(0, n))
    losses = data.draw(st.integers(0, n - gains))
    one = pass_fail_test(gains, losses, n, null_delta=0.1)
    other = pass_fail_test(losses, gains, n, null_delta=-0.1)
    assert (one.p_greater, one.p_less) == (other.p_less, other.p_greater)
    assert (one.ci_low, one.ci_high) == (-other.ci_high, -other.ci_low)
    assert one.p_two_sided == min(1.0, 2 * min(one.p_greater, one.p_less))


@few
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=60),
    # steps of a billionth: scipy, which judges here, overflows at the smallest numbers there are
    st.integers(0, 10**9).map(lambda k: k / 1e9),
    st.integers(0, 10**9).map(lambda k: k / 1e9),
)
def test_largest_value_is_an_upper_bound_and_close(c: list[float], x: float, y: float) -> None:
    low, high = sorted((x, y))
    n, s = len(c) - 1, np.linspace(low, high, 400)
    values = stats.binom.pmf(np.arange(n + 1)[:, None], n, s).T @ np.array(c)
    found = largest_value(np.array(c), low, high)
    assert found >= values.max() * (1 - 1e-12)
    assert found <= values.max() + 0.01


def test_two_equal_systems_on_fixed_cases_pass_no_more_often() -> None:
    """Fixed cases that change with a chance of at most 1/2 each, the most that two equal systems can have."""
    n = 23
    passes = dict(zip(outcomes(n), region(n, 0.0), strict=True))
    given = [
        sum(passes[a, k - a] * stats.binom.pmf(a, k, 0.5) for a in range(k + 1))
        for k in range(n + 1)
    ]
    for number in range(1, n + 1):
        for chance in (0.2, 0.35, 0.5):
            k = np.arange(number + 1)
            assert stats.binom.pmf(k, number, chance) @ np.array(given)[k] <= 0.025
    assert not passes[4, 0]
    assert passes[5, 0]


def test_margins_that_cases_without_any_change_can_show() -> None:
    assert {m: cases_for_margin(m, 300) for m in (0.05, 0.1, 0.2)} == {0.05: 73, 0.1: 36, 0.2: 17}
    for n in (5, 17, 36, 80):
        least = 1 - 0.025 ** (1 / n)
        margin = smallest_margin(n)
        assert least < margin < least + 0.05 / np.sqrt(n)
        above, below = (cases_for_margin(margin + by, 300) for by in (1e-5, -1e-5))
        assert (above or 0) <= n < (below or 0)
    assert cases_for_margin(0.001, 300) is None
    assert cases_for_margin(0.1, 35) is None


@pytest.mark.parametrize("alpha", [0.01, 0.1])
def test_another_alpha_has_its_own_size(alpha: float) -> None:
    n = 20
    passes = [pass_fail_p(a, b, n, alpha=alpha) <= alpha / 2 for a, b in outcomes(n)]
    size = chances(n, 0.0, np.linspace(0, 1, 301))[passes].sum(axis=0).max()
    assert alpha / 4 < size <= alpha / 2


def test_changes_counts_zeros_and_ones_only() -> None:
    assert changes([0, 1, 1, 0.0], [1, 0, 1.0, 0]) == (1, 1, 4)
    assert changes([], []) == (0, 0, 0)
    assert changes([0, 0.5], [0, 0.5]) is None
    with pytest.raises(ValueError, match="argument"):
        changes([0], [])


@pytest.mark.parametrize(("gains", "losses", "n"), [(-1, 0, 3), (2, 2, 3), (0, 0, 0)])
def test_counts_that_do_not_fit_are_refused(gains: int, losses: int, n: int) -> None:
    with pytest.raises(ValueError, match="expected counts of n"):
        pass_fail_p(gains, losses, n)


@pytest.mark.parametrize("null_delta", [-1.0, 1.0, float("nan")])
def test_a_null_difference_outside_the_range_is_refused(null_delta: float) -> None:
    with pytest.raises(ValueError, match="null_delta"):
        pass_fail_p(1, 0, 3, null_delta=null_delta)
