"""Builds the evidence files of a judged run from its facts: a run writes them, verify rebuilds them to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.artifacts.build import Comparison
from benchgate.artifacts.proof import evidence_files
from benchgate.artifacts.run_kinds import PromotionOutcome, PromotionReport, RecordRef, Subject
from benchgate.artifacts.sealed_plan import CitedPlan
from benchgate.promotion.tiers import TIER_FILE
from benchgate.promotion.verdict import promotion_lines
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from datetime import datetime

    from benchgate.artifacts.run_kinds import Verdict
    from benchgate.artifacts.sealed_plan import SealedPlan
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Figures
    from benchgate.gates.judge import Judgement
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport
    from benchgate.promotion.verdict import PromotionVerdict


OWN_RECORD = "../record.json"
"""Path of a record, relative to its own ``evidence/``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvidence:
    """
    All that the evidence of a run is built from: by :meth:`of` when the run ends, by verify from its record.

    :param weighed: the figures of the comparison; ``None`` if nothing was compared.
    :param sealed: the plan that the run cites.
    :param baseline_name: checkpoint id of the baseline, else its system.
    """

    report: BenchRunReport
    subject: Subject
    policy: GatePolicy
    decision: CheckpointPromotionDecision
    weighed: Figures | None
    baseline_name: str
    finished: datetime
    sealed: SealedPlan | None = None

    @classmethod
    def of(
        cls,
        judgement: Judgement,
        decision: CheckpointPromotionDecision,
        finished: datetime,
        sealed: SealedPlan | None = None,
    ) -> RunEvidence:
        """Return the evidence of a run that was judged."""
        return cls(
            report=judgement.report,
            subject=_subject(judgement),
            policy=judgement.policy,
            decision=decision,
            weighed=judgement.figures,
            baseline_name=_baseline_name(judgement),
            finished=finished,
            sealed=sealed,
        )

    def comparison(self) -> Comparison | None:
        """Return what the files of the comparison are built from; ``None`` if nothing was compared."""
        if self.weighed is None:
            return None
        plan = self.sealed
        return Comparison(
            run_id=self.report.run_id,
            candidate_run_id=self.report.run_id,
            suite=self.report.suite,
            generated_at=self.finished,
            names=(self.baseline_name, self.subject.id),
            policy=self.policy,
            figures=self.weighed,
            decision=self.decision,
            plan=CitedPlan(seal=plan.seal, sealed_at=plan.sealed_at) if plan else None,
        )

    def files(
        self, verdict: Verdict, seq: int | None, record_path: str = OWN_RECORD
    ) -> dict[str, bytes]:
        """
        Return every file of the evidence by name.

        ``promotion.toml`` is there only if verdict and decision are both ``promote``.

        :param seq: number of the run's record; ``None`` if it has none.
        :param record_path: of the record, relative to the folder of these files.
        """
        comparison = self.comparison()
        promotion = PromotionReport(
            schema_version=SCHEMA_VERSION,
            task_class=self.report.task_class,
            subject=self.subject,
            decision=PromotionOutcome(
                outcome=self.decision.outcome,
                promotion_allowed=self.decision.promotion_allowed,
                reason_codes=self.decision.reason_codes,
                notes=self.decision.notes,
            ),
            verdict=verdict,
            policy=self.policy,
            policy_sha256=self.report.digests.policy,
            record_ref=None if seq is None else RecordRef(seq=seq, path=record_path),
        )
        files = evidence_files(comparison) if comparison is not None else {}
        files["promotion.json"] = model_bytes(promotion)
        if (
            seq is not None
            and verdict != "not_evaluated"
            and verdict.invites(self.decision.outcome)
        ):
            files["promotion.toml"] = promotion_toml(verdict, seq)
        return files


def promotion_toml(verdict: PromotionVerdict, seq: int) -> bytes:
    """Return ``promotion.toml``: the lines that a person would merge, under a comment that names their evidence."""
    source = f"# Evidence: record {seq} of {verdict.task_class}, run {verdict.run_id}.\n"
    advice = f"# benchgate does not promote: a person merges these lines into {TIER_FILE}.\n"
    return f"{source}{advice}{promotion_lines(verdict)}".encode()


def _subject(judgement: Judgement) -> Subject:
    report, checkpoints = judgement.report, judgement.checkpoints
    if checkpoints is None:
        return Subject(
            kind="system",
            id=report.system,
            digest=report.digests.system,
            source=report.source,
        )
    return Subject(
        kind="checkpoint", id=checkpoints.candidate.checkpoint_id, digest=checkpoints.sha256
    )


def _baseline_name(judgement: Judgement) -> str:
    checkpoints, baseline = judgement.checkpoints, judgement.baseline
    if checkpoints is not None and checkpoints.baseline is not None:
        return checkpoints.baseline.candidate.checkpoint_id
    return baseline.report.system if baseline and baseline.report else ""
