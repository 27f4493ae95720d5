"""What a comparison can detect: the power that is promised is the one that simulations find, within 5 points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from benchgate.statistics import (
    paired_binary_power,
    paired_detectable,
    paired_test,
    pass_fail_gains,
    pass_fail_p,
    sign_flip_and_t_gains,
    welch_binary_power,
    welch_binary_region,
    welch_detectable,
    welch_test,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[np.random.Generator, int], Any]

pytestmark = pytest.mark.filterwarnings("error")

PROMISED = 0.8
BEYOND = 1e3  # a target that needs no search for cases


def changes(n: int, changed: int) -> list[float]:
    """Return differences of 0/1 pairs, about as many gains as losses."""
    return [1.0] * (changed - changed // 2) + [-1.0] * (changed // 2) + [0.0] * (n - changed)


def passing(n: int, count: int) -> list[float]:
    return [1.0] * count + [0.0] * (n - count)


@pytest.mark.parametrize(
    "n",
    [
        12,
        pytest.param(23, marks=pytest.mark.slow),
        pytest.param(50, marks=pytest.mark.slow),
        pytest.param(100, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "share",
    [pytest.param(0.1, marks=pytest.mark.slow), 0.2, pytest.param(0.4, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("test", [sign_flip_and_t_gains, pass_fail_gains])
def test_on_pairs_that_pass_or_fail_the_effect_is_found_as_often_as_promised(
    n: int, share: float, test: Any
) -> None:
    region, found = test(n), 0.0
    for changed in range(n + 1):
        weight = float(stats.binom.pmf(changed, n, share))
        plan = {"target": BEYOND, "width": 1.0, "region": test}
        effect = paired_detectable(changes(n, changed), **plan).effect
        assert effect is not None
        found += weight * paired_binary_power(max(share, effect), effect, region)
    assert found == pytest.approx(PROMISED, abs=0.05)


@pytest.mark.parametrize(
    "n", [10, pytest.param(30, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "rate",
    [pytest.param(0.5, marks=pytest.mark.slow), 0.8, pytest.param(0.95, marks=pytest.mark.slow)],
)
def test_on_two_samples_that_pass_or_fail_too(n: int, rate: float) -> None:
    region, found = welch_binary_region(n, n), 0.0
    for passed in range(n + 1):
        arm = passing(n, passed)
        effect = welch_detectable(arm, arm, target=BEYOND, score_range=(0.0, 1.0)).effect
        assert effect is not None
        after = min(1.0, rate + effect)
        weight = float(stats.binom.pmf(passed, n, rate))
        found += weight * welch_binary_power(max(0.0, after - effect), after, region)
    assert found == pytest.approx(PROMISED, abs=0.05)


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
    "n", [8, pytest.param(12, marks=pytest.mark.slow), pytest.param(30, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("draw", [normal, near_one, of_trials])
def test_on_other_pairs_too(n: int, draw: Draw) -> None:
    rng = np.random.default_rng([n, len(draw.__name__)])
    found, number = 0, 1000
    for _ in range(number):
        pilot = draw(rng, n)
        effect = paired_detectable(pilot.tolist(), target=BEYOND).effect
        if effect is None:
            continue
        test = paired_test((draw(rng, n) + effect).tolist(), n_resamples=499)
        found += test.p_greater is not None and test.p_greater <= 0.025
    assert found / number == pytest.approx(PROMISED, abs=0.05)


@pytest.mark.parametrize(
    "n", [8, pytest.param(12, marks=pytest.mark.slow), pytest.param(30, marks=pytest.mark.slow)]
)
def test_on_other_samples_too(n: int) -> None:
    rng = np.random.default_rng(n)
    found, pilots, each = 0, 200, 10
    for _ in range(pilots):
        arms = rng.beta(2, 2, (2, n)).tolist()
        effect = welch_detectable(*arms, target=BEYOND, score_range=(0.0, 1.0)).effect
        for fresh in rng.beta(2, 2, (each, 2, n)):
            found += (welch_test(fresh[0], fresh[1] + effect).p_greater or 1.0) <= 0.025
    assert found / pilots / each == pytest.approx(PROMISED, abs=0.05)


def test_the_cases_needed_are_those_that_find_the_target() -> None:
    for gain, expected in ((0.1, 168), (0.05, 658)):
        cases = paired_detectable(changes(100, 20), target=gain, width=1.0).cases
        assert cases is not None
        assert cases == pytest.approx(expected, abs=3)
        assert paired_binary_power(0.2, gain, sign_flip_and_t_gains(cases)) >= PROMISED
        assert paired_binary_power(0.2, gain, sign_flip_and_t_gains(cases - 5)) < PROMISED + 0.005
    arm = passing(20, 10)
    cases = welch_detectable(arm, arm, target=0.3, score_range=(0.0, 1.0)).cases
    assert cases is not None
    assert welch_binary_power(0.5, 0.8, welch_binary_region(cases, cases)) >= PROMISED
    assert welch_binary_power(0.5, 0.8, welch_binary_region(cases - 1, cases - 1)) < PROMISED


@pytest.mark.parametrize(("n", "changed", "least"), [(60, 12, 0.05), (40, 8, 0.1)])
def test_beyond_a_least_difference_it_is_found_as_often_too(
    n: int, changed: int, least: float
) -> None:
    plan = {"target": 0.25, "null_delta": least, "width": 1.0, "region": pass_fail_gains}
    found = paired_detectable(changes(n, changed), **plan)
    assert found.effect is not None
    assert found.cases is not None
    for size, effect in ((n, found.effect), (found.cases, 0.25)):
        ks = range(size + 1)
        region = [
            next(
                (g for g in range(k + 1) if pass_fail_p(g, k - g, size, null_delta=least) <= 0.025),
                k + 1,
            )
            for k in ks
        ]
        share = max(changed / n, effect)
        assert paired_binary_power(share, effect, region) == pytest.approx(PROMISED, abs=0.05)
    assert paired_detectable(changes(n, changed), **{**plan, "target": least}).cases is None


@pytest.mark.parametrize("d", [changes(40, 8), [0.1, -0.2, 0.35, -0.05, 0.15, -0.3] * 4])
def test_a_least_difference_needs_more_of_the_usual_tests_too(d: list[float]) -> None:
    rng, least = np.random.default_rng(1), 0.05
    effect = paired_detectable(d, target=BEYOND, null_delta=least).effect
    assert effect is not None
    found, number, sd = 0, 600, float(np.std(d, ddof=1))
    for _ in range(number):
        up = (max(effect, 0.2) + effect) / 2
        fresh = rng.choice([1.0, -1.0, 0.0], len(d), p=[up, up - effect, 1 - 2 * up + effect])
        if 0.1 in d:
            fresh = rng.normal(effect, sd, len(d))
        p = paired_test(fresh.tolist(), null_delta=least, n_resamples=499).p_greater
        found += p is not None and p <= 0.025
    assert found / number == pytest.approx(PROMISED + 0.04 * (0.1 in d), abs=0.06)


def test_too_many_cases_to_enumerate_continue_what_was_enumerated() -> None:
    last, first = (
        paired_detectable(changes(n, n // 5), target=BEYOND).effect for n in (2000, 2010)
    )
    assert first == pytest.approx(last, rel=0.025)
    last, first = (
        welch_detectable(*[passing(n, n // 2)] * 2, target=BEYOND, score_range=(0.0, 1.0)).effect
        for n in (250, 252)
    )
    assert first == pytest.approx(last, rel=0.025)
    assert paired_detectable(changes(20, 4), target=0.002).cases == pytest.approx(393_000, rel=0.01)


def test_too_few_pairs_for_any_sign_pattern_detect_nothing() -> None:
    assert paired_detectable([0.1, 0.2, -0.1, 0.4, 0.3], target=0.1).effect is None
    assert paired_detectable(changes(5, 2), target=0.1).effect is None
    assert paired_detectable([0.1, 0.2, -0.1, 0.4, 0.3, 0.2], target=0.1).effect is not None


def test_an_effect_is_found_though_a_gain_of_every_case_would_not_pass() -> None:
    d = [0.2, -0.2, 0.2, *[0.0] * 9]
    assert sign_flip_and_t_gains(12, 0.05, 0.2)[12] == 13
    assert 0.1 < (paired_detectable(d, target=BEYOND, width=1.0).effect or 0.0) < 0.2


def test_more_pairs_see_smaller_effects() -> None:
    values = [0.1, -0.2, 0.35, -0.05, 0.15, -0.3]
    effects = [
        paired_detectable(values * times, target=BEYOND).effect or math.inf
        for times in range(1, 20)
    ]
    assert effects == sorted(effects, reverse=True)


def test_the_effect_has_the_unit_of_the_scores() -> None:
    for d in (changes(30, 6), [0.1, -0.25, 0.5, 0.75, -0.375, 0.2, 0.3]):
        one = paired_detectable(d, target=0.1, width=1.0)
        four = paired_detectable([4 * x for x in d], target=0.4, width=4.0)
        assert four.effect == pytest.approx(4 * (one.effect or 0.0), rel=1e-9)
        assert four.cases == one.cases
    arms = passing(30, 12), passing(20, 11)
    wide = welch_detectable(
        *[[4 * x - 1 for x in arm] for arm in arms], target=0.4, score_range=(-1.0, 3.0)
    )
    one = welch_detectable(*arms, target=0.1, score_range=(0.0, 1.0))
    assert wide.effect == pytest.approx(4 * (one.effect or 0.0), rel=1e-9)
    assert wide.cases == one.cases


def test_a_few_changes_of_several_sizes_count_as_few_changes() -> None:
    few = [0.2, -0.4, 0.6] + [0.0] * 20
    assert (paired_detectable(few, target=0.1, width=1.0).effect or 1.0) > 0.1


def test_equal_values_never_promise_to_see_everything() -> None:
    for value in (0.0, 0.1, 1.0):
        found = paired_detectable([value] * 12, target=0.1, width=1.0)
        assert (found.effect or 0.0) > 0.5
        assert found.cases is None
    for rate in (0.0, 1.0, 0.5):
        arm = [rate] * 12
        found = welch_detectable(arm, arm, target=0.1, score_range=(0.0, 1.0))
        assert (found.effect or 0) > 0.4
        assert found.cases is None
    assert paired_detectable([0.1] * 12, target=0.1).effect is None
    assert welch_detectable([0.1] * 12, [0.2] * 12, target=0.1).effect is None


def test_another_region_gives_another_answer() -> None:
    d = changes(23, 5)

    def never(n: int, *_: float) -> list[int]:
        return [changed + 1 for changed in range(n + 1)]

    usual = paired_detectable(d, target=0.1, width=1.0)
    strict = paired_detectable(
        d, target=0.3, width=1.0, region=lambda n, a, *rest: sign_flip_and_t_gains(n, a / 10, *rest)
    )
    assert (strict.effect or 0) > (usual.effect or 1)
    assert paired_detectable(d, target=1.5, width=1.0, region=never).effect is None


def test_a_target_beyond_the_changes_that_there_can_be_needs_no_number_of_cases() -> None:
    assert paired_detectable([0.1, -0.1, 0.0, 0.0], target=0.2, width=1.0).cases is None
    arm = passing(20, 10)
    assert welch_detectable(arm, arm, target=1.5, score_range=(0.0, 1.0)).cases is None


@pytest.mark.parametrize("n", [0, 1])
def test_below_two_cases_there_is_no_effect_to_name(n: int) -> None:
    assert paired_detectable([0.3] * n, target=0.1, width=1.0).effect is None
    assert welch_detectable([0.3] * n, [0.3, 0.4], target=0.1, score_range=(0, 1)).cases is None


@pytest.mark.parametrize(
    ("plan", "name"),
    [
        ({"target": 0.0}, "target"),
        ({"target": 0.1, "null_delta": -0.1}, "null_delta"),
        ({"target": math.nan}, "target"),
        ({"target": 0.1, "alpha": 0.0}, "alpha"),
        ({"target": 0.1, "power": 1.0}, "power"),
        ({"target": 0.1, "power": 0.02}, "power"),
    ],
)
def test_misuse_is_named(plan: dict[str, float], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        paired_detectable([0.1, 0.2], **plan)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=name):
        welch_detectable([0.1, 0.2], [0.1, 0.2], **plan)  # type: ignore[arg-type]
