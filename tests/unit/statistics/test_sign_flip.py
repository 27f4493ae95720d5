"""Sign-flip test: exact laws on small and lattice data, reproducible draws elsewhere."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from benchgate.statistics.paired import paired_differences
from benchgate.statistics.sign_flip import sign_flip

pytestmark = pytest.mark.filterwarnings("error")

few = settings(max_examples=settings().max_examples * 25 // 100)
tenths = st.lists(st.integers(-10, 10), max_size=9)
binary = st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=80)
lattice = st.lists(st.integers(-20, 20).map(lambda k: k / 20), min_size=21, max_size=60)
continuous = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


def brute(steps: list[int], sign: int) -> float:
    """Count over all sign patterns in exact integers."""
    observed = sign * sum(steps)
    patterns = list(itertools.product((-1, 1), repeat=len(steps)))
    hits = sum(sum(s * k for s, k in zip(p, steps, strict=True)) >= observed for p in patterns)
    return hits / len(patterns)


def gaussian(n: int, shift: float, seed: int) -> list[float]:
    generator = random.Random(seed)  # noqa: S311 - a seeded simulation
    return [generator.gauss(shift, 1.0) for _ in range(n)]


@given(tenths)
def test_small_samples_equal_brute_force(steps: list[int]) -> None:
    result = sign_flip([k / 10 for k in steps])
    assert result.method == "exact"
    assert result.p_greater == brute(steps, 1)
    assert result.p_less == brute(steps, -1)


def brute_half_ties(steps: list[int]) -> Fraction:
    """Count the ties as halves, and the observed pattern in full, of the differences that are not 0."""
    changed = [step for step in steps if step]
    observed = sum(changed)
    patterns = list(itertools.product((-1, 1), repeat=len(changed)))
    sums = [sum(s * k for s, k in zip(p, changed, strict=True)) for p in patterns]
    above = sum(one > observed for one in sums)
    others = sums.count(observed) - 1
    return (above + Fraction(others, 2) + 1) / Fraction(len(patterns))


@given(tenths)
def test_the_p_that_decides_counts_other_patterns_with_the_same_sum_by_half(
    steps: list[int],
) -> None:
    result = sign_flip([k / 10 for k in steps])
    assert result.half_ties_greater == brute_half_ties(steps)
    assert result.half_ties_less == brute_half_ties([-k for k in steps])
    assert result.half_ties_greater <= result.p_greater


@pytest.mark.parametrize("n", [5, 6, 20, 60])
def test_gains_without_a_loss_have_the_smallest_p_of_both_kinds(n: int) -> None:
    for unchanged in (0, 7):
        result = sign_flip([0.2] * n + [0.0] * unchanged)
        assert result.half_ties_greater == result.p_greater == 2.0**-n


@pytest.mark.parametrize("third", [1 / 3, 0.3333333333333])
def test_a_rounding_error_against_the_null_is_neither_gain_nor_loss(third: float) -> None:
    equal = sign_flip([third, third], null_delta=1 / 3)
    assert equal.half_ties_greater == equal.half_ties_less == 1.0
    mixed = sign_flip([third, third, third + 0.01], null_delta=1 / 3)
    assert mixed.half_ties_greater == 0.5


scores = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0])


@given(
    st.lists(st.tuples(scores, scores), min_size=1, max_size=14),
    st.data(),
    st.sampled_from([0.0, 0.05, 1 / 3]),
)
def test_the_p_that_decides_never_rises_as_a_score_rises(
    pairs: list[tuple[float, float]], data: st.DataObject, null: float
) -> None:
    before = [b for b, _ in pairs]
    after = [c for _, c in pairs]
    place = data.draw(st.integers(0, len(pairs) - 1))
    raised = [*after]
    raised[place] = max(after[place], data.draw(scores))
    lower = sign_flip(paired_differences(before, after), null_delta=null)
    higher = sign_flip(paired_differences(before, raised), null_delta=null)
    assert higher.half_ties_greater <= lower.half_ties_greater
    assert higher.half_ties_less >= lower.half_ties_less


def test_of_drawn_patterns_ties_count_by_half_too() -> None:
    root = math.sqrt(2.0)  # no step that is common to both amounts, so that patterns are drawn
    ups = (8, 8)  # of twelve differences of each amount
    result = sign_flip([1.0] * 8 + [-1.0] * 4 + [root] * 8 + [-root] * 4)
    assert result.method == "monte_carlo"
    above = tied = 0.0
    for first, second in itertools.product(range(13), repeat=2):
        share = math.comb(12, first) * math.comb(12, second) / 2.0**24
        rise = (first - ups[0]) + root * (second - ups[1])
        if first == ups[0] and second == ups[1]:
            tied += share
        elif rise > 0.0:
            above += share
    assert tied > 0.01
    assert result.p_greater == pytest.approx(above + tied, abs=0.004)
    assert result.half_ties_greater == pytest.approx(above + tied / 2.0, abs=0.004)
    assert result.p_greater - result.half_ties_greater == pytest.approx(tied / 2.0, abs=0.002)


@given(binary)
def test_binary_pairs_give_exact_mcnemar(d: list[int]) -> None:
    better, discordant = d.count(1), d.count(1) + d.count(-1)
    result = sign_flip(d)
    assert result.method == "exact"
    greater = less = 1.0
    if discordant:
        greater = stats.binomtest(better, discordant, alternative="greater").pvalue
        less = stats.binomtest(better, discordant, alternative="less").pvalue
    assert result.p_greater == pytest.approx(greater, rel=1e-12)
    assert result.p_less == pytest.approx(less, rel=1e-12)


@few
@given(lattice)
def test_lattice_counts_agree_with_exact_fractions(d: list[float]) -> None:
    steps = [round(20 * x) for x in d]
    law = {0: Fraction(1)}
    for step in steps:
        following: dict[int, Fraction] = {}
        for total, p in law.items():
            for end in (total - step, total + step):
                following[end] = following.get(end, Fraction(0)) + p / 2
        law = following
    expected = float(sum(p for total, p in law.items() if total >= sum(steps)))
    result = sign_flip(d)
    assert result.method == "exact"
    assert result.p_greater == pytest.approx(expected, rel=1e-12)


@given(continuous, st.randoms())
def test_the_order_of_cases_does_not_matter(d: list[float], shuffler: Any) -> None:
    before = sign_flip(d, n_resamples=199)
    shuffler.shuffle(d)
    assert sign_flip(d, n_resamples=199) == before


@given(continuous)
def test_swapping_the_arms_swaps_the_directions(d: list[float]) -> None:
    result, mirror = sign_flip(d, n_resamples=199), sign_flip([-x for x in d], n_resamples=199)
    assert (mirror.p_greater, mirror.p_less) == (result.p_less, result.p_greater)
    assert mirror.p_two_sided == result.p_two_sided


@given(continuous, st.integers(-900, 900))
def test_powers_of_two_scale_exactly(d: list[float], exponent: int) -> None:
    rounded = [round(x, 6) for x in d]
    scaled = [math.ldexp(x, exponent) for x in rounded]
    assert sign_flip(scaled, n_resamples=199) == sign_flip(rounded, n_resamples=199)


@few
@given(lattice, st.sampled_from([1e-300, 1e-3, 100.0 / 3.0, 1e300]))
def test_a_lattice_is_found_in_any_unit(d: list[float], unit: float) -> None:
    scaled = sign_flip([x * unit for x in d])
    assert scaled.method == "exact"
    assert scaled.p_greater == pytest.approx(sign_flip(d).p_greater, rel=1e-12)


@given(lattice, st.integers(-20, 20))
def test_the_null_is_subtracted_from_each_difference(d: list[float], twentieth: int) -> None:
    null = twentieth / 20
    shifted = sign_flip(d, null_delta=null)
    moved = sign_flip([(round(20 * x) - twentieth) / 20 for x in d])
    assert shifted.method == "exact"
    assert shifted.p_greater == pytest.approx(moved.p_greater, rel=1e-12)


@given(lattice)
def test_an_improved_case_never_weakens_the_evidence(d: list[float]) -> None:
    worst = d.index(min(d))
    if d[worst] < 0:
        improved = [-x if i == worst else x for i, x in enumerate(d)]
        assert sign_flip(improved).p_greater <= sign_flip(d).p_greater * (1 + 1e-12)


@given(continuous)
@example([0.0, 0.0, 0.5, 1e-12])  # as large as a rounding error may be
def test_p_values_are_probabilities_that_overlap_at_the_observed_sum(d: list[float]) -> None:
    result = sign_flip(d, n_resamples=199)
    assert 0.0 < result.p_greater <= 1.0
    assert 0.0 < result.p_less <= 1.0
    assert result.p_greater + result.p_less > 1.0
    assert result.p_two_sided == min(1.0, 2 * min(result.p_greater, result.p_less))


@pytest.mark.parametrize("n", [1, 5, 6, 20, 21, 60])
def test_all_positive_gives_the_smallest_p(n: int) -> None:
    result = sign_flip([0.05] * n)
    assert result.method == "exact"
    assert result.p_greater == 0.5**n
    assert result.p_less == 1.0


def test_rounding_in_differences_of_scores_does_not_hide_ties() -> None:
    noisy = [0.3 - 0.2, 0.7 - 0.6, 0.1, 0.6 - 0.7, 0.9 - 0.8] * 6
    clean = [1, 1, 1, -1, 1] * 6
    assert len(set(map(abs, noisy))) > 1
    assert sign_flip(noisy).p_greater == sign_flip(clean).p_greater


def test_rounding_of_a_zero_is_a_zero() -> None:
    noise = 0.1 + 0.2 - 0.3
    assert noise != 0.0
    d = [1.0] * 15 + [-1.0] * 7
    assert sign_flip([*d, *[noise] * 10]).p_greater == sign_flip(d).p_greater


def test_five_hundred_cases_in_thousandths_are_exact() -> None:
    generator = random.Random(3)  # noqa: S311 - a seeded simulation
    d = [generator.randint(-1000, 1000) / 1000 + 0.04 for _ in range(500)]
    result = sign_flip(d)
    assert result.method == "exact"
    assert result.n_resamples is result.seed is None
    root = math.sqrt(math.fsum(x * x for x in d))
    assert result.p_greater == pytest.approx(float(stats.norm.sf(math.fsum(d) / root)), rel=0.05)


def test_continuous_data_are_drawn_and_say_so() -> None:
    result = sign_flip(gaussian(50, 0.1, 1))
    assert (result.method, result.n_resamples, result.seed) == ("monte_carlo", 9999, 0)


def test_draws_are_pinned_across_platforms_and_versions() -> None:
    d = [math.sqrt(i + 2) * (-1) ** (i % 3 == 0) for i in range(40)]
    result = sign_flip(d, n_resamples=999)
    assert result.method == "monte_carlo"
    assert (round(result.p_greater * 1000), round(result.p_less * 1000)) == (33, 967)


@pytest.mark.parametrize("n", [21, 64, 65, 300])
def test_draws_agree_with_the_exact_count(n: int) -> None:
    generator = random.Random(n)  # noqa: S311 - a seeded simulation
    steps = [generator.randint(-9, 10) for _ in range(n)]
    exact = sign_flip(steps)
    # One irrational weight of no consequence takes the lattice away.
    drawn = sign_flip([*steps, math.pi * 1e-7])
    assert (exact.method, drawn.method) == ("exact", "monte_carlo")
    assert drawn.n_resamples is not None
    sd = math.sqrt(exact.p_greater * (1 - exact.p_greater) / drawn.n_resamples)
    assert abs(drawn.p_greater - exact.p_greater) < 5 * sd + 0.02


def test_the_draws_are_the_same_each_time() -> None:
    d = gaussian(30, 0.0, 2)
    assert sign_flip(d) == sign_flip(d)


def test_a_p_near_the_level_is_drawn_again() -> None:
    near = next(
        d
        for seed in range(300)
        if 0.024 < sign_flip(d := gaussian(30, 0.36, seed), alpha=0.9).p_greater < 0.026
    )
    assert sign_flip(near, alpha=0.9).n_resamples == 9999
    assert sign_flip(near, alpha=0.05).n_resamples == 99_999
    assert sign_flip(near, alpha=0.05).p_greater == pytest.approx(0.025, abs=0.003)


def test_no_pattern_beyond_the_observed_still_counts_the_observed() -> None:
    d = [1.0 + math.sqrt(i) for i in range(1, 41)]
    result = sign_flip(d, n_resamples=99, alpha=0.9)
    assert result.p_greater == 1 / 100
    assert result.p_less == 1.0


def test_a_mean_of_zero_on_drawn_data_has_no_direction() -> None:
    half = gaussian(15, 0.0, 4)
    result = sign_flip([*half, *[-x for x in half]])
    assert result.method == "monte_carlo"
    assert result.p_greater == result.p_less > 0.5
    assert result.p_two_sided == 1.0


@pytest.mark.parametrize("d", [[], [0.0], [0.0] * 30])
def test_nothing_that_differs_is_no_evidence(d: list[float]) -> None:
    result = sign_flip(d)
    assert (result.p_greater, result.p_less, result.p_two_sided) == (1.0, 1.0, 1.0)
    assert result.n == len(d)


def test_the_largest_floats_do_not_overflow() -> None:
    result = sign_flip([1.7e308] * 10, null_delta=-1.7e308)
    assert result.p_greater == 0.5**10


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"differences": [0.1, math.nan]}, r"differences\[1\] is nan"),
        ({"differences": [True]}, r"differences\[0\] is True"),
        ({"alpha": 0.0}, "alpha"),
        ({"null_delta": math.inf}, "null_delta"),
        ({"n_resamples": 0}, "n_resamples"),
    ],
)
def test_misuse_is_named(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        sign_flip(**({"differences": [0.1, 0.2]} | arguments))
