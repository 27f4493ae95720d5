"""The figures of a claim other than ``better``, of pairs that pass or fail, and of what the cases cost."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from benchgate.aggregate import mean
from benchgate.gates.claim_figures import Increase, PassFailFigures
from benchgate.gates.claim_reasons import regressions
from benchgate.gates.figures import Significance, WelchFigures
from benchgate.statistics.bounds import constant_cases_needed, gaffke_lower, mover_gaffke
from benchgate.statistics.paired import paired_differences, paired_t
from benchgate.statistics.pass_fail import (
    cases_for_margin,
    changes,
    pass_fail_p,
    pass_fail_test,
    smallest_margin,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.figures import Arm, CasePair
    from benchgate.gates.policy import GatePolicy
    from benchgate.statistics.clusters import Labels


MOST_PAIRS: Final = 300
"""Above it the exact test of pass and fail takes seconds, and t with sign-flip finds as much."""

_MOST_TIMES: Final = 10

_OBSERVED: Final = {
    *("alpha", "mean_delta", "baseline_mean_reward", "trained_mean_reward", "effect_size_g"),
    *("clusters", "effective_cases"),
}
"""Fields of the significance that say what is, and infer nothing about other cases."""

Counts = tuple[int, int, int]
"""Gains, losses and pairs."""


def difference_bounds(
    baseline: Arm, candidate: Arm, policy: GatePolicy
) -> tuple[float | None, float | None]:
    """Bound the difference at 1 - alpha / 2 from either side; the upper bound is the lower one of the opposite."""
    pairs = baseline.paired_with(candidate)
    if pairs and policy.test != "welch":
        differences = paired_differences([p.before for p in pairs], [p.after for p in pairs])
        labels = [p.cluster for p in pairs]
        low = gaffke_bound(differences, labels, policy)
        opposite = gaffke_bound([-value for value in differences], labels, policy)
    else:
        low = mover_bound(baseline, candidate, policy)
        opposite = mover_bound(candidate, baseline, policy)
    return low, None if opposite is None else -opposite


def mover_bound(baseline: Arm, candidate: Arm, policy: GatePolicy) -> float | None:
    """Return the lower bound of the difference of two samples; ``None`` without a range, or below two cases."""
    b, c = baseline.scores, candidate.scores
    if policy.score_range is None or min(len(b), len(c)) < 2:
        return None
    low, high = policy.score_range
    clusters, level = (baseline.labels, candidate.labels), 1 - policy.alpha / 2
    return mover_gaffke(b, c, clusters, confidence=level, low=low, high=high)[0]


def gaffke_bound(differences: Sequence[float], labels: Labels, policy: GatePolicy) -> float | None:
    """Return the same of pairs."""
    width, level = policy.width, 1 - policy.alpha / 2
    if width is None or len(differences) < 2:
        return None
    return gaffke_lower(differences, labels, confidence=level, low=-width, high=width)


def claimed(
    figures: Significance, baseline: Arm, candidate: Arm, policy: GatePolicy
) -> Significance:
    """Return the figures of the binding test as the claim, and scores that pass or fail, change them."""
    pairs = baseline.paired_with(candidate) or ()
    if policy.claim == "no_regression":
        passed = bool(pairs) and not any(regressions(baseline, candidate, policy))
        return figures.model_copy(update=_no_regression_fields(passed=passed))
    # The exact test takes cases for independent.
    counts = None if figures.clusters is not None else pass_fail_counts(pairs, policy)
    if counts is not None:
        figures = figures.model_copy(update=_pass_fail_fields(counts, policy))
    if policy.claim == "not_worse":
        if counts is None:
            fields = _bounded_fields(*difference_bounds(baseline, candidate, policy), policy)
            figures = figures.model_copy(update=fields)
        is_paired = bool(pairs) and policy.test != "welch"
        plan_fields = _plan_fields(figures, baseline, candidate, policy, is_paired=is_paired)
        figures = figures.model_copy(update=plan_fields)
    return figures


def pass_fail_counts(pairs: tuple[CasePair, ...], policy: GatePolicy) -> Counts | None:
    """Return what the exact test counts; ``None`` if the pairs are not pass or fail, or another test decides."""
    if policy.test == "welch" or not 2 <= len(pairs) <= MOST_PAIRS:
        return None
    if (
        policy.score_range not in (None, (0.0, 1.0))
        or max(policy.min_delta, policy.margin or 0) >= 1
    ):
        return None
    counts = changes([pair.before for pair in pairs], [pair.after for pair in pairs])
    if counts is None:
        return None
    gains, losses, n = counts
    # Equal differences of scores of which nobody said that they are 0 or 1 are no evidence.
    is_constant = n in (gains, losses, n - gains - losses)
    return None if policy.score_range is None and is_constant else counts


def _pass_fail_fields(counts: Counts, policy: GatePolicy) -> dict[str, Any]:
    """Return the fields of the significance where the exact test of pass and fail decides."""
    gains, losses, n = counts
    limit = policy.min_delta if policy.margin is None else -policy.margin
    test = pass_fail_test(gains, losses, n, alpha=policy.alpha, null_delta=limit)
    tests = {name: value for name, value in asdict(test).items() if name != "p_two_sided"}
    return {
        "test": "pass_fail",
        "p_value": test.p_two_sided,
        "confidence_level": 1.0 - test.p_two_sided,
        "delta_ci_low": test.ci_low,
        "delta_ci_high": test.ci_high,
        "passed": test.p_greater <= policy.alpha / 2,
        "p_regression": pass_fail_p(losses, gains, n, alpha=policy.alpha),
        "exact_lower_bound": test.ci_low,
        "evidence": "exact" if test.ci_low > limit else "standard",
        "pass_fail": PassFailFigures(n=n, gains=gains, losses=losses, **tests),
    }


def _bounded_fields(low: float | None, high: float | None, policy: GatePolicy) -> dict[str, Any]:
    passed = low is not None and low > -(policy.margin or 0.0)
    return {
        "p_value": None,
        "confidence_level": None,
        "delta_ci_low": low,
        "delta_ci_high": high,
        "exact_lower_bound": low,
        "passed": passed,
        "evidence": None if low is None else "exact" if passed else "standard",
    }


def _plan_fields(
    figures: Significance, baseline: Arm, candidate: Arm, policy: GatePolicy, *, is_paired: bool
) -> dict[str, Any]:
    """Return which margin so many pairs can show at best, and how many cases the policy's may take."""
    n, reach = min(len(baseline.scores), len(candidate.scores)), None
    if figures.pass_fail is not None:
        reach = smallest_margin(n, alpha=policy.alpha)
    elif is_paired and (bound := gaffke_bound((0.0,) * n, candidate.labels, policy)) is not None:
        reach = -bound
    return {
        "minimum_detectable_effect": None,
        "smallest_margin": reach,
        "cases_needed": _cases_for(figures, n, candidate.labels, policy, is_paired=is_paired),
    }


