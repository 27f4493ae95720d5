"""Computes the figures of a comparison: significance, safety and bands, from the case scores of two arms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.aggregate import mean
from benchgate.gates import claims
from benchgate.gates.bands import sample_size_sensitivity, seed_reproducibility
from benchgate.gates.figures import (
    Arm,
    Figures,
    PairedFigures,
    SafetyFigures,
    Significance,
    WelchFigures,
)
from benchgate.statistics import (
    effect_size,
    gaffke_lower,
    mover_gaffke,
    paired_cases_needed,
    paired_differences,
    paired_mde,
    paired_test,
    unseen_failure_ucb,
    welch_cases_needed,
    welch_mde,
    welch_test,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.policy import GatePolicy
    from benchgate.statistics import PairedTest, WelchTest


def weigh(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Figures:
    """Compute all figures of a comparison under a policy."""
    return Figures(
        baseline=baseline,
        candidate=candidate,
        significance=claims.claimed(
            significance(baseline, candidate, policy), baseline, candidate, policy, _bounds
        ),
        safety=safety(baseline, candidate, policy),
        seeds=seed_reproducibility(baseline, candidate, policy),
        prefixes=sample_size_sensitivity(baseline, candidate, policy),
        cost=claims.increase(baseline, candidate, policy.alpha, lambda facts: facts.cost_usd),
        duration=claims.increase(
            baseline, candidate, policy.alpha, lambda facts: facts.duration_seconds
        ),
    )


def _bounds(baseline: Arm, candidate: Arm, policy: GatePolicy) -> tuple[float | None, float | None]:
    """Return both bounds of the difference; the upper one is the lower one of the opposite."""
    pairs = baseline.paired_with(candidate)
    if pairs and policy.test != "welch":
        differences = paired_differences([p.before for p in pairs], [p.after for p in pairs])
        low = _gaffke_bound(differences, policy)
        opposite = _gaffke_bound([-value for value in differences], policy)
    else:
        low = _mover_bound(baseline.scores, candidate.scores, policy)
        opposite = _mover_bound(candidate.scores, baseline.scores, policy)
    return low, None if opposite is None else -opposite


def significance(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Significance:
    """Test whether the candidate's mean exceeds the baseline's by more than ``min_delta``, as the policy says."""
    b, c = baseline.scores, candidate.scores
    plain = welch_test(b, c, alpha=policy.alpha)
    shifted = welch_test(b, c, alpha=policy.alpha, null_delta=policy.min_delta)
    pairs = baseline.paired_with(candidate)
    paired = (
        paired_differences([p.before for p in pairs], [p.after for p in pairs]) if pairs else None
    )
    unpaired_bound = _mover_bound(b, c, policy)
    constant = _is_constant(b) or _is_constant(c)
    p_welch = shifted.p_two_sided
    welch_passed = _passes(p_welch, plain.delta, policy, unpaired_bound, constant=constant)
    paired_figures, paired_passed = _paired(paired, policy) if paired else (None, False)
    test = paired_figures if policy.test != "welch" else None
    bound = _gaffke_bound(paired, policy) if test and paired else unpaired_bound
    p_value = test.p_two_sided if test else shifted.p_two_sided
    enough = min(len(b), len(c)) > 1
    return Significance(
        alpha=policy.alpha,
        p_value=p_value,
        confidence_level=None if p_value is None else 1.0 - p_value,
        mean_delta=plain.delta,
        delta_ci_low=test.t.ci_low if test else plain.ci_low,
        delta_ci_high=test.t.ci_high if test else plain.ci_high,
        passed=paired_passed if test else welch_passed,
        baseline_mean_reward=plain.baseline_mean,
        trained_mean_reward=plain.candidate_mean,
        test="paired" if test else "welch",
        p_regression=_p_regression(paired, policy) if test and paired else plain.p_less,
        effect_size_g=effect_size(b, c).hedges_g,
        exact_lower_bound=bound,
        evidence=None if bound is None else "exact" if bound > policy.min_delta else "standard",
        minimum_detectable_effect=_mde(plain, test, policy),
        cases_needed=_cases_needed(plain, test, policy),
        unseen_failure_ucb95=unseen_failure_ucb(len(c)) if enough else None,
        welch=WelchFigures.of(plain, passed=welch_passed),
        paired=PairedFigures.of(paired_figures, passed=paired_passed) if paired_figures else None,
    )


def safety(baseline: Arm, candidate: Arm, policy: GatePolicy) -> SafetyFigures:
    """Compare mean safety penalties; with an upper bound if the policy sets a level and a range for it."""
    b, c = _mean_penalty(baseline), _mean_penalty(candidate)
    delta = None if b is None or c is None else c - b
    upper = None
    if delta is not None and policy.safety_confidence and policy.penalty_range:
        low, high = policy.penalty_range
        known = [[p for p in arm.penalties or () if p is not None] for arm in (baseline, candidate)]
        if all(low <= penalty <= high for side in known for penalty in side):
            level = policy.safety_confidence
            upper = mover_gaffke(*known, confidence=level, low=low, high=high).upper
    return SafetyFigures(
        evaluated=_is_measured(baseline) or _is_measured(candidate),
        baseline_mean=b,
        candidate_mean=c,
        delta=delta,
        upper_bound=upper,
    )


def _is_measured(arm: Arm) -> bool:
    return any(penalty is not None for penalty in arm.penalties or ())


def _mean_penalty(arm: Arm) -> float | None:
    known = [p for p in arm.penalties or () if p is not None and math.isfinite(p)]
    return mean(known) if known and len(known) == len(arm.scores) else None


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


def _is_constant(values: Sequence[float]) -> bool:
    return min(values, default=0) == max(values, default=0)


def _mover_bound(b: Sequence[float], c: Sequence[float], policy: GatePolicy) -> float | None:
    if policy.score_range is None or min(len(b), len(c)) < 2:
        return None
    low, high = policy.score_range
    return mover_gaffke(b, c, confidence=1 - policy.alpha / 2, low=low, high=high).lower


def _gaffke_bound(differences: Sequence[float], policy: GatePolicy) -> float | None:
    if policy.width is None or len(differences) < 2:
        return None
    return gaffke_lower(
        differences, confidence=1 - policy.alpha / 2, low=-policy.width, high=policy.width
    )


def _paired(differences: Sequence[float], policy: GatePolicy) -> tuple[PairedTest, bool]:
    test = paired_test(
        differences,
        alpha=policy.alpha,
        null_delta=policy.min_delta,
        n_resamples=policy.n_resamples,
        seed=policy.seed,
    )
    constant = _is_constant(differences)
    bound = _gaffke_bound(differences, policy) if constant else None
    return test, _passes(test.p_two_sided, test.t.delta, policy, bound, constant=constant)


def _p_regression(differences: Sequence[float], policy: GatePolicy) -> float | None:
    return paired_test(
        differences, alpha=policy.alpha, n_resamples=policy.n_resamples, seed=policy.seed
    ).p_less


def _mde(welch: WelchTest, test: PairedTest | None, policy: GatePolicy) -> float | None:
    if test is not None:
        if test.t.sd is None:
            return None
        return paired_mde(
            sd=test.t.sd, n=test.t.n, alpha=policy.alpha, power=policy.power, width=policy.width
        )
    if welch.baseline_variance is None or welch.candidate_variance is None:
        return None
    return welch_mde(
        baseline_variance=welch.baseline_variance,
        n_baseline=welch.n_baseline,
        candidate_variance=welch.candidate_variance,
        n_candidate=welch.n_candidate,
        alpha=policy.alpha,
        power=policy.power,
        width=policy.width,
    )


def _cases_needed(welch: WelchTest, test: PairedTest | None, policy: GatePolicy) -> int | None:
    plan = {"alpha": policy.alpha, "power": policy.power, "width": policy.width}
    if test is not None:
        if test.t.sd is None:
            return None
        return paired_cases_needed(policy.target_effect, sd=test.t.sd, **plan)  # type: ignore[arg-type]
    if welch.baseline_variance is None or welch.candidate_variance is None:
        return None
    return welch_cases_needed(
        policy.target_effect,
        baseline_variance=welch.baseline_variance,
        candidate_variance=welch.candidate_variance,
        **plan,  # type: ignore[arg-type]
    )
