"""
The evidence family of a comparison, one model for each file.

No field has a default: what a file leaves out is missing, not assumed. ``schema_version`` is the major version;
within it fields are only added. Absent values are ``null``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from benchgate.gates.figures import (
    SampleSizeSensitivityReport,
    SeedReproducibilityReport,
    Significance,
)
from benchgate.gates.policy import GatePolicy
from benchgate.models import Suite
from benchgate.wire.model import Count, NonNegative, Number, Sha256, Version, WireModel


class ArmMetrics(WireModel):
    """Figures of one arm; ``episodes`` is its number of cases."""

    episodes: Count
    mean_reward: Number | None
    mean_safety_penalty: Number | None


class Sample(WireModel):
    """One case: the mean over its trials, and the scores of these where they are known."""

    case_id: str | None
    score: Number
    safety_penalty: NonNegative | None
    trials: tuple[Number, ...] | None


class ArmReport(WireModel):
    """``baseline.json`` and ``trained.json``: one side of a comparison, also accepted as a sample file."""

    schema_version: Version
    report_kind: Literal["baseline", "trained"]
    run_id: str
    generated_at: AwareDatetime
    benchmark_suite: Suite
    metrics: ArmMetrics
    samples: tuple[Sample, ...]


class SignificanceReport(WireModel):
    """``significance.json``: the binding test under the policy."""

    schema_version: Version
    report_kind: Literal["significance"]
    run_id: str
    generated_at: AwareDatetime
    benchmark_suite: Suite
    policy: GatePolicy
    significance: Significance


class SafetyReport(WireModel):
    """``safety.json``: the rise of the mean safety penalty; all ``null`` if safety was not given."""

    schema_version: Version
    run_id: str
    generated_at: AwareDatetime
    sample_count: Count
    baseline_mean_safety_penalty: Number | None
    trained_mean_safety_penalty: Number | None
    safety_regression_delta: Number | None
    max_safety_regression: NonNegative
    promotion_allowed: bool | None
    reason_codes: tuple[str, ...]
    diagnostics: tuple[str, ...]


class ArmSpread(WireModel):
    """Mean of an arm with its two-sided Student interval at 1 - alpha."""

    count: Count
    mean: Number | None
    variance: Number | None
    std_dev: Number | None
    ci_low: Number | None
    ci_high: Number | None
    alpha: Number


class PolicyImprovement(WireModel):
    """How much better the candidate is."""

    baseline: ArmSpread
    candidate: ArmSpread
    mean_delta: Number | None
    delta_ci_low: Number | None
    delta_ci_high: Number | None
    pooled_std_dev: Number | None
    cohens_d: Number | None
    is_significant_improvement: bool
    alpha: Number


class CheckpointPromotion(WireModel):
    """The decision in the terms of a checkpoint."""

    promotion_allowed: bool
    safety_regression: Number | None
    max_safety_regression: NonNegative
    reason_codes: tuple[str, ...]


class EvaluationReport(WireModel):
    """``evaluation.json``: improvement and promotion in one; what was not evaluated is ``null``."""

    schema_version: Version
    benchmark_suite_id: str
    baseline_policy_id: str
    candidate_policy_id: str
    generated_at_epoch_ms: Count
    policy_improvement: PolicyImprovement
    seed_reproducibility: SeedReproducibilityReport | None
    sample_size_sensitivity: SampleSizeSensitivityReport | None
    checkpoint_promotion: CheckpointPromotion


class ProofArm(WireModel):
    """One side of a proof."""

    checkpoint_id: str
    episodes: Count
    mean_reward: Number | None
    mean_safety_penalty: Number | None


class ProofSignificance(WireModel):
    """The binding test's result."""

    p_value: Number | None
    confidence_level: Number | None
    passed: Annotated[bool, Field(alias="pass")]


class ProofCriteria(WireModel):
    """What the proof asks for; ``None`` is not asked for."""

    min_reward_delta: Number
    max_safety_regression: NonNegative
    max_p_value: Number
    min_confidence_level: Number | None


class ProofPaths(WireModel):
    """The files that a proof stands on, relative to it."""

    baseline_report: str
    trained_report: str
    significance_report: str
    safety_regression_report: str


class ProofDigests(WireModel):
    """SHA-256 of each of those files."""

    baseline_report: Sha256
    trained_report: Sha256
    significance_report: Sha256
    safety_regression_report: Sha256


class ProofSafety(WireModel):
    """The safety report, referred to and summed up."""

    report_path: str
    promotion_allowed: bool | None
    reason_codes: tuple[str, ...]
    safety_regression_delta: Number | None
    max_safety_regression: NonNegative


class FailureAnalysis(WireModel):
    """
    Why a proof failed.

    :param reasons: codes: those of the decision, then the proof's own criteria.
    :param details: a sentence for each reason: which condition, and by how much.
    :param additional_cases_needed: how many more cases per arm would do, where their number is what is missing.
    """

    summary: str
    reasons: tuple[str, ...]
    details: tuple[str, ...]
    reward_delta: Number | None
    safety_regression: Number | None
    additional_cases_needed: Count | None


class ProofBundle(WireModel):
    """``proof.json``: what lets somebody else check the decision."""

    schema_version: Version
    run_id: str
    candidate_run_id: str | None
    generated_at: AwareDatetime
    benchmark_suite: Suite
    baseline: ProofArm
    trained: ProofArm
    significance: ProofSignificance
    criteria: ProofCriteria
    artifacts: ProofPaths
    artifact_sha256: ProofDigests
    safety_benchmark: ProofSafety
    failure_analysis: FailureAnalysis | None
