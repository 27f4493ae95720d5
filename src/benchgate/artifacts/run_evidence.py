"""A judged run in the terms of the artifacts: its subject, its baseline, its comparison, its promotion."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.artifacts import build
from benchgate.artifacts.proof import evidence_files
from benchgate.artifacts.run_kinds import (
    BaselineRef,
    PromotionOutcome,
    PromotionReport,
    Subject,
)
from benchgate.errors import ArtifactError
from benchgate.promotion.tiers import TIER_FILE, next_tier
from benchgate.promotion.verdict import PromotionGate, promotion_lines
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RecordRef, Verdict
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.judge import Judgement
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport
    from benchgate.promotion.tiers import TierConfig
    from benchgate.promotion.verdict import PromotionVerdict
    from benchgate.taxonomy import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTerms:
    """
    What a run is judged under, beside its policy.

    :param severities: severity of each failure code.
    :param min_cases: passed cases that each tier asks of the class.
    :param tiers: ``None`` if there is no file of tiers, or none that can be read.
    """

    harness_version: str
    severities: Mapping[str, Severity]
    min_cases: Mapping[str, int]
    tiers: TierConfig | None

    def verdict(self, report: BenchRunReport, chain_intact: Callable[[], bool]) -> Verdict:
        """Return whether the run is evidence for the tier above the current one, or for keeping the highest."""
        if self.tiers is None:
            return "not_evaluated"
        current = self.tiers.tier_of(report.task_class)
        return PromotionGate(self.tiers).evaluate(
            report.task_class,
            current,
            report,
            target_tier=next_tier(current),
            min_cases=self.min_cases,
            chain_intact=chain_intact(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvidence:
    """The evidence of a judged run; ``family`` is all of it that does not know of the run's record."""

    judgement: Judgement
    finished: datetime
    family: Mapping[str, bytes]

    @classmethod
    def of(cls, judgement: Judgement, finished: datetime) -> RunEvidence:
        """Make the evidence of a run; of one that was compared with nothing there is no family."""
        made = comparison(judgement, finished)
        family = evidence_files(made) if made is not None else {}
        return cls(judgement=judgement, finished=finished, family=family)

    def files(self, verdict: Verdict, record: RecordRef) -> dict[str, bytes]:
        """
        Return every file of the evidence; ``promotion.toml`` is there only if the verdict recommends a promotion.

        :param record: the run's record as seen from these files.
        :raises ArtifactError: the run is a selection, which is not judged.
        """
        report, decision = self.judgement.report, self.judgement.decision
        if decision is None:
            raise ArtifactError("promotion.json", "a run that was not judged has no evidence")
        promotion = promotion_report(
            task_class=report.task_class,
            subject=subject(self.judgement),
            decision=decision,
            verdict=verdict,
            policy=self.judgement.policy,
            record=record,
        )
        files = {**self.family, "promotion.json": model_bytes(promotion)}
        if verdict != "not_evaluated" and verdict.recommendation == "promote":
            files["promotion.toml"] = promotion_toml(verdict, record.seq)
        return files


def promotion_report(
    *,
    task_class: str,
    subject: Subject,
    decision: CheckpointPromotionDecision,
    verdict: Verdict,
    policy: GatePolicy,
    record: RecordRef | None,
) -> PromotionReport:
    """Build ``promotion.json``; it needs no baseline, so every judged run has one."""
    return PromotionReport(
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


def promotion_toml(verdict: PromotionVerdict, seq: int) -> bytes:
    """Return ``promotion.toml``: the lines that a person would merge, under a comment on what they stand on."""
    head = f"# Evidence: record {seq} of {verdict.task_class}, run {verdict.run_id}.\n"
    told = f"# benchgate does not promote: a person merges these lines into {TIER_FILE}.\n"
    return f"{head}{told}{promotion_lines(verdict)}".encode()


def subject(judgement: Judgement) -> Subject:
    """Return what a run is evidence about."""
    report, checkpoints = judgement.report, judgement.checkpoints
    if checkpoints is None:
        return Subject(kind="system", id=report.system, digest=report.digests.system)
    return Subject(
        kind="checkpoint", id=checkpoints.candidate.checkpoint_id, digest=checkpoints.sha256
    )


def comparison(judgement: Judgement, finished: datetime) -> build.Comparison | None:
    """Return what the evidence family is made of; ``None`` if nothing was compared."""
    before = judgement.baseline.report if judgement.baseline else None
    if before is None or judgement.evidence is None or judgement.decision is None:
        return None
    return build.Comparison(
        run_id=judgement.report.run_id,
        candidate_run_id=judgement.report.run_id,
        suite=judgement.report.suite,
        generated_at=finished,
        names=(_baseline_name(judgement, before), subject(judgement).id),
        policy=judgement.policy,
        evidence=judgement.evidence,
        decision=judgement.decision,
    )


def _baseline_name(judgement: Judgement, before: BenchRunReport) -> str:
    checkpoints = judgement.checkpoints
    if checkpoints is None or checkpoints.baseline is None:
        return before.system
    return checkpoints.baseline.checkpoint_id


def baseline_ref(judgement: Judgement, folder: Path) -> BaselineRef | None:
    """Return what a record says of its baseline, its path relative to a folder."""
    found = judgement.baseline
    if found is None:
        return None
    return BaselineRef(
        path=os.path.relpath(found.path, folder),
        sha256=found.sha256,
        run_id=found.report.run_id if found.report else None,
    )