def _cases_for(
    figures: Significance, n: int, labels: Labels, policy: GatePolicy, *, is_paired: bool
) -> int | None:
    """
    Return how many cases with such differences show the margin; ``None`` if none do.

    Exact where all pairs differ alike. Otherwise it takes the observed difference for the true one: near the margin
    that is mostly chance, and the number of no use, so none above ten times the cases that there are is named.
    """
    delta, low, margin = figures.mean_delta, figures.delta_ci_low, policy.margin or 0.0
    counted = figures.pass_fail
    if counted is not None and not counted.gains + counted.losses:
        few = cases_for_margin(margin, MOST_PAIRS, alpha=policy.alpha)
        if few is not None:
            return few
    if delta is None or low is None or delta <= -margin:
        return None
    if (
        is_paired
        and policy.width is not None
        and figures.paired is not None
        and not figures.paired.sd
    ):
        needed = constant_cases_needed(
            delta + margin, labels, room=policy.width - margin, confidence=1 - policy.alpha / 2
        )
        # Up to so many pairs the exact test decides, which takes some more.
        return needed if needed is None or counted is None else max(needed, MOST_PAIRS + 1)
    # A bound moves with 1 / sqrt(n).
    ratio = (delta - low) / (delta + margin)
    needed = math.ceil(n * ratio**2)
    return needed if needed <= _MOST_TIMES * n else None


def _no_regression_fields(*, passed: bool) -> dict[str, Any]:
    """Return the fields of the significance where nothing is inferred about other cases."""
    nothing = dict.fromkeys(Significance.model_fields.keys() - _OBSERVED)
    welch = WelchFigures(t=None, df=None, p_two_sided=None, p_greater=None, passed=False)
    return {**nothing, "test": "none", "welch": welch, "passed": passed}


def cost_increase(baseline: Arm, candidate: Arm, alpha: float) -> Increase | None:
    """
    Compare what the cases of both sides cost.

    :returns: ``None`` unless it is known of the same cases, two at least, on both sides.
    """
    sides = [
        {case_id: facts.cost_usd for case_id, facts in zip(arm.case_ids, arm.facts, strict=True)}
        for arm in (baseline, candidate)
        if arm.case_ids is not None and arm.facts is not None
    ]
    if len(sides) < 2 or sides[0].keys() != sides[1].keys() or len(sides[0]) < 2:
        return None
    pairs = [(sides[0][c], sides[1][c]) for c in sorted(sides[0])]
    paid = [(b, c) for b, c in pairs if b is not None and c is not None]
    if len(paid) < len(pairs):
        return None
    before, after = (mean(side) for side in zip(*paid, strict=True))
    rise: float | None = None
    half: float | None = None
    if before:
        # The ratio of two means varies as the mean of c - ratio * b does, over the baseline's mean.
        ratio = after / before
        by_id = dict(zip(candidate.case_ids or (), candidate.labels, strict=True))
        labels = [by_id[case_id] for case_id in sorted(sides[0])]
        rest = paired_t([c - ratio * b for b, c in paid], labels, alpha=alpha, is_skewed=False)
        rise, half = ratio - 1, rest.ci_high and rest.ci_high / before
    elif not after:
        rise = 0.0
    return Increase(
        cases=len(paid),
        baseline_mean=before,
        candidate_mean=after,
        increase=rise,
        ci_low=None if half is None or rise is None else rise - half,
        ci_high=None if half is None or rise is None else rise + half,
    )
