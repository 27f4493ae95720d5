"""Computes the figures of a comparison: significance, safety and bands, from the case scores of two arms."""

from __future__ import annotations

import math
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
from benchgate.statistics.paired import paired_differences, paired_interval, paired_test
from benchgate.statistics.welch import welch_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.policy import GatePolicy
    from benchgate.statistics.paired import PairedTest

    Labels = Sequence[str | None]


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
    b, c = baseline.scores, candidate.scores
    clusters = baseline.labels, candidate.labels
    plain = welch_test(b, c, clusters, alpha=policy.alpha)
    is_graded = len({*b, *c}) > 2  # scores of two values need no guard
    zero, shifted = (
        welch_test(b, c, clusters, alpha=policy.alpha, null_delta=null, is_skewed=is_graded)
        for null in (0.0, policy.min_delta)
    )
    pairs = baseline.paired_with(candidate)
    paired = (
        paired_differences([p.before for p in pairs], [p.after for p in pairs]) if pairs else None
    )
    labels = [p.cluster for p in pairs or ()]
    constant = is_constant(b, clusters[0]) or is_constant(c, clusters[1])
    decides = policy.test == "welch" or not pairs
    unpaired_bound = mover_bound(baseline, candidate, policy) if decides or constant else None
    welch_passed = _passes(
        shifted.p_two_sided, plain.delta, policy, unpaired_bound, constant=constant
    )
    paired_figures, paired_passed = _paired(paired, labels, policy) if paired else (None, False)
    test = paired_figures if policy.test != "welch" else None
    bound = gaffke_bound(paired, labels, policy) if test and paired else unpaired_bound
    p_value, p_less = (test or shifted).p_two_sided, zero.p_less
    if test and paired:
        p_less = (
            paired_test(paired, labels, alpha=policy.alpha).p_less
            if policy.min_delta
            else test.p_less
        )
    flat = is_constant(paired, labels) if test and paired else constant
    size, sources = min(len(b), len(c)), min(baseline.sources, candidate.sources)
    is_clustered = any(arm.sources < arm.measured for arm in (baseline, candidate))
    is_exact = not is_clustered and pass_fail_counts(pairs or (), policy) is not None
    samples = [(paired, labels)] if test and paired else [(b, clusters[0]), (c, clusters[1])]
    goal = Goal(target=policy.target_effect, null_delta=policy.min_delta, alpha=policy.alpha)
    reach = detectable(samples, goal, score_range=policy.score_range, exact=is_exact)
    welch = {key: getattr(plain, key) for key in ("t", "df", "p_two_sided", "p_greater")}
    ends = [(zero.ci_low, zero.ci_high)]
    if test and paired and policy.claim == "better" and not is_exact:
        ends = [_paired_interval((paired, labels), policy, test, p_less)]
    if flat:
        ends.append(difference_bounds(baseline, candidate, policy))
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    most = math.inf if policy.width is None else policy.width
    low = max(-most, min((end[0] for end in known), default=-math.inf))
    high = min(most, max((end[1] for end in known), default=math.inf))
    return Significance(
        alpha=policy.alpha,
        p_value=p_value,
        confidence_level=None if p_value is None else 1.0 - p_value,
        mean_delta=plain.delta,
        delta_ci_low=low if known and math.isfinite(low) else None,
        delta_ci_high=high if known and math.isfinite(high) else None,
        passed=paired_passed if test else welch_passed,
        baseline_mean_reward=plain.baseline_mean,
        trained_mean_reward=plain.candidate_mean,
        test="paired" if test else "welch",
        p_regression=_p_regression(p_less, baseline, candidate, policy) if flat else p_less,
        effect_size_g=effect_size(b, c).hedges_g,
        exact_lower_bound=bound,
        evidence=None if bound is None else "exact" if bound > policy.min_delta else "standard",
        minimum_detectable_effect=reach.effect,
        cases_needed=reach.cases,
        unseen_failure_ucb95=unseen_failure_ucb(candidate.sources or 1) if size > 1 else None,
        welch=WelchFigures(**welch, passed=welch_passed),
        paired=PairedFigures.of(paired_figures, passed=paired_passed) if paired_figures else None,
        clusters=sources if is_clustered else None,
        effective_cases=_effective(paired, labels, baseline, candidate) if is_clustered else None,
    )


def _paired_interval(
    pairs: tuple[Sequence[float], Labels],
    policy: GatePolicy,
    test: PairedTest,
    less: float | None,
) -> tuple[float | None, float | None]:
    """Return the interval of the paired test; where patterns were drawn for it, not on another side than p is."""
    if test.p_greater is None or less is None:
        return None, None
    low, high = paired_interval(*pairs, alpha=policy.alpha)
    level, null = policy.alpha / 2, policy.min_delta
    low = max(low, null) if test.p_greater <= level else min(low, null)
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


def _paired(
    differences: Sequence[float], labels: Labels, policy: GatePolicy
) -> tuple[PairedTest, bool]:
    test = paired_test(differences, labels, alpha=policy.alpha, null_delta=policy.min_delta)
    constant = is_constant(differences, labels)
    bound = gaffke_bound(differences, labels, policy) if constant else None
    return test, _passes(test.p_two_sided, test.t.delta, policy, bound, constant=constant)


def _p_regression(
    p: float | None, baseline: Arm, candidate: Arm, policy: GatePolicy
) -> float | None:
    """Return p of a regression where values are constant: the bound must exclude 0 too, or alone if there is no p."""
    high = difference_bounds(baseline, candidate, policy)[1]
    if high is None or high >= 0.0:
        return None
    return policy.alpha / 2 if p is None else p
