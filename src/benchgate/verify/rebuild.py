"""An evidence family, put together anew from its arms and its policy."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.build import Comparison
from benchgate.artifacts.evidence_kinds import ArmReport, SignificanceReport
from benchgate.artifacts.reading import read_artifact
from benchgate.gates.decision import PREFIX, REASONS, REJECTING, CheckpointPromotionDecision, Remark
from benchgate.gates.figures import Arm
from benchgate.gates.vectors import compare_vectors
from benchgate.models import Suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.gates.vectors import VectorComparison


OF_THE_RUN: Final = (
    "incomplete_run",
    "baseline_missing",
    "baseline_mismatch",
    "checkpoint_mismatch",
    "block_severity_failure_mode",
    "gate:",
)
"""Reasons that follow from a run and not from its two arms."""


def family_in(folder: Path) -> VectorComparison | None:
    """Judge the arms that lie in a folder, under the policy that lies there; ``None`` unless all are there."""
    before = read_artifact(folder / "baseline.json", ArmReport)
    after = read_artifact(folder / "trained.json", ArmReport)
    head = read_artifact(folder / "significance.json", SignificanceReport)
    if before is None or after is None or head is None:
        return None
    return compare_vectors(arm_of_report(before), arm_of_report(after), head.policy)


def arm_of_report(report: ArmReport) -> Arm:
    """Return the arm that a ``baseline.json`` or ``trained.json`` stands for."""
    samples = report.samples
    ids = tuple(sample.case_id for sample in samples if sample.case_id is not None)
    trials = tuple(sample.trials for sample in samples if sample.trials is not None)
    penalties = tuple(sample.safety_penalty for sample in samples)
    return Arm(
        scores=tuple(sample.score for sample in samples),
        case_ids=ids if len(ids) == len(samples) else None,
        penalties=penalties if any(penalty is not None for penalty in penalties) else None,
        trials=trials if len(trials) == len(samples) else None,
    )


def of_the_run(codes: Sequence[str]) -> list[str]:
    """Return those reasons that follow from a run and not from its two arms."""
    return [code for code in codes if code.removeprefix(PREFIX).startswith(OF_THE_RUN)]


def rebuilt(family: VectorComparison, given: Sequence[str], **labels: Any) -> Comparison:
    """
    Put together anew what the evidence family is made of.

    :param given: reason codes of the file; only those of the run are taken from it, all others are drawn again.
    :param labels: what names the comparison and follows from nothing.
    """
    taken = of_the_run(given)
    own = family.decision
    remarks = () if f"{PREFIX}incomplete_run" in taken else own.remarks
    drawn = {remark.code: remark for remark in remarks if remark.code in own.reason_codes}
    reasons = {**{code: Remark(code=code, message="") for code in taken}, **drawn}
    order = [PREFIX + code for code in REASONS]
    codes = sorted(reasons, key=lambda code: order.index(code) if code in order else len(order))
    rejected = any(code.removeprefix(PREFIX) in REJECTING for code in codes)
    decision = CheckpointPromotionDecision(
        outcome="reject" if rejected else "hold" if codes else "promote",
        promotion_allowed=not codes,
        reason_codes=tuple(codes),
        notes=(),
        remarks=tuple(reasons[code] for code in codes),
        minimum_detectable_effect=own.minimum_detectable_effect,
    )
    anything = {
        "run_id": "",
        "candidate_run_id": None,
        "suite": Suite(name="", version=""),
        "generated_at": datetime.fromtimestamp(0, UTC),
        "names": ("", ""),
    }
    return Comparison(
        **{**anything, **labels},
        policy=family.policy,
        evidence=family.evidence,
        decision=decision,
    )
