"""Computes the figures of a comparison: significance, safety and bands, from the case scores of two arms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.gates.bands import sample_size_sensitivity, seed_reproducibility
from benchgate.gates.claims import (
    claimed,
    cost_increase,
    difference_bounds,
    gaffke_bound,
    mover_bound,
    pass_fail_counts,
)
from benchgate.gates.figures import Arm, Figures, PairedFigures, Significance, WelchFigures
from benchgate.gates.safety import safety
from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.clusters import effective_cases, is_constant
from benchgate.statistics.detectable import Goal, detectable
from benchgate.statistics.effect import effect_size
from benchgate.statistics.paired import PairedTest, paired_differences, paired_interval, paired_test
from benchgate.statistics.welch import WelchTest, welch_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.figures import CasePair
    from benchgate.gates.policy import GatePolicy
    from benchgate.statistics.clusters import Labels


def weigh(baseline: Arm, candidate: Arm, policy: GatePolicy, *, advice: bool = True) -> Figures:
    """
    Compute all figures of a comparison under a policy.

    :param advice: with those that no decision depends on, and that take long: the chances of the safety note.
    """
    return Figures(
        baseline=baseline,
        candidate=candidate,
        significance=claimed(
            significance(baseline, candidate, policy), baseline, candidate, policy
        ),
        safety=safety(baseline, candidate, policy, advice=advice),
        seeds=seed_reproducibility(baseline, candidate, policy),
        prefixes=sample_size_sensitivity(baseline, candidate, policy),
        cost=cost_increase(baseline, candidate, policy.alpha),
    )


def significance(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Significance:
    """Test whether the candidate's mean exceeds the baseline's by more than ``min_delta``, as the policy says."""
    b, c, alpha, least = baseline.scores, candidate.scores, policy.alpha, policy.min_delta
    clusters = baseline.labels, candidate.labels
    plain = welch_test(b, c, clusters, alpha=alpha)
    test = _binding(baseline, candidate, policy, least)
    at_zero = _binding(baseline, candidate, policy, 0.0) if least else test
    is_paired = isinstance(test, PairedTest)
    pairs = baseline.paired_with(candidate) or ()
    paired, labels = _differences(pairs), [p.cluster for p in pairs]
    flat = is_constant(b, clusters[0]) or is_constant(c, clusters[1])
    bound = mover_bound(baseline, candidate, policy) if flat or not is_paired else None
    beside = welch_test(b, c, clusters, alpha=alpha, null_delta=least) if is_paired else test
    welch_passed = _passes(beside.p_two_sided, plain.delta, policy, bound, constant=flat)
    of_pairs: PairedFigures | None = None
    if pairs:
        both = paired_test(paired, labels, alpha=alpha, null_delta=least)
        both = test if isinstance(test, PairedTest) else both
        is_flat = is_constant(paired, labels)
        lowest = gaffke_bound(paired, labels, policy) if is_paired or is_flat else None
        passes = _passes(both.p_two_sided, plain.delta, policy, lowest, constant=is_flat)
        of_pairs = PairedFigures.of(both, passed=passes)
        bound, flat = (lowest, is_flat) if is_paired else (bound, flat)
    size, sources = min(len(b), len(c)), min(baseline.sources, candidate.sources)
    is_clustered = any(arm.sources < arm.measured for arm in (baseline, candidate))
    is_exact = not is_clustered and pass_fail_counts(pairs, policy) is not None
    samples = [(paired, labels)] if is_paired else [(b, clusters[0]), (c, clusters[1])]
    goal = Goal(target=policy.target_effect, null_delta=least, alpha=alpha)
    reach = detectable(samples, goal, score_range=policy.score_range, exact=is_exact)
    welch = {key: getattr(plain, key) for key in ("t", "df", "p_two_sided", "p_greater")}
    t = at_zero.t if isinstance(at_zero, PairedTest) else at_zero
    ends = [(t.ci_low, t.ci_high)]
    if is_paired and policy.claim == "better" and not is_exact:
        ends = [_paired_interval((paired, labels), policy, (test.p_greater, at_zero.p_less), bound)]
    p_less = at_zero.p_less
    if flat:  # then the bound must exclude 0 too, or alone where there is no p
        ends.append(difference_bounds(baseline, candidate, policy))
        worst = ends[-1][1]
        is_shown = worst is not None and worst < 0.0
        p_less = None if not is_shown else alpha / 2 if p_less is None else p_less
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    most = math.inf if policy.width is None else policy.width
    low = max(-most, min((end[0] for end in known), default=-math.inf))
    high = min(most, max((end[1] for end in known), default=math.inf))
    return Significance(
        alpha=alpha,
        p_value=test.p_two_sided,
        confidence_level=None if test.p_two_sided is None else 1.0 - test.p_two_sided,
        mean_delta=plain.delta,
        delta_ci_low=low if known and math.isfinite(low) else None,
        delta_ci_high=high if known and math.isfinite(high) else None,
        passed=of_pairs.passed if of_pairs and is_paired else welch_passed,
        baseline_mean_reward=plain.baseline_mean,
        trained_mean_reward=plain.candidate_mean,
        test="paired" if is_paired else "welch",
        p_regression=p_less,
        effect_size_g=effect_size(b, c).hedges_g,
        exact_lower_bound=bound,
        evidence=None if bound is None else "exact" if bound > least else "standard",
        minimum_detectable_effect=reach.effect,
        cases_needed=reach.cases,
        unseen_failure_ucb95=unseen_failure_ucb(candidate.sources or 1) if size > 1 else None,
        welch=WelchFigures(**welch, passed=welch_passed),
        paired=of_pairs,
        clusters=sources if is_clustered else None,
        effective_cases=_effective(paired, labels, baseline, candidate) if is_clustered else None,
    )


def _differences(pairs: Sequence[CasePair]) -> list[float]:
    return paired_differences([p.before for p in pairs], [p.after for p in pairs])


def _binding(
    baseline: Arm, candidate: Arm, policy: GatePolicy, null: float
) -> PairedTest | WelchTest:
    """Return the test that decides, without its guard where the exact bound agrees: that allows for any skewness."""
    free: PairedTest | WelchTest
    guarded: PairedTest | WelchTest
    alpha, pairs = policy.alpha, baseline.paired_with(candidate)
    if pairs and policy.test != "welch":
        labels = [pair.cluster for pair in pairs]
        guarded = paired_test(_differences(pairs), labels, alpha=alpha, null_delta=null)
        names = "p_two_sided", "p_greater", "p_less"
        free = replace(guarded, **{name: getattr(guarded.sign_flip, name) for name in names})
    else:
        b, c, clusters = baseline.scores, candidate.scores, (baseline.labels, candidate.labels)
        guards = False, len({*b, *c}) > 2  # scores of two values need none
        free, guarded = (
            welch_test(b, c, clusters, alpha=alpha, null_delta=null, is_skewed=guard)
            for guard in guards
        )
    if not (free.p_two_sided or 1.0) <= alpha < (guarded.p_two_sided or 0.0):
        return guarded
    low, high = difference_bounds(baseline, candidate, policy)
    is_gain = (free.p_greater or 0.0) < (free.p_less or 0.0)
    agrees = low is not None and low > null if is_gain else high is not None and high < null
    return free if agrees else guarded


def _paired_interval(
    pairs: tuple[Sequence[float], Labels],
    policy: GatePolicy,
    tails: tuple[float | None, float | None],
    bound: float | None,
) -> tuple[float | None, float | None]:
    """Return the interval of the paired test; where patterns were drawn for it, not on another side than p is."""
    greater, less = (1.0 if tail is None else tail for tail in tails)
    low, high = paired_interval(*pairs, alpha=policy.alpha)
    level, null = policy.alpha / 2, policy.min_delta
    low = max(low, null, bound or null) if greater <= level else min(low, null)
    return low, min(high, 0.0) if less <= level else max(high, 0.0)


def _effective(
    paired: Sequence[float] | None, labels: Labels, baseline: Arm, candidate: Arm
) -> float | None:
    if paired:
        return effective_cases(paired, labels)
    sizes = [effective_cases(arm.scores, arm.labels) for arm in (baseline, candidate)]
    return min((size for size in sizes if size is not None), default=None)


def _passes(
    p: float | None, delta: float | None, policy: GatePolicy, bound: float | None, *, constant: bool
) -> bool:
    """
    Whether a test is passed.

    :param constant: values are constant, and their variance of 0 is chance and makes p too small. Then the bound must
        exceed ``min_delta`` too, and decides alone where there is no p; one that cannot be computed never passes.
    """
    if constant and not (bound is not None and bound > policy.min_delta):
        return False
    if p is None:
        return constant
    return p <= policy.alpha and delta is not None and delta > policy.min_delta
