"""Runs the gate on plain vectors of scores, by the same code as on the runs of a bench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.errors import brief
from benchgate.gates.decide import decide
from benchgate.gates.decision import GateInput
from benchgate.gates.weigh import weigh

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.reason_codes import Blocker


VECTOR_DEFAULTS: Final[Mapping[str, Any]] = {
    "min_cases": 2,
    "safety": "optional",
    "score_range": None,
}
"""Policy defaults for vectors, which unlike a bench come without a score range and often without penalties."""


class Judged(NamedTuple):
    """The figures of two vectors, and the decision."""

    figures: Figures
    decision: CheckpointPromotionDecision


def compare_vectors(
    baseline: Arm, candidate: Arm, policy: GatePolicy, *, checkpoint_problems: tuple[str, ...] = ()
) -> Judged:
    """
    Compare two vectors and decide, with the policy, statistics and reason codes of a bench.

    :param checkpoint_problems: why the vectors are not evidence about the given checkpoints.
    """
    figures, blockers = weigh_arms(baseline, candidate, policy)
    if checkpoint_problems:
        blockers += (("checkpoint_mismatch", brief(checkpoint_problems, "; ")),)
    decision = decide(
        GateInput(
            policy=policy,
            figures=figures,
            blockers=blockers,
            trial_count=max((len(row) for row in candidate.trials or ()), default=1),
        )
    )
    return Judged(figures, decision)


def weigh_arms(
    baseline: Arm, candidate: Arm, policy: GatePolicy
) -> tuple[Figures, tuple[Blocker, ...]]:
    """
    Compute the figures of two arms, and what blocks a promotion whatever the figures are.

    If scores are outside ``score_range``, a blocker says so and the figures are computed as if the range were unknown.
    """
    blockers = tuple(_blockers(baseline, candidate, policy))
    inside = not any(code == "score_out_of_range" for code, _ in blockers)
    weighed = policy if inside else policy.model_copy(update={"score_range": None})
    return weigh(baseline, candidate, weighed), blockers


def _blockers(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    if policy.test == "paired" and baseline.paired_with(candidate) is None:
        yield (
            "case_mismatch",
            f"a paired test needs the same case ids on both sides: {_mismatch(baseline, candidate)}",
        )
    if policy.score_range is not None:
        low, high = policy.score_range
        for name, arm in (("baseline", baseline), ("candidate", candidate)):
            outside = next((score for score in arm.scores if not low <= score <= high), None)
            if outside is not None:
                yield "score_out_of_range", f"{name}: {outside!r} is outside [{low:g}, {high:g}]"


def _mismatch(baseline: Arm, candidate: Arm) -> str:
    if baseline.case_ids is None or candidate.case_ids is None:
        return "there are none"
    before, after = set(baseline.case_ids), set(candidate.case_ids)
    only = [
        f"only in {name}: {', '.join(sorted(ids)[:3])}"
        for name, ids in (("baseline", before - after), ("candidate", after - before))
        if ids
    ]
    return "; ".join(only)
