"""
What a run is going to be able to show, before it is run: from the spread of the baseline's own trials.

The candidate is taken to vary as the baseline does, and to gain the same on each case. Then a difference of two case
means varies by what trials of a case vary, var / K + var / K0 for K trials of the candidate and K0 of the baseline. A
baseline with one trial of each case does not show how much of its spread lies between cases: then nothing is taken to
be shared by the two sides, which promises less than pairs will find. So it is with trials that all agree. Candidates
that gain on some cases and lose on others are found less often than is promised here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from benchgate.statistics import (
    grouped,
    mean,
    paired_binary_power,
    pass_fail_gains,
    smallest_margin,
    summarize,
    welch_binary_power,
    welch_binary_region,
)
from benchgate.statistics.normal_power import estimated_power
from benchgate.statistics.numerics import special
from benchgate.statistics.roots import increasing_root
from benchgate.statistics.student import t_upper_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy


THICK_TAILS = 1.5
"""As in :mod:`benchgate.statistics.detectable`: scores tell less of their spread than normal values."""


class Forecast(NamedTuple):
    """
    What a comparison with a baseline can show.

    :param units: cases, or clusters where cases share some.
    :param power: probability of a promotion, by the true gain; ``None`` for a claim that infers no gain.
    :param detectable: the gain that is found with the policy's power; ``None`` if none is.
    :param wins: of pairs that pass or fail, gains needed with 0, 1, 2, ... losses.
    :param smallest_margin: what ``not_worse`` can show if no case changes.
    :param is_lower_limit: no trial of the baseline differs from another of its case, so that pairing may find more.
    """

    units: int
    power: Callable[[float], float] | None = None
    detectable: float | None = None
    wins: tuple[int, ...] | None = None
    smallest_margin: float | None = None
    is_lower_limit: bool = False


def forecast(baseline: Arm, policy: GatePolicy, trials: int, *, scale: int = 1) -> Forecast:
    """
    Return what a run of so many trials of each case can show.

    :param policy: at the level of the look that is planned.
    :param trials: of the candidate.
    :param scale: as if there were so many times as many cases.
    """
    rows = baseline.trials or tuple((score,) for score in baseline.scores)
    is_blind = not any(len({*row}) > 1 for row in rows)
    if is_blind:  # more trials find no less, but nobody can say how much more
        rows, trials = tuple((score,) for score in baseline.scores), 1
    least = min(map(len, rows), default=1)
    units = len(_of_clusters(baseline)[0]) * scale
    is_paired = policy.test != "welch" and baseline.case_ids is not None
    ends = policy.score_range or (0.0, 1.0)
    is_binary = least == trials == 1 and {*baseline.scores} <= {*ends} and ends == (0.0, 1.0)
    is_binary = is_binary and policy.min_delta < 1.0
    is_clustered = units < len(baseline.scores) * scale
    if policy.claim != "better":
        is_shown = is_binary and is_paired and policy.claim == "not_worse"
        reach = smallest_margin(units, alpha=policy.alpha) if is_shown else None
        return Forecast(units=units, smallest_margin=reach)
    wins = None
    if is_binary and not is_clustered:
        power = (
            _pairs_power(baseline, policy, units)
            if is_paired
            else _samples_power(baseline, policy, units)
        )
        wins = _wins(units, policy) if is_paired else None
    else:
        power = _scores_power(baseline, rows, policy, (units, trials), is_paired=is_paired)
    width = policy.width or 1.0
    return Forecast(
        units=units,
        power=power,
        detectable=_detectable(power, policy, width),
        wins=wins,
        is_lower_limit=is_paired and is_blind,
    )


def _pairs_power(baseline: Arm, policy: GatePolicy, n: int) -> Callable[[float], float]:
    rate = math.fsum(baseline.scores) / len(baseline.scores)
    region = pass_fail_gains(n, policy.alpha, 1.0, policy.min_delta)
    changed = 2.0 * rate * (1.0 - rate)

    def power(gain: float) -> float:
        # Of independent sides, P(gain) is (1 - rate) * after, and P(loss) rate * (1 - after).
        after = min(1.0, rate + gain)
        share = changed + (after - rate) * (1.0 - 2.0 * rate)
        return paired_binary_power(min(1.0, max(share, after - rate)), after - rate, region)

    return power


def _samples_power(baseline: Arm, policy: GatePolicy, n: int) -> Callable[[float], float]:
    rate = math.fsum(baseline.scores) / len(baseline.scores)
    region = welch_binary_region(
        n, n, policy.alpha, null_delta=policy.min_delta, bounded=policy.score_range is not None
    )
    return lambda gain: welch_binary_power(rate, min(1.0, rate + gain), region)


def _scores_power(
    baseline: Arm,
    rows: tuple[tuple[float, ...], ...],
    policy: GatePolicy,
    size: tuple[int, int],
    *,
    is_paired: bool,
) -> Callable[[float], float]:
    units, trials = size
    varies, tested, seen = _variances(baseline, rows, trials, is_paired=is_paired)
    df = float(units - 1) if is_paired else 2.0 * (units - 1)
    # Sums of 0 and 1 change by two steps with a sign: the exact test loses half of that, on average.
    step = _step(rows, trials) / units if is_paired else 0.0

    def power(gain: float) -> float:
        beyond = gain - policy.min_delta - step
        if beyond <= 0.0 or units < 2:
            return 0.0
        if varies <= 0.0:
            return 1.0
        if varies == tested:
            return estimated_power(beyond / math.sqrt(varies / units), df, seen, policy.alpha)
        needed = t_upper_quantile(policy.alpha / 2, df) * math.sqrt(tested / units)
        return float(special.ndtr((beyond - needed) / math.sqrt(varies / units)))

    return power


def _step(rows: tuple[tuple[float, ...], ...], trials: int) -> float:
    """Return what the mean of a case changes by if one of its trials passes; 0 if scores are not pass or fail."""
    if any(score not in (0.0, 1.0) for row in rows for score in row):
        return 0.0
    return 1.0 / math.lcm(trials, *{len(row) for row in rows})


def _of_clusters(arm: Arm) -> tuple[list[float], float]:
    """
    Return a value for each cluster, and the cases of a cluster on average.

    The values have the mean of the cases, and vary as the clusters move it: a large cluster moves it more.
    """
    groups, centre = grouped(arm.scores, arm.labels), mean(arm.scores)
    size = len(arm.scores) / len(groups)
    return [centre + math.fsum(x - centre for x in group) / size for group in groups], size


def _variances(
    baseline: Arm, rows: tuple[tuple[float, ...], ...], trials: int, *, is_paired: bool
) -> tuple[float, float, float]:
    """Return how the difference of a unit varies, what the test takes it for, and the df that this is known with."""
    sums, size = _of_clusters(baseline)
    between = summarize(sums).variance or 0.0
    spreads = [summarize(row).variance or 0.0 for row in rows if len(row) > 1]
    if not spreads:
        return 2.0 * between, 2.0 * between, max(1.0, (len(sums) - 1) / THICK_TAILS)
    within = math.fsum(spreads) / len(spreads)
    counts = [len(row) for row in rows]
    of_mean = math.fsum(within / count for count in counts) / len(counts)
    varies = (of_mean + within / trials) / size
    seen = max(1.0, sum(count - 1 for count in counts) / THICK_TAILS)
    if is_paired:
        return varies, varies, seen
    # The cases are the same ones on both sides, but Welch's test takes them for others.
    return varies, varies + 2.0 * max(0.0, between - of_mean / size), seen


def _wins(n: int, policy: GatePolicy) -> tuple[int, ...]:
    """Return the gains that pass with 0, 1, 2, ... losses, as far as the cases allow it."""
    least = pass_fail_gains(n, policy.alpha, 1.0, policy.min_delta)
    found = []
    for losses in range(n):
        needed = next((g for g in range(1, n - losses + 1) if g >= least[g + losses]), None)
        if needed is None:
            break
        found.append(needed)
    return tuple(found)


def _detectable(power: Callable[[float], float], policy: GatePolicy, width: float) -> float | None:
    if power(width) < policy.power:
        return None
    return increasing_root(lambda gain: power(gain) - policy.power, 0.0, width, tolerance=1e-5)
