"""What the cases of both sides cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.aggregate import mean
from benchgate.gates.claim_figures import Increase
from benchgate.statistics.paired import paired_t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.figures import Arm
    from benchgate.statistics.clusters import Labels

Paid = tuple[float, float]
"""What a case cost on both sides."""


def cost_increase(baseline: Arm, candidate: Arm, alpha: float) -> Increase | None:
    """
    Compare what the cases of both sides cost.

    :returns: ``None`` unless it is known of the same cases, two at least, on both sides.
    """
    before = _costs(baseline)
    after = _costs(candidate)
    if before.keys() != after.keys() or len(before) < 2:
        return None
    ids = sorted(before)
    paid: list[Paid] = []
    for case_id in ids:
        spent_before = before[case_id]
        spent_after = after[case_id]
        if spent_before is None or spent_after is None:
            return None
        paid.append((spent_before, spent_after))
    cluster_of = dict(zip(candidate.case_ids or (), candidate.labels, strict=True))
    return _increase(paid, [cluster_of[case_id] for case_id in ids], alpha)


def _costs(arm: Arm) -> dict[str, float | None]:
    """Return the cost of each case; nothing without ids, or without facts."""
    if arm.case_ids is None or arm.facts is None:
        return {}
    return {case_id: facts.cost_usd for case_id, facts in zip(arm.case_ids, arm.facts, strict=True)}


def _increase(paid: Sequence[Paid], labels: Labels, alpha: float) -> Increase:
    before = mean([spent for spent, _ in paid])
    after = mean([spent for _, spent in paid])
    unknown = Increase(
        cases=len(paid),
        baseline_mean=before,
        candidate_mean=after,
        increase=None,
        ci_low=None,
        ci_high=None,
    )
    if not before:
        if after:
            return unknown
        return unknown.model_copy(update={"increase": 0.0})
    # The ratio of two means varies as the mean of c - ratio * b does, over the baseline's mean.
    ratio = after / before
    rise = ratio - 1
    rest = paired_t([c - ratio * b for b, c in paid], labels, alpha=alpha, is_skewed=False)
    if rest.ci_high is None:
        return unknown.model_copy(update={"increase": rise})
    half = rest.ci_high / before  # the mean of the rest is 0, so its interval is symmetric about 0
    return Increase(
        cases=len(paid),
        baseline_mean=before,
        candidate_mean=after,
        increase=rise,
        ci_low=rise - half,
        ci_high=rise + half,
    )
