"""
What a comparison of this size can detect: the power of the tests that bind, for scores like these.

The minimum detectable effect is the true difference at which the gate's test is passed with
probability ``power``. Scores that only pass or fail are enumerated
(:mod:`benchgate.statistics.binary_power`). Others are taken as normal, with a standard deviation
that these cases only estimate: an effect that ignored this would be found in 70% of runs of 10
cases instead of 80%. Very few pairs are simulated, because the sign-flip test cannot use its level.

No function here takes the observed difference: power computed from it only restates the p-value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from benchgate.statistics.binary_power import (
    paired_binary_power,
    sign_flip_and_t_gains,
    welch_binary_power,
    welch_binary_region,
)
from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.normal_power import (
    estimated_noncentrality,
    estimated_power,
    sign_flip_effect,
    sign_flip_finds,
)
from benchgate.statistics.numerics import np
from benchgate.statistics.power import arm_variance, smallest_n, t_power
from benchgate.statistics.roots import increasing_root
from benchgate.statistics.student import check_finite, check_fraction, t_upper_quantile
from benchgate.statistics.summary import finite_floats, saturate, summarize
from benchgate.statistics.welch import welch_df

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.statistics.binary_power import Counts

    Region = Callable[[int, float, float, float], Sequence[int] | Counts]

_ENUMERATED_PAIRS = 2000
_ENUMERATED_CELLS = 250**2
_THICK_TAILS = 1.5
"""Differences are large more often than normal values are, so that cases tell less of their spread: as if fewer."""
_ONE_AMOUNT = 1.0 + 1e-9
_STEPS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """What a test finds with the power asked for."""

    effect: float | None
    """Smallest true difference that it finds, in the unit of the scores; None if it finds none that there can be."""
    cases: int | None
    """Least number of cases (in each arm) that finds the target; None if unknown, or no number does."""


def paired_detectable(
    differences: Iterable[float],
    *,
    target: float,
    null_delta: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
    width: float | None = None,
    region: Region = sign_flip_and_t_gains,
) -> Detectable:
    """
    Return what the paired test detects where differences are spread as these.

    If they are all of one amount or 0, as on 0/1 scores, or at most half of them are not 0, then as
    many cases change as here, and more only where the effect exceeds that share. If all are equal,
    it is plausible (95%) that a share 1 - .05**(1/n) of cases changes by the whole range. That is
    the most, and so good for an effect, but no ground to promise that some number of cases would do.

    :param target: effect to find, in the unit of the scores, greater than 0.
    :param null_delta: the test asks for more than this, at least 0; no number of cases finds a target within it.
    :param alpha: two-sided level of the test, in (0, 1).
    :param power: probability of finding the effect, above alpha / 2 and below 1.
    :param width: length of the score range; None if unbounded.
    :param region: from pairs, alpha, amount as a share of the range and ``null_delta`` as one of the amount:
        what the test needs on pairs that pass or fail, in the form of the default.
    :raises ValueError: for an argument out of range or a value that is not a finite real number.
    """
    check_plan(target, null_delta, alpha, power)
    d = finite_floats(differences, "differences")
    n, spread = len(d), summarize(d)
    if n < 2 or (spread.constant and width is None):
        return Detectable(effect=None, cases=None)
    amounts, alike = [abs(x) for x in d if x], True
    if spread.constant:
        amount, share = width or 0.0, unseen_failure_ucb(n)
    elif (alike := max(amounts) <= min(amounts) * _ONE_AMOUNT) or 2 * len(amounts) <= n:
        amount, share = math.hypot(*amounts) / math.sqrt(len(amounts)), len(amounts) / n
    else:
        sd = spread.sd or 0.0
        seen = (n - 1) / _THICK_TAILS
        effect = sd * sign_flip_effect(n, seen, alpha, power)
        beyond = target - null_delta
        in_sds = beyond / sd if sd else math.inf
        return of_effect(
            null_delta + effect,
            lambda n1: sign_flip_finds(in_sds, n1, seen, alpha, power),
            target=beyond,
        )
    # Changes of several amounts are never all equal, which would take the bound of the range.
    size = min(1.0, amount / width) if width and alike else 1.0
    null = null_delta / amount
    least = lru_cache(lambda n1: region(n1, alpha, size, null))

    def found(n1: int, _: int, effect: float) -> float:
        changed = max(share, effect)
        if n1 > _ENUMERATED_PAIRS:
            return _t_power(effect - null, (changed - effect**2) / n1, n1 - 1, alpha)
        return paired_binary_power(changed, effect, least(n1))

    wanted = None if spread.constant or target <= null_delta else target / amount
    return _of_power(found, (n, n), wanted, power, amount)


def welch_detectable(
    baseline: Sequence[float],
    candidate: Sequence[float],
    *,
    target: float,
    null_delta: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.8,
    score_range: tuple[float, float] | None = None,
) -> Detectable:
    """
    Return what Welch's test detects where scores are spread as these.

    If all are at an end of the range, as 0/1 scores, as many of the baseline's are at the upper end
    as here, and fewer only where the effect leaves no room. In a constant arm a share
    1 - .05**(1/n), at most 1/2, of cases is taken to be at the other end; no number of cases is
    named where both are constant.

    :param score_range: lowest and highest possible score; None if unbounded. Others as
        :func:`paired_detectable`.
    :raises ValueError: as :func:`paired_detectable`.
    """
    check_plan(target, null_delta, alpha, power)
    b, c = summarize(baseline, "baseline"), summarize(candidate, "candidate")
    if b.mean is None or b.variance is None or c.variance is None:
        return Detectable(effect=None, cases=None)
    width = score_range[1] - score_range[0] if score_range else None
    beyond = target - null_delta
    is_known = beyond > 0.0 and not (b.constant and c.constant)
    if score_range and width and {*baseline, *candidate} <= set(score_range):
        unseen = min(0.5, unseen_failure_ucb(b.n)) if b.constant else 0.0
        rate = min(1.0 - unseen, max(unseen, (b.mean - score_range[0]) / width))
        found = _two_rates(rate, alpha, null_delta / width)
        return _of_power(found, (b.n, c.n), target / width if is_known else None, power, width)
    var_b, var_c = arm_variance(b.variance, b.n, width), arm_variance(c.variance, c.n, width)
    if var_b / b.n + var_c / c.n == 0.0:
        return Detectable(effect=None, cases=None)
    seen = welch_df(var_b / b.n, b.n, var_c / c.n, c.n)

    se = math.sqrt(var_b / b.n + var_c / c.n)

    def enough(n: int) -> bool:
        df = welch_df(var_b / n, n, var_c / n, n)
        noncentrality = beyond / math.sqrt((var_b + var_c) / n)
        return estimated_power(noncentrality, df, seen, alpha) >= power

    effect = se * estimated_noncentrality(seen, seen, alpha, power)
    return of_effect(null_delta + effect, enough, target=beyond if is_known else 0.0)


def check_plan(target: float, null_delta: float, alpha: float, power: float) -> None:
    """Raise ValueError for an argument of :func:`paired_detectable` that is out of range."""
    if check_fraction(power, "power") <= check_fraction(alpha, "alpha") / 2:
        message = f"power is {power!r}; expected more than alpha / 2 = {alpha / 2!r}"
        raise ValueError(message)
    if check_finite(target, "target") <= 0.0:
        message = f"target is {target!r}; expected more than 0"
        raise ValueError(message)
    if check_finite(null_delta, "null_delta") < 0.0:
        message = f"null_delta is {null_delta!r}; expected at least 0"
        raise ValueError(message)


def _two_rates(rate: float, alpha: float, null: float) -> Callable[[int, int, float], float]:
    region = lru_cache(lambda n_b, n_c: welch_binary_region(n_b, n_c, alpha, null_delta=null))

    def found(n_b: int, n_c: int, effect: float) -> float:
        after = min(1.0, rate + effect)
        before = max(0.0, after - effect)
        if n_b * n_c <= _ENUMERATED_CELLS:
            return welch_binary_power(before, after, region(n_b, n_c))
        b, c = before * (1.0 - before) / n_b, after * (1.0 - after) / n_c
        return _t_power(effect - null, b + c, welch_df(b, n_b, c, n_c) if b + c else 1.0, alpha)

    return found


def _of_power(
    found: Callable[[int, int, float], float],
    sizes: tuple[int, int],
    target: float | None,
    power: float,
    unit: float,
) -> Detectable:
    """Solve for the effect, a share of ``unit`` as the target; ``found`` is the power at two sizes and an effect."""

    def excess(share: float) -> float:
        return found(*sizes, share) - power

    effect = None
    with np.errstate(under="ignore"):
        # Not the whole range at once: where every case gains, a constant difference may not pass.
        for step in range(_STEPS):
            if excess((step + 1) / _STEPS) >= 0.0:
                ends = max(1e-9, step / _STEPS), (step + 1) / _STEPS
                effect = unit * increasing_root(excess, *ends, tolerance=1e-7)
                break
        cases = None
        if target is not None and target <= 1.0:
            cases = smallest_n(lambda n: found(n, n, target) >= power)
    return Detectable(effect=effect, cases=cases)


def of_effect(effect: float, enough: Callable[[int], bool], *, target: float) -> Detectable:
    """Search for the least number that is enough, if the target is above 0."""
    with np.errstate(under="ignore"):
        cases = smallest_n(enough) if target > 0.0 else None
    return Detectable(effect=saturate(effect) if math.isfinite(effect) else None, cases=cases)


def _t_power(effect: float, squared_se: float, df: float, alpha: float) -> float:
    if squared_se <= 0.0:
        return float(effect > 0.0)
    return t_power(effect / math.sqrt(squared_se), t_upper_quantile(alpha / 2, df), df)
