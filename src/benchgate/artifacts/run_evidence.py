"""The evidence files of a run: views of its record, which a run writes and verify makes again to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.build import Evidence, arm_report
from benchgate.artifacts.proof import evidence_files
from benchgate.artifacts.run_kinds import (
    OWN_RECORD,
    PromotionOutcome,
    PromotionReport,
    RecordRef,
    Subject,
)
from benchgate.gates.comparison import Comparison
from benchgate.gates.decide import Decided
from benchgate.promotion.tiers import TIER_FILE
from benchgate.promotion.verdict import promotion_lines
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from datetime import datetime

    from benchgate.artifacts.run_kinds import RunRecord, Verdict
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.judge import FinishedRun
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport
    from benchgate.promotion.verdict import PromotionVerdict


def views(record: RunRecord, comparison: Comparison | None = None) -> dict[str, bytes]:
    """
    Return every file of the evidence of a run by name, as the folder of its record has it.

    The decision is taken as it stands in the record. The rules that made it must be those of this benchgate.

    :param comparison: of the facts of the record, if its figures were made before.
    """
    if comparison is None:
        comparison = Comparison.of(record.facts)
    decided = Decided(comparison=comparison, decision=record.decision)
    evidence = evidence_of(record.report, decided, record.names, record.finished_at)
    return run_files(evidence, record.subject, record.verdict, _own(record))


def views_without_figures(record: RunRecord) -> dict[str, bytes]:
    """Return those of these files that repeat decision and verdict, which can be made whatever the rules are."""
    return promotion_files(
        record.report.suite.name,
        record.subject,
        decision=record.decision,
        policy=record.policy,
        verdict=record.verdict,
        record=_own(record),
    )


def _own(record: RunRecord) -> RecordRef:
    return RecordRef(seq=record.seq, path=OWN_RECORD)


def evidence_of(
    report: BenchRunReport, decided: Decided, names: tuple[str, str], finished: datetime
) -> Evidence:
    """
    Return what the evidence of a run is built from.

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


def baseline_checkpoint(run: FinishedRun) -> str | None:
    """Return the checkpoint that the baseline of a run is said to be of; ``None`` if nobody says it."""
    if run.checkpoints is None or run.checkpoints.baseline is None:
        return None
    return run.checkpoints.baseline.candidate.checkpoint_id


def unrecorded_files(run: FinishedRun, decided: Decided, finished: datetime) -> dict[str, bytes]:
    """Return every file of the evidence of a run that leaves no record, by name."""
    before = ""
    if run.before is not None:
        before = baseline_checkpoint(run) or run.before.system
    subject = subject_of(run)
    names = (before, subject.id)
    return run_files(evidence_of(run.report, decided, names, finished), subject)


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
