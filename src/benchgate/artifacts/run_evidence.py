"""Builds the evidence files of a judged run from its facts: a run writes them, verify rebuilds them to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.build import Evidence, arm_report
from benchgate.artifacts.proof import evidence_files
from benchgate.artifacts.run_kinds import PromotionOutcome, PromotionReport, RecordRef, Subject
from benchgate.promotion.tiers import TIER_FILE
from benchgate.promotion.verdict import promotion_lines
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from datetime import datetime

    from benchgate.artifacts.run_kinds import Verdict
    from benchgate.gates.decide import Decided
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.judge import FinishedRun
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport
    from benchgate.promotion.verdict import PromotionVerdict


OWN_RECORD = "../record.json"
"""Path of a record, relative to its own ``evidence/``."""


def evidence_of(
    report: BenchRunReport, decided: Decided, names: tuple[str, str], finished: datetime
) -> Evidence:
    """
    Return what the evidence of a run is built from: when it ends, or by verify from its record.

    :param names: of baseline and candidate.
    """
    return Evidence(
        run_id=report.run_id,
        candidate_run_id=report.run_id,
        suite=report.suite,
        generated_at=finished,
        names=names,
        decided=decided,
    )


def subject_of(run: FinishedRun) -> Subject:
    """Return what a decision on a run is about: its checkpoint, or else its system."""
    report = run.report
    if run.checkpoints is not None:
        name = run.checkpoints.candidate.checkpoint_id
        return Subject(kind="checkpoint", id=name, digest=run.checkpoints.sha256)
    return Subject(
        kind="system", id=report.system, digest=report.digests.system, source=report.source
    )


def names_of(run: FinishedRun) -> tuple[str, str]:
    """Return what the evidence of a run calls its baseline, empty if it has none, and its candidate."""
    before = ""
    if run.before is not None:
        before = run.before.system
    checkpoints = run.checkpoints
    if checkpoints is not None and checkpoints.baseline is not None:
        before = checkpoints.baseline.candidate.checkpoint_id
    return before, subject_of(run).id


def run_files(
    evidence: Evidence,
    subject: Subject,
    verdict: Verdict = "not_evaluated",
    record: RecordRef | None = None,
) -> dict[str, bytes]:
    """
    Return every file of the evidence of a run by name.

    :param record: of the run; ``None`` if it has none.
    """
    files: dict[str, bytes] = {}
    if evidence.comparison.figures is not None:
        files |= evidence_files(evidence)
    elif evidence.decision.certificate:
        files["baseline.json"] = model_bytes(arm_report(evidence, "baseline"))
    return files | promotion_files(
        evidence.suite.name,
        subject,
        decision=evidence.decision,
        policy=evidence.policy,
        verdict=verdict,
        record=record,
    )


def promotion_files(
    task_class: str,
    subject: Subject,
    *,
    decision: CheckpointPromotionDecision,
    policy: GatePolicy,
    verdict: Verdict,
    record: RecordRef | None,
) -> dict[str, bytes]:
    """
    Return the files that repeat decision and verdict, which no figure is needed for, by name.

    ``promotion.toml`` is there only if verdict and decision are both ``promote``.
    """
    promotion = PromotionReport(
        schema_version=SCHEMA_VERSION,
        task_class=task_class,
        subject=subject,
        decision=PromotionOutcome(
            outcome=decision.outcome,
            promotion_allowed=decision.promotion_allowed,
            reason_codes=decision.reason_codes,
            notes=decision.notes,
        ),
        verdict=verdict,
        policy=policy,
        policy_sha256=policy.digest,
        record_ref=record,
    )
    files = {"promotion.json": model_bytes(promotion)}
    if record and verdict != "not_evaluated" and verdict.invites(decision.outcome):
        files["promotion.toml"] = promotion_toml(verdict, record.seq)
    return files


def promotion_toml(verdict: PromotionVerdict, seq: int) -> bytes:
    """Return ``promotion.toml``: the lines that a person would merge, under a comment that names their evidence."""
    source = f"# Evidence: record {seq} of {verdict.task_class}, run {verdict.run_id}.\n"
    advice = f"# benchgate does not promote: a person merges these lines into {TIER_FILE}.\n"
    return f"{source}{advice}{promotion_lines(verdict)}".encode()
