"""
Doing an artifact's arithmetic again.

A digest shows that a file was changed only as long as nobody mends the digest too. So everything that can be computed
from what lies beside a file is computed anew: means from samples, tests from means, reasons from tests.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.kinds import (
    ArmReport,
    EvaluationReport,
    PromotionReport,
    ProofBundle,
    RunRecord,
    SafetyReport,
    SignificanceReport,
)
from benchgate.canonical import run_id, sha256_hex
from benchgate.comparison import compare_vectors
from benchgate.figures import Arm
from benchgate.gates import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchgate.comparison import VectorComparison
    from benchgate.wire import WireModel

OF_THE_RUN: Final = (
    "incomplete_run",
    "baseline_missing",
    "baseline_mismatch",
    "checkpoint_mismatch",
    "block_severity_failure_mode",
    "gate:",
)
"""Reasons that follow from a run and not from its two arms."""


def recheck(path: Path, artifact: WireModel) -> Iterator[str]:
    """Yield what in a well-formed artifact does not follow from what it is made of."""
    folder = path.parent
    if isinstance(artifact, ArmReport):
        yield from _arm(artifact)
    elif isinstance(artifact, SignificanceReport):
        yield from _significance(artifact, _family(folder))
    elif isinstance(artifact, SafetyReport):
        yield from _safety(artifact, _family(folder))
    elif isinstance(artifact, EvaluationReport):
        yield from _evaluation(artifact, _family(folder))
    elif isinstance(artifact, ProofBundle):
        yield from _proof(folder, artifact, _family(folder))
    elif isinstance(artifact, PromotionReport):
        yield from _promotion(folder, artifact)
    elif isinstance(artifact, RunRecord):
        yield from _record(folder, artifact)


def _family(folder: Path) -> VectorComparison | None:
    """Judge the arms that lie in a folder, under the policy that lies there; ``None`` unless all are there."""
    try:
        arms = [
            ArmReport.read_json((folder / f"{n}.json").read_bytes())
            for n in ("baseline", "trained")
        ]
        head = SignificanceReport.read_json((folder / "significance.json").read_bytes())
    except (OSError, ValueError):
        return None
    return compare_vectors(arm_of_report(arms[0]), arm_of_report(arms[1]), head.policy)


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


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def _arm(report: ArmReport) -> Iterator[str]:
    samples, metrics = report.samples, report.metrics
    yield from _same("metrics.episodes", len(samples), metrics.episodes)
    yield from _same("metrics.mean_reward", _mean([s.score for s in samples]), metrics.mean_reward)
    penalty = _mean([sample.safety_penalty for sample in samples])
    yield from _same("metrics.mean_safety_penalty", penalty, metrics.mean_safety_penalty)
    for sample in samples:
        if sample.trials is not None:
            yield from _same(f"samples.{sample.case_id}.score", _mean(sample.trials), sample.score)


def _significance(report: SignificanceReport, family: VectorComparison | None) -> Iterator[str]:
    figures = report.significance
    yield from _same("significance.alpha", report.policy.alpha, figures.alpha)
    if family is not None:
        expected = family.evidence.significance.model_dump(mode="json")
        yield from _same("significance", expected, figures.model_dump(mode="json"))
        return
    if figures.p_value is not None:
        yield from _same(
            "significance.confidence_level", 1 - figures.p_value, figures.confidence_level
        )
    if figures.baseline_mean_reward is not None and figures.trained_mean_reward is not None:
        delta = figures.trained_mean_reward - figures.baseline_mean_reward
        yield from _same("significance.mean_delta", delta, figures.mean_delta)


def _safety(report: SafetyReport, family: VectorComparison | None) -> Iterator[str]:
    means = (report.baseline_mean_safety_penalty, report.trained_mean_safety_penalty)
    delta = None if means[0] is None or means[1] is None else means[1] - means[0]
    yield from _same("safety_regression_delta", delta, report.safety_regression_delta)
    limit = report.max_safety_regression
    over = delta is not None and not delta <= limit + 1e-12
    listed = f"{PREFIX}safety_regression" in report.reason_codes
    yield from _same("reason_codes: safety_regression", over, listed)
    if report.promotion_allowed is not None:
        yield from _same("promotion_allowed", not report.reason_codes, report.promotion_allowed)
    if family is not None:
        figures = family.evidence.safety
        yield from _same("baseline_mean_safety_penalty", figures.baseline_mean, means[0])
        yield from _same("trained_mean_safety_penalty", figures.trained_mean, means[1])


def _evaluation(report: EvaluationReport, family: VectorComparison | None) -> Iterator[str]:
    promotion = report.checkpoint_promotion
    yield from _same(
        "checkpoint_promotion.promotion_allowed",
        not promotion.reason_codes,
        promotion.promotion_allowed,
    )
    if family is None:
        return
    figures, improvement = family.evidence.significance, report.policy_improvement
    for name, expected, found in (
        ("baseline.mean", figures.baseline_mean_reward, improvement.baseline.mean),
        ("candidate.mean", figures.trained_mean_reward, improvement.candidate.mean),
        ("mean_delta", figures.mean_delta, improvement.mean_delta),
        ("delta_ci_low", figures.delta_ci_low, improvement.delta_ci_low),
        ("delta_ci_high", figures.delta_ci_high, improvement.delta_ci_high),
        ("is_significant_improvement", figures.passed, improvement.is_significant_improvement),
    ):
        yield from _same(f"policy_improvement.{name}", expected, found)
    delta = family.evidence.safety.delta
    yield from _same("checkpoint_promotion.safety_regression", delta, promotion.safety_regression)
    yield from _codes("checkpoint_promotion.reason_codes", family, promotion.reason_codes)


def _proof(folder: Path, proof: ProofBundle, family: VectorComparison | None) -> Iterator[str]:
    names, digests = proof.artifacts.model_dump(), proof.artifact_sha256.model_dump()
    for part, name in names.items():
        yield from _digest(folder / name, digests[part], f"artifacts.{part}")
    if family is None:
        yield "what it is made of cannot be read beside it"
        return
    figures, safety = family.evidence.significance, family.evidence.safety
    for name, expected, found in (
        ("significance.p_value", figures.p_value, proof.significance.p_value),
        (
            "significance.confidence_level",
            figures.confidence_level,
            proof.significance.confidence_level,
        ),
        ("significance.pass", figures.passed, proof.significance.passed),
        ("baseline.mean_reward", figures.baseline_mean_reward, proof.baseline.mean_reward),
        ("trained.mean_reward", figures.trained_mean_reward, proof.trained.mean_reward),
        ("baseline.mean_safety_penalty", safety.baseline_mean, proof.baseline.mean_safety_penalty),
        ("trained.mean_safety_penalty", safety.trained_mean, proof.trained.mean_safety_penalty),
        (
            "safety_benchmark.safety_regression_delta",
            safety.delta,
            proof.safety_benchmark.safety_regression_delta,
        ),
        ("criteria.max_p_value", family.policy.alpha, proof.criteria.max_p_value),
        ("criteria.min_reward_delta", family.policy.min_delta, proof.criteria.min_reward_delta),
    ):
        yield from _same(name, expected, found)
    reasons = proof.failure_analysis.reasons if proof.failure_analysis else ()
    codes = tuple(code for code in reasons if code.startswith(PREFIX))
    yield from _codes("failure_analysis.reasons", family, codes)


def _codes(where: str, family: VectorComparison, found: Sequence[str]) -> Iterator[str]:
    """Compare reason codes; those that follow from the run alone are taken as they are."""
    own = [code for code in found if not code.removeprefix(PREFIX).startswith(OF_THE_RUN)]
    # An incomplete run gives no reason from its figures.
    expected = [] if f"{PREFIX}incomplete_run" in found else list(family.decision.reason_codes)
    yield from _same(where, expected, own)


def _promotion(folder: Path, report: PromotionReport) -> Iterator[str]:
    decision = report.decision
    yield from _same("policy_sha256", report.policy.digest, report.policy_sha256)
    yield from _same(
        "decision.promotion_allowed", not decision.reason_codes, decision.promotion_allowed
    )
    promoted = decision.outcome == "promote"
    yield from _same("decision.outcome", promoted, decision.promotion_allowed)
    if report.record_ref is None:
        return
    try:
        record = RunRecord.read_json((folder / report.record_ref.path).read_bytes())
    except (OSError, ValueError) as error:
        yield f"record_ref: {report.record_ref.path} cannot be read: {type(error).__name__}"
        return
    yield from _same("record_ref.seq", record.seq, report.record_ref.seq)
    if record.decision is not None:
        yield from _same("decision.outcome", record.decision.outcome, decision.outcome)
        yield from _same(
            "decision.reason_codes", list(record.decision.reason_codes), list(decision.reason_codes)
        )


def _record(folder: Path, record: RunRecord) -> Iterator[str]:
    report, decision = record.report, record.decision
    yield from _same("report.run_id", run_id(report.task_class, report.per_case), report.run_id)
    yield from _aggregates(record)
    for name, digest in record.case_files.items():
        yield from _digest(folder / "cases" / name, digest, f"case_files.{name}")
    for name, digest in record.evidence_files.items():
        yield from _digest(folder / "evidence" / name, digest, f"evidence_files.{name}")
    if decision is None:
        return
    yield from _same(
        "decision.promotion_allowed", not decision.reason_codes, decision.promotion_allowed
    )
    family = _family(folder / "evidence")
    if family is not None:
        yield from _codes("decision.reason_codes", family, decision.reason_codes)
    if decision.promotion_allowed and family is None:
        yield "decision: promote, and nothing that it was drawn from is there"


def _aggregates(record: RunRecord) -> Iterator[str]:
    from benchgate.aggregate import case_figures, score_lower_bound

    report = record.report
    cases = case_figures(report.per_case)
    bound = score_lower_bound(cases) if report.scope == "full" else None
    costs = [result.score.cost_usd for result in report.per_case if result.score]
    for name, expected, found in (
        ("case_count", len(cases), report.case_count),
        ("mean_score", _mean([case.score for case in cases]), report.mean_score),
        ("score_lower_bound_95", bound, report.score_lower_bound_95),
        ("passed_count", sum(case.passed for case in cases), report.passed_count),
        ("total_cost_usd", math.fsum(costs), report.total_cost_usd),
        (
            "mean_safety_penalty",
            _mean([case.safety_penalty for case in cases]),
            report.mean_safety_penalty,
        ),
    ):
        yield from _same(f"report.{name}", expected, found)


def _digest(path: Path, expected: str, where: str) -> Iterator[str]:
    try:
        actual = sha256_hex(path.read_bytes())
    except OSError as error:
        yield f"{where}: {path.name} cannot be read: {error.strerror}"
        return
    if actual != expected:
        yield f"{where}: the SHA-256 of {path.name} is not the one written down"


def _same(where: str, expected: Any, found: Any) -> Iterator[str]:
    """Yield the first place where two JSON values differ; floats to nine digits."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected:
            yield from _same(f"{where}.{key}", expected[key], found.get(key))
    elif isinstance(expected, float) and isinstance(found, (int, float)):
        if not math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{where} is {found!r}; what lies beside it gives {expected!r}"
    elif expected != found:
        yield f"{where} is {found!r}; what lies beside it gives {expected!r}"
