"""Tests and bounds of cases in clusters: against matrices and enumeration, and equal to the plain ones without any."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, stats

from benchgate.statistics.bounds import gaffke_lower, gaffke_upper, mover_gaffke
from benchgate.statistics.clusters import effective_cases, pooled
from benchgate.statistics.paired import paired_interval, paired_t, paired_test
from benchgate.statistics.summary import grouped
from benchgate.statistics.welch import welch_test

pytestmark = pytest.mark.filterwarnings("error")

few = settings(max_examples=settings().max_examples * 25 // 100, deadline=None)
scores = st.lists(st.integers(0, 100).map(lambda k: k / 100), min_size=1, max_size=14)
UNEVEN = [1, 2, 3, 5, 9, 4, 2]


def labels(sizes: list[int]) -> list[str]:
    return [f"project {g}" for g, size in enumerate(sizes) for _ in range(size)]


def draw(sizes: list[int], seed: int = 1, mean: float = 0.1) -> list[float]:
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.normal(mean, 0.2, len(sizes)), sizes)
    return (shared + rng.normal(0, 0.1, len(shared))).tolist()


def cr2(values: list[float], sizes: list[int], of_working_model: Any) -> tuple[float, float]:
    """Return variance and df of the mean as Bell and McCaffrey (2002) write them, with matrices."""
    n = len(values)
    residual_maker = np.eye(n) - np.full((n, n), 1 / n)
    ends = np.cumsum(sizes)
    vectors = []
    for start, end in zip(ends - sizes, ends, strict=True):
        own = residual_maker[start:end, start:end]
        adjusted = linalg.inv(linalg.sqrtm(own)).real
        vectors.append(residual_maker[:, start:end] @ adjusted @ np.full(end - start, 1 / n))
    g = np.transpose(vectors)
    variance = float(np.sum((g.T @ np.array(values)) ** 2))
    working = linalg.block_diag(*(of_working_model(size) for size in sizes))
    w = g.T @ working @ g
    return variance, float(np.trace(w) ** 2 / np.trace(w @ w))


@pytest.mark.parametrize("sizes", [UNEVEN, [5] * 10, [3, 3, 40], [1, 1, 2]])
def test_variance_and_df_are_those_of_bell_and_mccaffrey(sizes: list[int]) -> None:
    values = draw(sizes)
    independent = cr2(values, sizes, np.eye)
    equal = cr2(values, sizes, lambda size: np.ones((size, size)))
    se, df = of_sample(values, labels(sizes))
    assert se == pytest.approx(math.sqrt(independent[0]), rel=1e-9)
    assert df == pytest.approx(min(independent[1], equal[1]), rel=1e-9)
    assert df <= len(sizes) - 1 + 1e-9


def of_sample(values: list[float], of: list[str]) -> tuple[float, float]:
    """Return the standard error of a sample's mean, and its degrees of freedom."""
    spread = pooled([grouped(values, of)])
    assert spread is not None
    return math.ldexp(math.sqrt(spread.squared_se), spread.exponent), spread.df


@pytest.mark.parametrize("sizes", [UNEVEN, [5] * 10])
def test_the_guard_of_pairs_is_computed_from_the_totals_of_the_clusters(sizes: list[int]) -> None:
    values, n, count = draw(sizes), sum(sizes), len(sizes)
    delta = np.mean(values)
    ends = np.cumsum([0, *sizes])
    totals = [sum(x - delta for x in values[a:b]) for a, b in itertools.pairwise(ends)]
    se = math.sqrt(count / (count - 1) * sum(x * x for x in totals)) / n
    a = stats.skew(totals, bias=False) * (1 + 3 / count) / math.sqrt(count)
    test = paired_test(values, labels(sizes))
    assert (test.differences.n, test.t.df) == (n, count - 1)
    assert test.t.se == pytest.approx(se, rel=1e-9)
    even = test.t.t + a / 6 + a * test.t.t**2 / 3 + a**2 * test.t.t**3 / 27
    assert test.t.p_greater == pytest.approx(stats.t.sf(even, count - 1), rel=1e-6)


