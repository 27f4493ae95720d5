"""Builds the evidence files of a comparison from its figures and its decision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.artifacts.evidence_kinds import (
    ArmMetrics,
    ArmReport,
    ArmSpread,
    CheckpointPromotion,
    EvaluationReport,
    PolicyImprovement,
    SafetyReport,
    Sample,
    SignificanceReport,
)
from benchgate.gates.conditions import INCOMPARABLE
from benchgate.gates.decision import PREFIX, Remark
from benchgate.gates.rollback import rollback_gate
from benchgate.gates.safety import mean_penalty
from benchgate.sentences.says import says
from benchgate.statistics.summary import mean
from benchgate.wire.model import SCHEMA_VERSION

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal, TypeVar

    from benchgate.gates.comparison import Comparison
    from benchgate.gates.decide import Decided
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import Suite
    from benchgate.sentences.says import Says

    Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    What the evidence files of a comparison are built from.

    :param run_id: the label of the proof; under pytest the report's run_id.
    :param names: labels of baseline and candidate: checkpoint id, else system name.
    :param decided: on runs or on lists of scores.
    """

    run_id: str
    candidate_run_id: str | None
    suite: Suite
    generated_at: datetime
    names: tuple[str, str]
    decided: Decided
    min_confidence_level: float | None = None

    @property
    def comparison(self) -> Comparison:
        """What was compared."""
        return self.decided.comparison

    @property
    def decision(self) -> CheckpointPromotionDecision:
        """What was decided."""
        return self.decided.decision

    @property
    def policy(self) -> GatePolicy:
        """The policy as it was stated."""
        return self.comparison.facts.policy

    @property
    def judged(self) -> GatePolicy:
        """The policy at the level of the look."""
        return self.comparison.judged

    @property
    def figures(self) -> Figures:
        """The figures, which there are wherever a file of two arms is built."""
        figures = self.comparison.figures
        if figures is None:
            raise ValueError("nothing was compared")
        return figures

    @property
    def reasons(self) -> list[Remark]:
        """The reasons of the decision, without its notes."""
        decision = self.decision
        return [remark for remark in decision.remarks if remark.code in decision.reason_codes]

    def criteria_failed(self) -> list[Remark]:
        """Return the proof's own criteria that are not met."""
        figures = self.figures.significance
        policy = self.judged
        delta = figures.mean_delta
        p = figures.p_value
        failed = []
        gains = policy.claim == "better"
        if gains and (delta is None or not delta > policy.min_delta):
            said = _gain_missed(delta, policy.min_delta)
            failed.append(Remark.of("reward_gain_below_threshold", [said]))
        if gains and (p is None or not p <= policy.alpha):
            failed.append(Remark.of("p_value_above_threshold", [_p_missed(p, policy.alpha)]))
        least = self.min_confidence_level
        if least is not None and (p is None or not 1.0 - p >= least):
            said = _confidence_missed(p, 1.0 - least)
            failed.append(Remark.of("confidence_below_threshold", [said]))
        return failed

    def arm(self, kind: Literal["baseline", "trained"]) -> Arm:
        """Return one side; of a run that stopped early there is the baseline alone."""
        if self.comparison.stopped_against is not None:
            return self.comparison.stopped_against
        if kind == "trained":
            return self.figures.candidate
        return self.figures.baseline

    @property
    def proven(self) -> bool:
        """Whether the decision is promote and all criteria are met."""
        return self.decision.promotion_allowed and not self.criteria_failed()


def _gain_missed(delta: float | None, least: float) -> Says:
    if delta is None:
        return says("reward_gain_below_threshold.unknown", least=least)
    return says("reward_gain_below_threshold", delta=delta, least=least)


def _p_missed(p: float | None, most: float) -> Says:
    if p is None:
        return says("p_value_above_threshold.unknown", most=most)
    return says("p_value_above_threshold", p=p, most=most)


def _confidence_missed(p: float | None, most: float) -> Says:
    # Stated as p: confidences near 1 would be rounded to the same number.
    if p is None:
        return says("confidence_below_threshold.unknown", most=most)
    return says("confidence_below_threshold", p=p, most=most)


def metrics_of(arm: Arm) -> ArmMetrics:
    """Return the means of one side."""
    score = None
    if arm.scores:
        score = mean(arm.scores)
    return ArmMetrics(
        episodes=len(arm.scores),
        mean_reward=score,
        mean_safety_penalty=mean_penalty(arm),
    )


def arm_report(evidence: Evidence, kind: Literal["baseline", "trained"]) -> ArmReport:
    """Build ``baseline.json`` or ``trained.json``."""
    arm = evidence.arm(kind)
    return ArmReport(
        schema_version=SCHEMA_VERSION,
        report_kind=kind,
        run_id=evidence.run_id,
        generated_at=evidence.generated_at,
        benchmark_suite=evidence.suite,
        metrics=metrics_of(arm),
        samples=samples_of(arm),
        imputed=arm.imputed,
    )


