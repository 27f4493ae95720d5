"""
The models of the evidence files of a comparison, one for each file.

A value that is not known is ``null``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import AwareDatetime, Field

from benchgate.gates.claim_figures import Increase
from benchgate.gates.figures import (
    Arm,
    CaseFacts,
    SampleSizeSensitivityReport,
    SeedReproducibilityReport,
    Significance,
)
from benchgate.gates.looks import JudgedLook
from benchgate.gates.policy import GatePolicy
from benchgate.gates.rollback import RollbackGate
from benchgate.models import Suite
from benchgate.sentences.says import Says
from benchgate.statistics.summary import mean
from benchgate.wire.model import Artifact, Count, Name, NonNegative, Number, Sha256, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterable

Value = TypeVar("Value")


class ArmMetrics(WireModel):
    """Figures of one arm; ``episodes`` is its number of cases."""

    episodes: Count
    mean_reward: Number | None
    mean_safety_penalty: Number | None


class Sample(WireModel):
    """
    One case: the mean over its trials, and the score of each trial where that is known.

    :param cluster: what it shares with others, see ``case.toml``.
    :param facts: what else a run knows of it; ``None`` of plain vectors.
    """

    case_id: str | None
    score: Number
    safety_penalty: NonNegative | None
    trials: tuple[Number, ...] | None
    cluster: Name | None
    facts: CaseFacts | None

    @property
    def rescored(self) -> Sample:
        """The sample with the score that its trials give; as it is if that differs in the last digits alone."""
        if not self.trials:
            return self
        score = mean(self.trials)
        if math.isclose(score, self.score, rel_tol=1e-9, abs_tol=1e-12):
            return self
        return self.model_copy(update={"score": score})


def _if_known_of_each(values: Iterable[Value | None]) -> tuple[Value, ...] | None:
    """Return the values of all cases; ``None`` if one is not known: such a column is whole or not there."""
    known = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return tuple(known)


def _if_known_of_any(values: tuple[Value | None, ...]) -> tuple[Value | None, ...] | None:
    """Return the values of all cases, some of which may not be known; ``None`` if none is."""
    if all(value is None for value in values):
        return None
    return values


class ArmReport(Artifact):
    """
    ``baseline.json`` and ``trained.json``: one side of a comparison, also accepted as a sample file.

    :param imputed: samples that were not measured and count as the worst score, by the policy's ``missing``.
    """

    report_kind: Literal["baseline", "trained"]
    run_id: str
    generated_at: AwareDatetime
    benchmark_suite: Suite
    metrics: ArmMetrics
    samples: tuple[Sample, ...]
    imputed: tuple[str, ...]

    @property
    def measured(self) -> tuple[Sample, ...]:
        """The samples without the imputed ones, which are no facts about this side."""
        return tuple(sample for sample in self.samples if sample.case_id not in self.imputed)

    @property
    def rescored(self) -> ArmReport:
        """The side with the scores that its trials give."""
        samples = tuple(sample.rescored for sample in self.samples)
        return self.model_copy(update={"samples": samples})

    @property
    def arm(self) -> Arm:
        """The side as it was measured."""
        samples = self.measured
        penalties = tuple(sample.safety_penalty for sample in samples)
        return Arm(
            scores=tuple(sample.score for sample in samples),
            case_ids=_if_known_of_each(sample.case_id for sample in samples),
            penalties=_if_known_of_any(penalties),
            trials=_if_known_of_each(sample.trials for sample in samples),
            clusters=tuple(sample.cluster for sample in samples),
            facts=_if_known_of_each(sample.facts for sample in samples),
        )


class SignificanceReport(Artifact):
    """
    ``significance.json``: the results of the tests, and the policy that says which of them decides.

    :param look: how often the baseline was looked at; its alpha is that of the tests.
    """

    report_kind: Literal["significance"]
    run_id: str
    generated_at: AwareDatetime
    benchmark_suite: Suite
    policy: GatePolicy
    significance: Significance
    look: JudgedLook | None


class SafetyReport(Artifact):
    """
    ``safety.json``: the rise of the mean safety penalty; ``null`` where no penalties were given.

    :param pass_chances: true rises, each with the probability that the check would have passed it at this size.
    """

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
    pass_chances: tuple[tuple[Number, Number | None], ...]


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
    """Difference of candidate and baseline, with the spread of each."""

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
    """The decision, as a trainer needs it: whether the checkpoint may be promoted, and why not."""

    promotion_allowed: bool
    safety_regression: Number | None
    max_safety_regression: NonNegative
    reason_codes: tuple[str, ...]


class EvaluationReport(Artifact):
    """``evaluation.json``: improvement and promotion in one; what was not evaluated is ``null``."""

    benchmark_suite_id: str
    baseline_policy_id: str
    candidate_policy_id: str
    generated_at_epoch_ms: Count
    policy_improvement: PolicyImprovement
    seed_reproducibility: SeedReproducibilityReport | None
    sample_size_sensitivity: SampleSizeSensitivityReport | None
    cost: Increase | None
    checkpoint_promotion: CheckpointPromotion
    rollback_gate: RollbackGate


class ProofArm(WireModel):
    """One side of a proof: its label and its means."""

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
    """The thresholds that the proof must meet; ``null`` is no threshold."""

    min_reward_delta: Number
    max_safety_regression: NonNegative
    max_p_value: Number
    min_confidence_level: Number | None


class ProofPaths(WireModel):
    """The files that a proof refers to, relative to its own folder."""

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
    :param details: a sentence for each reason: which condition failed, and by how much.
    :param says: the same as data, for each reason as a remark of a decision has it.
    :param additional_cases_needed: how many more cases each arm needs, if the test had too few.
    """

    summary: str
    reasons: tuple[str, ...]
    details: tuple[str, ...]
    says: tuple[tuple[Says, ...], ...]
    reward_delta: Number | None
    safety_regression: Number | None
    additional_cases_needed: Count | None


class ProofBundle(Artifact):
    """
    ``proof.json``: the decision, and the digests of the files it rests on, so that others can check it.

    :param rules: by which it was decided; left out as in a record.
    """

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
    look: JudgedLook | None
    rules: Count = Field(default=0, exclude_if=lambda number: number == 0)