@few
@given(st.integers(2, 8), st.integers(2, 5), st.integers(0, 99))
def test_clusters_of_one_size_give_the_test_of_their_means(
    number: int, size: int, seed: int
) -> None:
    values = draw([size] * number, seed)
    means = np.array(values).reshape(number, size).mean(axis=1).tolist()
    by_case = paired_test(values, labels([size] * number), null_delta=0.03)
    by_mean = paired_t(means, null_delta=0.03)
    for name in ("delta", "se", "t", "df", "p_greater", "p_less", "ci_low", "ci_high"):
        found, expected = getattr(by_case.t, name), getattr(by_mean, name)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), name


@few
@given(scores, scores, st.sampled_from([0.0, 0.07]))
def test_without_shared_clusters_all_figures_are_the_plain_ones(
    b: list[float], c: list[float], null_delta: float
) -> None:
    names = [f"p{i}" for i in range(14)]
    for of in ([None] * 14, names, [name if i % 2 else None for i, name in enumerate(names)]):
        of_b, of_c = of[: len(b)], of[: len(c)]
        both = (of_b, of_c)
        assert paired_test(b, of_b, null_delta=null_delta) == paired_test(b, null_delta=null_delta)
        assert paired_interval(b, of_b) == paired_interval(b)
        for is_skewed in (False, True):
            options = {"null_delta": null_delta, "is_skewed": is_skewed}
            assert welch_test(b, c, both, **options) == welch_test(b, c, **options)
        assert gaffke_lower(b, of_b) == gaffke_lower(b)
        assert gaffke_upper(b, of_b) == gaffke_upper(b)
        assert mover_gaffke(b, c, both) == mover_gaffke(b, c)


def test_the_sign_flip_flips_whole_clusters() -> None:
    values, of = draw(UNEVEN), labels(UNEVEN)
    totals = [
        sum(x for x, g in zip(values, of, strict=True) if g == one) for one in sorted(set(of))
    ]
    sums = [
        sum(s * t for s, t in zip(signs, totals, strict=True))
        for signs in itertools.product((1, -1), repeat=7)
    ]
    flip = paired_test(values, of).sign_flip
    assert flip.p_greater == sum(s >= sum(totals) - 1e-12 for s in sums) / 2**7
    assert (flip.n, flip.method) == (7, "exact")


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_five_clusters_or_fewer_never_pass(number: int) -> None:
    values = [1.0 - i / 1000 for i in range(8 * number)]
    test = paired_test(values, labels([8] * number))
    assert test.p_greater is not None
    assert test.p_greater > 0.025
    assert paired_test(values + values, labels([8] * 2 * number)).p_greater <= 0.0625


def test_one_cluster_and_clusters_of_one_mean_have_no_p() -> None:
    assert paired_test([0.1, 0.5, 0.3], ["a"] * 3).t.se is None
    same = paired_test([0.1, 0.3, 0.2, 0.2, 0.15, 0.25], labels([2, 2, 2]))
    assert (same.t.se, same.p_greater, same.p_two_sided) == (0.0, None, None)
    arms = [0.1, 0.3, 0.2, 0.2], [0.1, 0.5, 0.3, 0.3]
    welch = welch_test(*arms, (labels([2, 2]), labels([2, 2])))
    assert (welch.se, welch.p_greater) == (0.0, None)
    assert welch.delta == pytest.approx(0.1)
    assert welch_test(*arms, (labels([2, 2]), ["a"] * 4)).p_greater is None


def test_order_and_names_of_the_clusters_do_not_matter() -> None:
    values, of = draw(UNEVEN), labels(UNEVEN)
    order = np.random.default_rng(3).permutation(len(values))
    shuffled = paired_test([values[i] for i in order], [of[i] + "!" for i in order])
    plain = paired_test(values, of)
    assert shuffled.sign_flip == plain.sign_flip
    assert shuffled.t.p_greater == pytest.approx(plain.t.p_greater, rel=1e-12)


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**900])
def test_the_unit_of_the_scores_does_not_matter(factor: float) -> None:
    values, of = draw(UNEVEN), labels(UNEVEN)
    one, other = (paired_test([x * f for x in values], of) for f in (1.0, factor))
    assert (one.p_greater, one.t.t, one.t.df) == (other.p_greater, other.t.t, other.t.df)
    arms = values, draw(UNEVEN, 2)
    small, large = (
        welch_test(*([x * f for x in arm] for arm in arms), (of, of)) for f in (1.0, factor)
    )
    assert (small.t, small.df) == (large.t, large.df)


