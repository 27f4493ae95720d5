"""Power on pass/fail scores: the regions are those of the gate's tests, and the sums those of simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.gates.weigh import significance
from benchgate.statistics import (
    paired_binary_power,
    sign_flip_and_t_gains,
    t_gains,
    welch_binary_power,
    welch_binary_region,
)

pytestmark = pytest.mark.filterwarnings("error")


def passes(before: list[float], after: list[float], alpha: float, *, paired: bool) -> bool:
    """Ask the gate itself."""
    ids = [tuple(f"c{i}" for i in range(len(arm))) if paired else None for arm in (before, after)]
    arms = [
        Arm(scores=tuple(arm), case_ids=names)
        for arm, names in zip((before, after), ids, strict=True)
    ]
    return significance(*arms, GatePolicy(alpha=alpha, test="auto")).passed


@pytest.mark.parametrize(("n", "alpha"), [(2, 0.05), (5, 0.05), (6, 0.05), (13, 0.05), (9, 0.0625)])
def test_the_paired_region_is_that_of_the_gate(n: int, alpha: float) -> None:
    region = sign_flip_and_t_gains(n, alpha)
    for changed in range(n + 1):
        for gains in range(changed + 1):
            losses, same = changed - gains, n - changed
            before = [0.0] * gains + [1.0] * losses + [1.0] * same
            after = [1.0] * gains + [0.0] * losses + [1.0] * same
            found = passes(before, after, alpha, paired=True)
            assert found == (gains >= region[changed]), (gains, losses)


@pytest.mark.parametrize(("n_b", "n_c", "alpha"), [(4, 4, 0.05), (7, 12, 0.05), (12, 12, 0.2)])
def test_the_unpaired_region_is_that_of_the_gate(n_b: int, n_c: int, alpha: float) -> None:
    region = welch_binary_region(n_b, n_c, alpha)
    for b in range(n_b + 1):
        for c in range(n_c + 1):
            before, after = ([1.0] * k + [0.0] * (n - k) for k, n in ((b, n_b), (c, n_c)))
            assert passes(before, after, alpha, paired=False) == region[b, c], (b, c)


def test_where_every_case_gains_a_part_of_the_range_the_bound_decides() -> None:
    assert sign_flip_and_t_gains(12, 0.05, 1.0)[12] <= 12
    assert sign_flip_and_t_gains(12, 0.05, 0.3)[12] == 13
    assert not passes([0.2] * 12, [0.5] * 12, 0.05, paired=True)


def test_what_the_binding_test_finds_at_23_cases() -> None:
    assert paired_binary_power(0.2, 0.15, sign_flip_and_t_gains(23)) == pytest.approx(
        0.134, abs=5e-4
    )
    assert paired_binary_power(0.2, 0.15, t_gains(23)) > 0.3


@pytest.mark.parametrize(("n", "changed", "gain"), [(12, 0.6, 0.5), (30, 0.3, 0.2), (60, 0.2, 0.0)])
def test_the_paired_sum_is_what_a_simulation_counts(n: int, changed: float, gain: float) -> None:
    region = sign_flip_and_t_gains(n)
    up, down = (changed + gain) / 2, (changed - gain) / 2
    drawn = np.random.default_rng(1).multinomial(n, [up, down, 1 - changed], size=20_000)
    found = np.mean(drawn[:, 0] >= region[drawn[:, 0] + drawn[:, 1]])
    assert paired_binary_power(changed, gain, region) == pytest.approx(found, abs=0.012)


def test_the_unpaired_sum_is_that_of_two_binomials() -> None:
    region = welch_binary_region(9, 6)
    b, c = stats.binom.pmf(np.arange(10), 9, 0.3), stats.binom.pmf(np.arange(7), 6, 0.9)
    expected = sum(b[i] * c[j] for i in range(10) for j in range(7) if region[i, j])
    assert welch_binary_power(0.3, 0.9, region) == pytest.approx(expected, rel=1e-12)


def test_the_ends_of_the_shares() -> None:
    region = sign_flip_and_t_gains(20)
    assert paired_binary_power(0.0, 0.0, region) == 0.0
    assert paired_binary_power(1.0, 1.0, region) == pytest.approx(1.0)
    assert paired_binary_power(0.2, -0.2, region) == 0.0
    assert welch_binary_power(0.0, 1.0, welch_binary_region(10, 10)) == pytest.approx(1.0)


@pytest.mark.parametrize(("changed", "gain"), [(0.1, 0.2), (1.1, 0.2), (0.2, -0.3)])
def test_shares_that_no_population_has_are_refused(changed: float, gain: float) -> None:
    with pytest.raises(ValueError, match="share_changed"):
        paired_binary_power(changed, gain, sign_flip_and_t_gains(10))
