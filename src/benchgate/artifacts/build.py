"""The evidence family of a comparison, from its figures and its decision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.artifacts.kinds import (
    ArmMetrics,
    ArmReport,
    ArmSpread,
    CheckpointPromotion,
    EvaluationReport,
    FailureAnalysis,
    PolicyImprovement,
    PromotionOutcome,
    PromotionReport,
    ProofArm,
    ProofBundle,
    ProofCriteria,
    ProofDigests,
    ProofPaths,
    ProofSafety,
    ProofSignificance,
    SafetyReport,
    Sample,
    SignificanceReport,
    Subject,
)
from benchgate.wire import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal

    from benchgate.artifacts.kinds import RecordRef
    from benchgate.figures import Arm, Evidence
    from benchgate.gates import CheckpointPromotionDecision
    from benchgate.models import Suite
    from benchgate.policy import GatePolicy

PROOF_PARTS = {
    "baseline_report": "baseline.json",
    "trained_report": "trained.json",
    "significance_report": "significance.json",
    "safety_regression_report": "safety.json",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """
    Two arms and what was decided about them; all that the evidence family is made of.

    :param run_id: the label of the proof; under pytest the report's run_id.
    :param names: what the baseline and the candidate are called: checkpoint id, else system name.
    """

    run_id: str
    candidate_run_id: str | None
    suite: Suite
    generated_at: datetime
    names: tuple[str, str]
    policy: GatePolicy
    evidence: Evidence
    decision: CheckpointPromotionDecision


def arm_report(made: Comparison, kind: Literal["baseline", "trained"]) -> ArmReport:
    """Build ``baseline.json`` or ``trained.json``."""
    arm = _arm(made, kind)
    ids = arm.case_ids or (None,) * len(arm.scores)
    penalties = arm.penalties or (None,) * len(arm.scores)
    return ArmReport(
        schema_version=SCHEMA_VERSION,
        report_kind=kind,
        run_id=made.run_id,
        generated_at=made.generated_at,
        benchmark_suite=made.suite,
        metrics=_metrics(made, kind),
        samples=tuple(
            Sample(case_id=case_id, score=score, safety_penalty=penalty)
            for case_id, score, penalty in zip(ids, arm.scores, penalties, strict=True)
        ),
    )


def _arm(made: Comparison, kind: Literal["baseline", "trained"]) -> Arm:
    return made.evidence.candidate if kind == "trained" else made.evidence.baseline


def _metrics(made: Comparison, kind: Literal["baseline", "trained"]) -> ArmMetrics:
    trained = kind == "trained"
    figures, safety = made.evidence.significance, made.evidence.safety
    return ArmMetrics(
        episodes=len(_arm(made, kind).scores),
        mean_reward=figures.trained_mean_reward if trained else figures.baseline_mean_reward,
        mean_safety_penalty=safety.trained_mean if trained else safety.baseline_mean,
    )


def significance_report(made: Comparison) -> SignificanceReport:
    """Build ``significance.json``."""
    return SignificanceReport(
        schema_version=SCHEMA_VERSION,
        report_kind="significance",
        run_id=made.run_id,
        generated_at=made.generated_at,
        benchmark_suite=made.suite,
        policy=made.policy,
        significance=made.evidence.significance,
    )


def _safety_codes(made: Comparison) -> tuple[str, ...]:
    return tuple(code for code in made.decision.reason_codes if "_safety_" in code)


def safety_report(made: Comparison) -> SafetyReport:
    """Build ``safety.json``."""
    figures, codes = made.evidence.safety, _safety_codes(made)
    diagnostics = [remark.message for remark in made.decision.remarks if remark.code in codes]
    return SafetyReport(
        schema_version=SCHEMA_VERSION,
        run_id=made.run_id,
        generated_at=made.generated_at,
        sample_count=len(made.evidence.candidate.scores),
        baseline_mean_safety_penalty=figures.baseline_mean,
        trained_mean_safety_penalty=figures.trained_mean,
        safety_regression_delta=figures.delta,
        max_safety_regression=made.policy.max_safety_regression,
        promotion_allowed=not codes if figures.evaluated else None,
        reason_codes=codes,
        diagnostics=tuple(diagnostics) if figures.evaluated else ("not_evaluated",),
    )


def _spread(values: tuple[float, ...], alpha: float) -> ArmSpread:
    from benchgate.statistics.student import t_upper_quantile
    from benchgate.statistics.summary import summarize

    arm = summarize(values)
    half = None
    if arm.sd is not None:
        half = t_upper_quantile(alpha / 2, arm.n - 1) * arm.sd / math.sqrt(arm.n)
    known = half is not None and arm.mean is not None
    return ArmSpread(
        count=arm.n,
        mean=arm.mean,
        variance=arm.variance,
        std_dev=arm.sd,
        ci_low=arm.mean - half if known else None,  # type: ignore[operator]
        ci_high=arm.mean + half if known else None,  # type: ignore[operator]
        alpha=alpha,
    )


def evaluation_report(made: Comparison) -> EvaluationReport:
    """Build ``evaluation.json``."""
    from benchgate.statistics import effect_size

    figures, alpha = made.evidence.significance, made.policy.alpha
    effect = effect_size(made.evidence.baseline.scores, made.evidence.candidate.scores)
    return EvaluationReport(
        schema_version=SCHEMA_VERSION,
        benchmark_suite_id=f"{made.suite.name}@{made.suite.version}",
        baseline_policy_id=made.names[0],
        candidate_policy_id=made.names[1],
        generated_at_epoch_ms=int(made.generated_at.timestamp() * 1000),
        policy_improvement=PolicyImprovement(
            baseline=_spread(made.evidence.baseline.scores, alpha),
            candidate=_spread(made.evidence.candidate.scores, alpha),
            mean_delta=figures.mean_delta,
            delta_ci_low=figures.delta_ci_low,
            delta_ci_high=figures.delta_ci_high,
            pooled_std_dev=effect.pooled_sd,
            cohens_d=effect.cohens_d,
            is_significant_improvement=figures.passed,
            alpha=alpha,
        ),
        seed_reproducibility=made.evidence.seeds,
        sample_size_sensitivity=made.evidence.prefixes,
        checkpoint_promotion=CheckpointPromotion(
            promotion_allowed=made.decision.promotion_allowed,
            safety_regression=made.evidence.safety.delta,
            max_safety_regression=made.policy.max_safety_regression,
            reason_codes=made.decision.reason_codes,
        ),
    )


def proof_bundle(made: Comparison, digests: Mapping[str, str]) -> ProofBundle:
    """
    Build ``proof.json``.

    :param digests: SHA-256 of each file of :data:`PROOF_PARTS`, by file name.
    """
    figures, policy = made.evidence.significance, made.policy
    safety = safety_report(made)
    return ProofBundle(
        schema_version=SCHEMA_VERSION,
        run_id=made.run_id,
        candidate_run_id=made.candidate_run_id,
        generated_at=made.generated_at,
        benchmark_suite=made.suite,
        baseline=_proof_arm(made, "baseline"),
        trained=_proof_arm(made, "trained"),
        significance=ProofSignificance(
            p_value=figures.p_value,
            confidence_level=figures.confidence_level,
            passed=figures.passed,
        ),
        criteria=ProofCriteria(
            min_reward_delta=policy.min_delta,
            max_safety_regression=policy.max_safety_regression,
            max_p_value=policy.alpha,
            min_confidence_level=None,
        ),
        artifacts=ProofPaths(**PROOF_PARTS),
        artifact_sha256=ProofDigests(**{part: digests[name] for part, name in PROOF_PARTS.items()}),
        safety_benchmark=ProofSafety(
            report_path=PROOF_PARTS["safety_regression_report"],
            promotion_allowed=safety.promotion_allowed,
            reason_codes=safety.reason_codes,
            safety_regression_delta=safety.safety_regression_delta,
            max_safety_regression=safety.max_safety_regression,
        ),
        failure_analysis=_failure_analysis(made),
    )


def _proof_arm(made: Comparison, kind: Literal["baseline", "trained"]) -> ProofArm:
    metrics = _metrics(made, kind)
    return ProofArm(checkpoint_id=made.names[kind == "trained"], **dict(metrics))


def _failure_analysis(made: Comparison) -> FailureAnalysis | None:
    decision = made.decision
    if decision.promotion_allowed:
        return None
    reasons = [remark for remark in decision.remarks if remark.code in decision.reason_codes]
    return FailureAnalysis(
        summary=f"{decision.outcome}: {len(reasons)} condition{'s' * (len(reasons) != 1)} failed",
        reasons=tuple(f"{remark.code}: {remark.message}" for remark in reasons),
        reward_delta=made.evidence.significance.mean_delta,
        safety_regression=made.evidence.safety.delta,
    )


def promotion_report(
    *,
    task_class: str,
    subject: Subject,
    decision: CheckpointPromotionDecision,
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
        verdict="not_evaluated",
        policy=policy,
        policy_sha256=policy.digest,
        record_ref=record,
    )