def test_totals_beyond_the_largest_float_are_no_error() -> None:
    test = paired_test([1.7e308, 1.6e308] * 6, labels([2, 3, 2, 2, 2, 1]))
    assert test.sign_flip.p_greater == 1 / 2**6


def test_welch_adds_the_arms() -> None:
    b, c, few_cases = draw(UNEVEN), draw([4] * 6, 5), [0.2, 0.5, 0.1]
    of_b, of_c = labels(UNEVEN), labels([4] * 6)
    one, other = of_sample(b, of_b), of_sample(c, of_c)
    both = welch_test(b, c, (of_b, of_c), null_delta=0.01)
    shares = one[0] ** 2, other[0] ** 2
    df = sum(shares) ** 2 / (shares[0] ** 2 / one[1] + shares[1] ** 2 / other[1])
    assert both.se == pytest.approx(math.sqrt(sum(shares)), rel=1e-12)
    assert both.df == pytest.approx(df, rel=1e-12)
    assert both.t == pytest.approx((both.delta - 0.01) / both.se, rel=1e-12)
    mixed = welch_test(b, few_cases, (of_b, [None] * 3))
    assert mixed.se == pytest.approx(math.hypot(one[0], paired_t(few_cases).se), rel=1e-12)


@few
@given(st.integers(2, 6), st.integers(2, 4), st.integers(0, 50))
def test_gaffke_of_clusters_of_one_size_is_that_of_their_means(
    number: int, size: int, seed: int
) -> None:
    values = np.clip(draw([size] * number, seed), 0, 1)
    means = values.reshape(number, size).mean(axis=1).tolist()
    of = labels([size] * number)
    assert gaffke_lower(values.tolist(), of) == pytest.approx(gaffke_lower(means), abs=1e-6)
    assert gaffke_upper(values.tolist(), of) == pytest.approx(gaffke_upper(means), abs=1e-6)


def test_gaffke_of_uneven_clusters_is_wider_and_mover_combines_it() -> None:
    b, c = (np.clip(draw(UNEVEN, seed, 0.5), 0, 1).tolist() for seed in (1, 2))
    of = labels(UNEVEN)
    low, high = gaffke_lower(b, of), gaffke_upper(b, of)
    assert 0 <= low < gaffke_lower(b) < gaffke_upper(b) < high <= 1
    assert gaffke_lower([0.0] * 26, of) == 0.0
    lower, _ = mover_gaffke(b, c, (of, of))
    mean_b, mean_c = np.mean(b), np.mean(c)
    drop = mean_c - gaffke_lower(c, of)
    assert lower == pytest.approx(mean_c - mean_b - math.hypot(drop, high - mean_b))
    with pytest.raises(ValueError, match="expected a number in"):
        gaffke_lower([2.0] * 26, of)


def test_effective_cases() -> None:
    of = labels([5] * 10)
    assert effective_cases(draw([1] * 50), labels([1] * 50)) == pytest.approx(50)
    # Cases of a cluster that are all the same count once, but for (n - 1) / (G - 1) in the estimates.
    repeated = np.repeat(draw([1] * 10), 5).tolist()
    assert effective_cases(repeated, of) == pytest.approx(10 * (50 / 49) * (9 / 10))
    # Clusters that resemble each other more than chance allows add no cases.
    assert effective_cases([0.1, 0.5, 0.9, 0.2, 0.6, 0.8], labels([3, 3])) == 6
    assert effective_cases([0.1, 0.5], ["a", "a"]) is None
    assert effective_cases([0.5] * 4, labels([2, 2])) is None


@pytest.mark.parametrize("test", [paired_test, effective_cases, gaffke_lower])
def test_another_number_of_labels_is_refused(test: Any) -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        test([0.1, 0.2, 0.3], ["a", "a"])


def test_worthless_candidates_on_ten_clusters_of_five_rarely_pass() -> None:
    of, repetitions = labels([5] * 10), 300
    drawn = [draw([5] * 10, seed, mean=0.0) for seed in range(repetitions)]
    clustered = sum(paired_test(d, of).p_greater <= 0.025 for d in drawn)
    plain = sum(paired_t(d).p_greater <= 0.025 for d in drawn)
    assert clustered <= stats.binom.ppf(0.999, repetitions, 0.025)
    assert plain > 0.1 * repetitions
