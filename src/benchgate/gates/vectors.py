"""Runs the gate on plain vectors of scores, by the same code as on the runs of a bench."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from benchgate.errors import brief
from benchgate.gates.decide import decide
from benchgate.gates.decision import GateInput
from benchgate.gates.looks import judged_at, number_of
from benchgate.gates.missing import counted_as_worst, mismatch
from benchgate.gates.weigh import weigh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker, CheckpointPromotionDecision
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.looks import Look
    from benchgate.gates.policy import GatePolicy


class Judged(NamedTuple):
    """The figures of two vectors, and the decision."""

    figures: Figures
    decision: CheckpointPromotionDecision


def compare_vectors(
    baseline: Arm,
    candidate: Arm,
    policy: GatePolicy,
    *,
    look: Look | None = None,
    checkpoint_problems: tuple[str, ...] = (),
    noted: tuple[Blocker, ...] = (),
) -> Judged:
    """
    Compare two vectors and decide, with the policy, statistics and reason codes of a bench.

    :param look: this look at the baseline; ``None`` if nobody counts.
    :param checkpoint_problems: why the vectors are not evidence about the given checkpoints.
    :param noted: notes on what the vectors were read from.
    """
    judged = judged_at(policy, number_of(look))
    figures, blockers = weigh_arms(baseline, candidate, judged)
    if checkpoint_problems:
        blockers += (("checkpoint_mismatch", brief(checkpoint_problems, "; ")),)
    decision = decide(
        GateInput(
            policy=policy,
            figures=figures,
            look=look,
            blockers=blockers,
            noted=noted,
            trial_count=max((len(row) for row in candidate.trials or ()), default=1),
        )
    )
    return Judged(figures, decision)


def weigh_arms(
    baseline: Arm, candidate: Arm, policy: GatePolicy, *, advice: bool = True
) -> tuple[Figures, tuple[Blocker, ...]]:
    """
    Compute the figures of two arms, and what blocks a promotion whatever the figures are.

    With ``missing = "worst"`` both arms of the figures have the cases of both, if they share one. If scores are outside
    ``score_range``, a blocker says so and the figures are computed as if the range were unknown.

    :param advice: as :func:`~benchgate.gates.weigh.weigh`.
    """
    baseline, candidate = _completed(baseline, candidate, policy)
    blockers = tuple(_blockers(baseline, candidate, policy))
    weighed = policy
    if any(code == "score_out_of_range" for code, _ in blockers):
        weighed = policy.model_copy(update={"score_range": None})
    figures = weigh(baseline, candidate, weighed, advice=advice)
    if blockers:  # a reader of significance.json alone must not take it for a pass
        failed = figures.significance.model_copy(update={"passed": False})
        figures = replace(figures, significance=failed)
    return figures, blockers


def _completed(baseline: Arm, candidate: Arm, policy: GatePolicy) -> tuple[Arm, Arm]:
    """Return both sides with the cases of both, where the policy counts a missing case as the worst score."""
    if policy.missing != "worst" or policy.score_range is None:
        return baseline, candidate
    shared = set(baseline.case_ids or ()) & set(candidate.case_ids or ())
    if not shared or not mismatch(baseline, candidate):
        return baseline, candidate
    return counted_as_worst(baseline, candidate, policy.score_range)


def _blockers(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    yield from _pairing_objection(baseline, candidate, policy)
    if policy.score_range is not None:
        yield from _outside("baseline", baseline, policy.score_range)
        yield from _outside("candidate", candidate, policy.score_range)


def _pairing_objection(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that cases differ, or that the policy needs pairs where there are none."""
    differing = mismatch(baseline, candidate)
    if differing:
        yield "case_mismatch", f"the sides have different cases; {differing}"
    elif policy.test == "paired" and baseline.paired_with(candidate) is None:
        yield "case_mismatch", "a paired test needs case ids on both sides"
    elif policy.claim == "no_regression" and baseline.paired_with(candidate) is None:
        yield "case_mismatch", "claim no_regression needs case ids on both sides"


def _outside(name: str, arm: Arm, score_range: tuple[float, float]) -> Iterator[Blocker]:
    """Yield the first score of a side that the range does not have."""
    low, high = score_range
    outside = next((score for score in arm.scores if not low <= score <= high), None)
    if outside is not None:
        yield "score_out_of_range", f"{name}: {outside!r} is outside [{low:g}, {high:g}]"
