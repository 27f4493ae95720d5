"""Builds the evidence files of a judged run from its facts: a run writes them, verify rebuilds them to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.build import Comparison, arm_report
from benchgate.artifacts.proof import evidence_files
from benchgate.artifacts.run_kinds import PromotionOutcome, PromotionReport, RecordRef, Subject
from benchgate.gates.baseline import arm
from benchgate.promotion.tiers import TIER_FILE
from benchgate.promotion.verdict import promotion_lines
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from datetime import datetime

    from benchgate.artifacts.run_kinds import Verdict
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.judge import Judgement
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_side import RunSide
    from benchgate.models import BenchRunReport
    from benchgate.promotion.verdict import PromotionVerdict


OWN_RECORD = "../record.json"
"""Path of a record, relative to its own ``evidence/``."""


def comparison_of(
    report: BenchRunReport,
    *,
    names: tuple[str, str],
    policy: GatePolicy,
    weighed: Figures | None,
    decision: CheckpointPromotionDecision,
    finished: datetime,
    before: Arm | None = None,
) -> Comparison:
    """Return what the evidence of a run is built from: when it ends, or by verify from its record."""
    return Comparison(
        run_id=report.run_id,
        candidate_run_id=report.run_id,
        suite=report.suite,
        generated_at=finished,
        names=names,
        policy=policy,
        weighed=weighed,
        decision=decision,
        before=before,
    )


def stopped_against(
    baseline: RunSide | None, report: BenchRunReport, decision: CheckpointPromotionDecision
) -> Arm | None:
    """Return the side that a run was weighed against until it stopped early; ``None`` of any other run."""
    if baseline is None or not decision.certificate:
        return None
    return arm(baseline, report)


def judged_comparison(
    judgement: Judgement, decision: CheckpointPromotionDecision, finished: datetime
) -> tuple[Comparison, Subject]:
    """Return what the evidence of a run that was judged is built from, and its checkpoint, or else its system."""
    report, checkpoints, baseline = judgement.report, judgement.checkpoints, judgement.baseline
    compared = baseline.facts.run if baseline else None
    before = compared.system if compared else ""
    system = report.digests.system
    subject = Subject(kind="system", id=report.system, digest=system, source=report.source)
    if checkpoints is not None:
        name = checkpoints.candidate.checkpoint_id
        subject = Subject(kind="checkpoint", id=name, digest=checkpoints.sha256)
        if checkpoints.baseline is not None:
            before = checkpoints.baseline.candidate.checkpoint_id
    comparison = comparison_of(
        report,
        names=(before, subject.id),
        policy=judgement.policy,
        weighed=judgement.figures,
        decision=decision,
        finished=finished,
        before=stopped_against(compared, report, decision),
    )
    return comparison, subject


def run_files(
    comparison: Comparison,
    subject: Subject,
    verdict: Verdict = "not_evaluated",
    record: RecordRef | None = None,
) -> dict[str, bytes]:
    """
    Return every file of the evidence of a run by name.

    ``promotion.toml`` is there only if verdict and decision are both ``promote``.

    :param record: of the run; ``None`` if it has none.
    """
    decision = comparison.decision
    promotion = PromotionReport(
        schema_version=SCHEMA_VERSION,
        task_class=comparison.suite.name,
        subject=subject,
        decision=PromotionOutcome(
            outcome=decision.outcome,
            promotion_allowed=decision.promotion_allowed,
            reason_codes=decision.reason_codes,
            notes=decision.notes,
        ),
        verdict=verdict,
        policy=comparison.policy,
        policy_sha256=comparison.policy.digest,
        record_ref=record,
    )
    files = evidence_files(comparison) if comparison.weighed else {}
    if comparison.before is not None:
        files["baseline.json"] = model_bytes(arm_report(comparison, "baseline"))
    files["promotion.json"] = model_bytes(promotion)
    if record and verdict != "not_evaluated" and verdict.invites(decision.outcome):
        files["promotion.toml"] = promotion_toml(verdict, record.seq)
    return files


def promotion_toml(verdict: PromotionVerdict, seq: int) -> bytes:
    """Return ``promotion.toml``: the lines that a person would merge, under a comment that names their evidence."""
    source = f"# Evidence: record {seq} of {verdict.task_class}, run {verdict.run_id}.\n"
    advice = f"# benchgate does not promote: a person merges these lines into {TIER_FILE}.\n"
    return f"{source}{advice}{promotion_lines(verdict)}".encode()