def samples_of(arm: Arm) -> tuple[Sample, ...]:
    """Return one side of a comparison as its file has it, a sample for each case."""
    count = len(arm.scores)
    ids = _of_each(arm.case_ids, count)
    penalties = _of_each(arm.penalties, count)
    trials = _of_each(arm.trials, count)
    facts = _of_each(arm.facts, count)
    return tuple(
        Sample(
            case_id=case_id,
            score=score,
            safety_penalty=penalty,
            trials=row,
            cluster=cluster,
            facts=fact,
        )
        for case_id, score, penalty, row, cluster, fact in zip(
            ids, arm.scores, penalties, trials, arm.labels, facts, strict=True
        )
    )


def _of_each(column: tuple[Value, ...] | None, count: int) -> tuple[Value | None, ...]:
    """Return what is known of each case, which may be nothing."""
    if column is None:
        return (None,) * count
    return column


def significance_report(evidence: Evidence) -> SignificanceReport:
    """Build ``significance.json``."""
    return SignificanceReport(
        schema_version=SCHEMA_VERSION,
        report_kind="significance",
        run_id=evidence.run_id,
        generated_at=evidence.generated_at,
        benchmark_suite=evidence.suite,
        policy=evidence.policy,
        significance=evidence.figures.significance,
        look=evidence.decision.look,
    )


def safety_of(evidence: Evidence) -> SafetyReport:
    """Build ``safety.json``."""
    figures = evidence.figures.safety
    objections = [reason for reason in evidence.reasons if _is_of_safety(reason.code)]
    diagnostics = [remark.message for remark in objections]
    allowed = None
    if figures.evaluated:
        allowed = not objections
    else:
        diagnostics.insert(0, "not_evaluated")
    return SafetyReport(
        schema_version=SCHEMA_VERSION,
        run_id=evidence.run_id,
        generated_at=evidence.generated_at,
        sample_count=len(evidence.figures.candidate.scores),
        baseline_mean_safety_penalty=figures.baseline_mean,
        trained_mean_safety_penalty=figures.candidate_mean,
        safety_regression_delta=figures.delta,
        pass_chances=figures.pass_chances,
        max_safety_regression=evidence.policy.max_safety_regression,
        promotion_allowed=allowed,
        reason_codes=tuple(remark.code for remark in objections),
        diagnostics=tuple(diagnostics),
    )


def _is_of_safety(code: str) -> bool:
    """Whether a reason is one of the penalties: what makes figures incomparable makes these incomparable too."""
    return "_safety_" in code or code.removeprefix(PREFIX) in INCOMPARABLE


def _spread(values: tuple[float, ...], alpha: float) -> ArmSpread:
    from benchgate.statistics.student import t_upper_quantile
    from benchgate.statistics.summary import summarize

    arm = summarize(values)
    low = None
    high = None
    if arm.sd and arm.mean is not None:  # equal values have no interval
        half = t_upper_quantile(alpha / 2, arm.n - 1) * arm.sd / math.sqrt(arm.n)
        low = arm.mean - half
        high = arm.mean + half
    return ArmSpread(
        count=arm.n,
        mean=arm.mean,
        variance=arm.variance,
        std_dev=arm.sd,
        ci_low=low,
        ci_high=high,
        alpha=alpha,
    )


def evaluation_report(evidence: Evidence) -> EvaluationReport:
    """Build ``evaluation.json``."""
    from benchgate.statistics.effect import effect_size

    figures = evidence.figures.significance
    alpha = evidence.judged.alpha
    effect = effect_size(evidence.figures.baseline.scores, evidence.figures.candidate.scores)
    return EvaluationReport(
        schema_version=SCHEMA_VERSION,
        benchmark_suite_id=f"{evidence.suite.name}@{evidence.suite.version}",
        baseline_policy_id=evidence.names[0],
        candidate_policy_id=evidence.names[1],
        generated_at_epoch_ms=int(evidence.generated_at.timestamp() * 1000),
        policy_improvement=PolicyImprovement(
            baseline=_spread(evidence.figures.baseline.scores, alpha),
            candidate=_spread(evidence.figures.candidate.scores, alpha),
            mean_delta=figures.mean_delta,
            delta_ci_low=figures.delta_ci_low,
            delta_ci_high=figures.delta_ci_high,
            pooled_std_dev=effect.pooled_sd,
            cohens_d=effect.cohens_d,
            is_significant_improvement=figures.passed and evidence.policy.claim == "better",
            alpha=alpha,
        ),
        seed_reproducibility=evidence.figures.seeds,
        sample_size_sensitivity=evidence.figures.prefixes,
        cost=evidence.figures.cost,
        checkpoint_promotion=CheckpointPromotion(
            promotion_allowed=evidence.decision.promotion_allowed,
            safety_regression=evidence.figures.safety.delta,
            max_safety_regression=evidence.policy.max_safety_regression,
            reason_codes=evidence.decision.reason_codes,
        ),
        rollback_gate=rollback_gate(
            evidence.figures,
            evidence.judged,
            evidence.comparison.p_of_loss,
            evidence.decision.reason_codes,
        ),
    )
