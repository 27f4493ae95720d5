"""What a comparison can detect: the power that is promised is the one that is found, within 8 points."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from benchgate.gates.compared import Compared
from benchgate.gates.deciding import deciding
from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.statistics import Goal, paired_detectable, welch_detectable
from benchgate.statistics.paired import paired_test
from benchgate.statistics.pass_fail import pass_fail_p
from benchgate.statistics.welch import welch_test

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[np.random.Generator, int], Any]

pytestmark = pytest.mark.filterwarnings("error")

PROMISED = 0.8
POINTS = 0.08
BEYOND = Goal(target=1e3)


def changes(n: int, changed: int) -> list[float]:
    """Return differences of 0/1 pairs, about as many gains as losses."""
    return [1.0] * (changed - changed // 2) + [-1.0] * (changed // 2) + [0.0] * (n - changed)


def passing(n: int, count: int) -> list[float]:
    return [1.0] * count + [0.0] * (n - count)


@cache
def fewest_gains(n: int, null: float = 0.0, *, exact: bool) -> list[int]:
    """Ask the test for the fewest gains that pass, by losses; n + 1 if none do."""

    def passes(gains: int, losses: int) -> bool:
        if exact:
            return pass_fail_p(gains, losses, n, null_delta=null) <= 0.025
        d = [1.0] * gains + [-1.0] * losses + [0.0] * (n - gains - losses)
        return gains < n and (paired_test(d, null_delta=null).p_greater or 1.0) <= 0.025

    fewest, gains = [n + 1] * (n + 1), 0
    for losses in range(n + 1):
        while gains + losses <= n and not passes(gains, losses):
            gains += 1
        if gains + losses > n:
            break
        fewest[losses] = gains
    return fewest


def power(n: int, share: float, gain: float, null: float = 0.0, *, exact: bool) -> float:
    """Add up the probability of the outcomes that pass if a share of the cases changes."""
    fewest, losses = np.array(fewest_gains(n, null, exact=exact)), np.arange(n + 1)
    share = max(share, gain)
    lost, gained = (share - gain) / 2, (share + gain) / 2
    passed = stats.binom.sf(fewest - 1, n - losses, min(1.0, gained / (1 - lost)))
    return float(stats.binom.pmf(losses, n, lost) @ passed)


@cache
def welch_passes(n: int, baseline: int, candidate: int) -> bool:
    """Ask the gate about two samples that pass or fail."""
    before, after = (Arm(scores=tuple(passing(n, count))) for count in (baseline, candidate))
    compared = Compared(baseline=before, candidate=after, policy=GatePolicy())
    return deciding(compared).answers().passed


@pytest.mark.parametrize("n", [12, 23, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.4])
@pytest.mark.parametrize("exact", [True, False])
def test_on_pairs_that_pass_or_fail_the_effect_is_found_as_often_as_promised(
    n: int, share: float, exact: bool
) -> None:
    found = 0.0
    for changed in range(n + 1):
        effect = paired_detectable(changes(n, changed), BEYOND, width=1.0, exact=exact).effect
        assert effect is not None
        weight = float(stats.binom.pmf(changed, n, share))
        found += weight * power(n, share, effect, exact=exact)
    assert found == pytest.approx(PROMISED, abs=POINTS)


@pytest.mark.parametrize("n", [10, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_on_two_samples_that_pass_or_fail_too(n: int, rate: float) -> None:
    found = 0.0
    for passed in range(n + 1):
        arm = passing(n, passed)
        effect = welch_detectable(arm, arm, BEYOND, score_range=(0.0, 1.0)).effect
        assert effect is not None
        after = min(1.0, rate + effect)
        before = max(0.0, after - effect)
        weight = float(stats.binom.pmf(passed, n, rate))
        found += weight * sum(
            float(stats.binom.pmf(b, n, before) * stats.binom.pmf(c, n, after))
            for b in range(n + 1)
            for c in range(b, n + 1)
            if welch_passes(n, b, c)
        )
    assert found == pytest.approx(PROMISED, abs=POINTS)


def normal(rng: np.random.Generator, n: int) -> Any:
    return rng.standard_normal(n)


def near_one(rng: np.random.Generator, n: int) -> Any:
    """Draw differences of skewed scores near 1, of cases that are hard or easy for both sides."""
    shared, *own = rng.standard_normal((3, n))
    before, after = (stats.norm.cdf(math.sqrt(0.8) * shared + math.sqrt(0.2) * e) for e in own)
    return stats.beta.ppf(after, 5, 0.5) - stats.beta.ppf(before, 5, 0.5)


def of_trials(rng: np.random.Generator, n: int) -> Any:
    """Draw differences of means of five trials that pass or fail."""
    shared, *own = rng.standard_normal((3, n))
    rates = [stats.norm.cdf(0.5 + shared + 0.8 * e) for e in own]
    before, after = (rng.binomial(5, rate) / 5 for rate in rates)
    return after - before


@pytest.mark.parametrize(
    "n",
    [
        pytest.param(8, marks=pytest.mark.slow),
        pytest.param(12, marks=pytest.mark.slow),
        pytest.param(30, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("draw", [normal, near_one, of_trials])
def test_on_other_pairs_too(n: int, draw: Draw) -> None:
    rng = np.random.default_rng([n, len(draw.__name__)])
    found, number = 0, 1000
    for _ in range(number):
        pilot = draw(rng, n)
        effect = paired_detectable(pilot.tolist(), BEYOND).effect
        if effect is None:
            continue
        test = paired_test((draw(rng, n) + effect).tolist(), n_resamples=499)
        found += test.p_greater is not None and test.p_greater <= 0.025
    assert found / number == pytest.approx(PROMISED, abs=POINTS)


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 12, 30])
def test_on_other_samples_too(n: int) -> None:
    rng = np.random.default_rng(n)
    found, pilots, each = 0, 200, 10
    for _ in range(pilots):
        arms = rng.beta(2, 2, (2, n)).tolist()
        effect = welch_detectable(*arms, BEYOND, score_range=(0.0, 1.0)).effect
        for fresh in rng.beta(2, 2, (each, 2, n)):
            found += (welch_test(fresh[0], fresh[1] + effect).p_greater or 1.0) <= 0.025
    assert found / pilots / each == pytest.approx(PROMISED, abs=POINTS)


def test_the_cases_needed_are_those_that_find_the_target() -> None:
    for exact, gain, expected in ((True, 0.1, 155), (False, 0.1, 155), (False, 0.05, 626)):
        goal = Goal(target=gain)
        cases = paired_detectable(changes(100, 20), goal, width=1.0, exact=exact).cases
        assert cases == pytest.approx(expected, abs=3)
        if gain == 0.1 and exact:
            assert power(cases or 0, 0.2, gain, exact=exact) == pytest.approx(PROMISED, abs=0.02)
    arm = passing(20, 10)
    cases = welch_detectable(arm, arm, Goal(target=0.3), score_range=(0.0, 1.0)).cases
    assert cases == pytest.approx(40, abs=3)
    spread = [0.1, -0.2, 0.35, -0.05, 0.15, -0.3] * 20
    cases = paired_detectable(spread, Goal(target=0.1)).cases
    sd, noncentral = float(np.std(spread, ddof=1)), math.sqrt(cases or 0) * 0.1
    critical = stats.t.isf(0.025, (cases or 2) - 1)
    assert stats.nct.sf(critical, (cases or 2) - 1, noncentral / sd) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(("n", "changed", "least"), [(60, 12, 0.05), (40, 8, 0.1)])
def test_beyond_a_least_difference_it_is_found_as_often_or_a_little_more(
    n: int, changed: int, least: float
) -> None:
    goal = Goal(target=0.25, null_delta=least)
    found = paired_detectable(changes(n, changed), goal, width=1.0, exact=True)
    assert found.effect is not None
    assert found.cases is not None
    for size, effect in ((n, found.effect), (found.cases, 0.25)):
        assert power(size, changed / n, effect, least, exact=True) >= PROMISED - POINTS
        assert power(size, changed / n, effect - 0.025, least, exact=True) < PROMISED + POINTS
    goal = Goal(target=least, null_delta=least)
    assert paired_detectable(changes(n, changed), goal, width=1.0).cases is None


@pytest.mark.parametrize("d", [changes(40, 8), [0.1, -0.2, 0.35, -0.05, 0.15, -0.3] * 4])
def test_a_least_difference_needs_more_of_the_usual_tests_too(d: list[float]) -> None:
    rng, least = np.random.default_rng(1), 0.05
    effect = paired_detectable(d, Goal(target=1e3, null_delta=least)).effect
    assert effect is not None
    found, number, sd = 0, 250, float(np.std(d, ddof=1))
    for _ in range(number):
        up = (max(effect, 0.2) + effect) / 2
        fresh = rng.choice([1.0, -1.0, 0.0], len(d), p=[up, up - effect, 1 - 2 * up + effect])
        if 0.1 in d:
            fresh = rng.normal(effect, sd, len(d))
        p = paired_test(fresh.tolist(), null_delta=least, n_resamples=499).p_greater
        found += p is not None and p <= 0.025
    assert found / number == pytest.approx(PROMISED, abs=POINTS)


def test_too_few_pairs_for_any_sign_pattern_detect_nothing() -> None:
    assert paired_detectable([0.1, 0.2, -0.1, 0.4, 0.3], Goal(target=0.1)).effect is None
    assert paired_detectable(changes(5, 2), Goal(target=0.1)).effect is None
    assert paired_detectable([0.1, 0.2, -0.1, 0.4, 0.3, 0.2], Goal(target=0.1)).effect is not None


def test_more_pairs_see_smaller_effects() -> None:
    values = [0.1, -0.2, 0.35, -0.05, 0.15, -0.3]
    effects = [
        paired_detectable(values * times, BEYOND).effect or math.inf for times in range(1, 20)
    ]
    assert effects == sorted(effects, reverse=True)


def test_the_effect_has_the_unit_of_the_scores() -> None:
    for d in (changes(30, 6), [0.1, -0.25, 0.5, 0.75, -0.375, 0.2, 0.3]):
        one = paired_detectable(d, Goal(target=0.1), width=1.0)
        four = paired_detectable([4 * x for x in d], Goal(target=0.4), width=4.0)
        assert four.effect == pytest.approx(4 * (one.effect or 0.0), rel=1e-9)
        assert four.cases == one.cases
    arms = passing(30, 12), passing(20, 11)
    wide = welch_detectable(
        *[[4 * x - 1 for x in arm] for arm in arms], Goal(target=0.4), score_range=(-1.0, 3.0)
    )
    one = welch_detectable(*arms, Goal(target=0.1), score_range=(0.0, 1.0))
    assert wide.effect == pytest.approx(4 * (one.effect or 0.0), rel=1e-9)
    assert wide.cases == one.cases


def test_a_few_changes_of_several_sizes_count_as_few_changes() -> None:
    few = [0.2, -0.4, 0.6] + [0.0] * 20
    assert (paired_detectable(few, Goal(target=0.1), width=1.0).effect or 1.0) > 0.1


def test_equal_values_never_promise_to_see_everything() -> None:
    for value in (0.0, 0.1, 1.0):
        found = paired_detectable([value] * 12, Goal(target=0.1), width=1.0)
        assert (found.effect or 0.0) > 0.5
        assert found.cases is None
    for rate in (0.0, 1.0, 0.5):
        arm = [rate] * 12
        found = welch_detectable(arm, arm, Goal(target=0.1), score_range=(0.0, 1.0))
        assert (found.effect or 0) > 0.4
        assert found.cases is None
    assert paired_detectable([0.1] * 12, Goal(target=0.1)).effect is None
    assert welch_detectable([0.1] * 12, [0.2] * 12, Goal(target=0.1)).effect is None


def test_the_test_that_decides_gives_the_answer() -> None:
    d = changes(23, 5)
    usual, exact = (paired_detectable(d, BEYOND, width=1.0, exact=e).effect for e in (False, True))
    assert (exact or 1) < (usual or 0)
    strict = paired_detectable(d, Goal(target=0.3, alpha=0.005), width=1.0).effect
    assert (strict or 0) > (usual or 1)
    assert paired_detectable(d, Goal(target=0.3, alpha=1e-8), width=1.0).effect is None


def test_a_target_beyond_the_changes_that_there_can_be_needs_no_number_of_cases() -> None:
    assert paired_detectable([0.1, -0.1, 0.0, 0.0], Goal(target=0.2), width=1.0).cases is None
    arm = passing(20, 10)
    assert welch_detectable(arm, arm, Goal(target=1.5), score_range=(0.0, 1.0)).cases is None


@pytest.mark.parametrize("n", [0, 1])
def test_below_two_cases_there_is_no_effect_to_name(n: int) -> None:
    assert paired_detectable([0.3] * n, Goal(target=0.1), width=1.0).effect is None
    assert (
        welch_detectable([0.3] * n, [0.3, 0.4], Goal(target=0.1), score_range=(0, 1)).cases is None
    )


@pytest.mark.parametrize(
    ("plan", "name"),
    [
        ({"target": 0.0}, "target"),
        ({"target": 0.1, "null_delta": -0.1}, "null_delta"),
        ({"target": math.nan}, "target"),
        ({"target": 0.1, "alpha": 0.0}, "alpha"),
        ({"target": 0.1, "power": 1.0}, "power"),
    ],
)
def test_misuse_is_named(plan: dict[str, float], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Goal(**plan)
