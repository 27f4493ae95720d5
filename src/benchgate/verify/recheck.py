"""
Recomputes what an artifact says.

A digest does not show a change if the digest was updated too. So the facts are looked for beside the file, the files
that follow from them are built again, and compared: means from samples, tests from means, reasons from tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.aggregate import mean
from benchgate.artifacts.evidence_kinds import (
    ArmReport,
    EvaluationReport,
    ProofBundle,
    SafetyReport,
    SignificanceReport,
)
from benchgate.artifacts.pin import Pin, stated
from benchgate.artifacts.proof import PROOF_PARTS
from benchgate.artifacts.run_kinds import PromotionReport, RunRecord
from benchgate.cassettes.manifest import CassetteManifest, file_faults
from benchgate.gates.baseline import FILE_NAME
from benchgate.gates.claim_reasons import TOLERANCE
from benchgate.gates.decision import PREFIX
from benchgate.gates.looks import judged_at, number_of
from benchgate.verify.agreement import content_faults, digest_holds, plain, same
from benchgate.verify.facts import files_beside
from benchgate.verify.recheck_record import recheck_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchgate.wire.model import WireModel

EVIDENCE = ("baseline", "trained", "significance", "safety", "evaluation", "proof", "promotion")


def recheck(path: Path, kind: str, data: bytes, artifact: WireModel) -> Iterator[str]:
    """Yield where a well-formed artifact differs from its recomputation."""
    if isinstance(artifact, RunRecord):
        yield from recheck_record(path.parent, artifact)
    elif isinstance(artifact, CassetteManifest):
        yield from file_faults(path.parent, artifact.files)
    elif isinstance(artifact, Pin):
        pin = plain(artifact)
        record, sha256 = RunRecord.read_digested(path.with_name(FILE_NAME), "record")
        yield from same("pin", pin | stated(record, sha256), pin)
        if not artifact.is_of(record):
            yield "pin.extends: not a pin for each record that the baseline was extended from"
    elif kind in EVIDENCE:
        # Forged facts may make any of the computations raise: that is a finding too.
        try:
            yield from _evidence(path, kind, data, artifact)
        except Exception as error:
            yield f"its facts cannot be rechecked: {type(error).__name__}: {error}"


def _evidence(path: Path, kind: str, data: bytes, artifact: WireModel) -> Iterator[str]:
    expected = files_beside(path.parent)
    if expected is not None and f"{kind}.json" in expected:
        yield from content_faults(kind, expected[f"{kind}.json"], data, path.parent)
    elif isinstance(artifact, PromotionReport):
        yield from _promotion(artifact)
    elif expected is not None:
        yield "no comparison with the facts beside it has such a file"
    elif isinstance(artifact, ProofBundle):
        for part, sha256 in artifact.artifact_sha256.model_dump().items():
            yield from digest_holds(path.parent / PROOF_PARTS[part], sha256, f"artifacts.{part}")
        yield "the files that it is built from cannot be read beside it"
    else:
        yield from _alone(artifact)


def _alone(artifact: WireModel) -> Iterator[str]:
    """Yield where a file contradicts itself, if the facts that it follows from are not beside it."""
    if isinstance(artifact, ArmReport):
        yield from _arm(artifact)
    elif isinstance(artifact, SignificanceReport):
        yield from _significance(artifact)
    elif isinstance(artifact, SafetyReport):
        yield from _safety(artifact)
    elif isinstance(artifact, EvaluationReport):
        promotion = artifact.checkpoint_promotion
        allowed = not promotion.reason_codes
        yield from same(
            "checkpoint_promotion.promotion_allowed", allowed, promotion.promotion_allowed
        )


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return mean(numbers) if numbers and len(numbers) == len(values) else None


def _arm(report: ArmReport) -> Iterator[str]:
    samples, metrics = report.samples, report.metrics
    yield from same("metrics.episodes", len(samples), metrics.episodes)
    yield from same("metrics.mean_reward", _mean([s.score for s in samples]), metrics.mean_reward)
    penalty = _mean([sample.safety_penalty for sample in samples])
    yield from same("metrics.mean_safety_penalty", penalty, metrics.mean_safety_penalty)
    for sample in samples:
        if sample.trials is not None:
            yield from same(f"samples.{sample.case_id}.score", _mean(sample.trials), sample.score)


def _significance(report: SignificanceReport) -> Iterator[str]:
    figures = report.significance
    level = judged_at(report.policy, number_of(report.look)).alpha
    yield from same("significance.alpha", level, figures.alpha)
    if figures.p_value is not None:
        yield from same(
            "significance.confidence_level", 1 - figures.p_value, figures.confidence_level
        )
    if figures.baseline_mean_reward is not None and figures.trained_mean_reward is not None:
        delta = figures.trained_mean_reward - figures.baseline_mean_reward
        yield from same("significance.mean_delta", delta, figures.mean_delta)


def _safety(report: SafetyReport) -> Iterator[str]:
    means = (report.baseline_mean_safety_penalty, report.trained_mean_safety_penalty)
    delta = None if means[0] is None or means[1] is None else means[1] - means[0]
    yield from same("safety_regression_delta", delta, report.safety_regression_delta)
    if report.promotion_allowed is not None:
        yield from same("promotion_allowed", not report.reason_codes, report.promotion_allowed)
    over = delta is not None and not delta <= report.max_safety_regression + TOLERANCE
    listed = f"{PREFIX}safety_regression" in report.reason_codes
    yield from same("reason_codes: safety_regression", over, listed)


def _promotion(report: PromotionReport) -> Iterator[str]:
    if report.record_ref is not None:
        yield f"record_ref: {report.record_ref.path} cannot be read"
    decision = report.decision
    allowed = not decision.reason_codes
    yield from same("policy_sha256", report.policy.digest, report.policy_sha256)
    yield from same("decision.promotion_allowed", allowed, decision.promotion_allowed)
    yield from same("decision.outcome", decision.outcome == "promote", decision.promotion_allowed)
