"""
Recomputes what an artifact says.

A digest does not show a change if the digest was updated too. So the facts are looked for beside the file, the files
that follow from them are built again, and compared: means from samples, tests from means, reasons from tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
from benchgate.gates.decision import PREFIX
from benchgate.gates.looks import judged_at, number_of
from benchgate.gates.policy import TOLERANCE
from benchgate.gates.rules import RULES
from benchgate.verify.agreement import content_faults, digest_holds, plain, same
from benchgate.verify.facts import files_beside, record_beside
from benchgate.verify.other_rules import stated_file_faults
from benchgate.verify.recheck_record import recheck_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchgate.verify.facts import RecordBeside
    from benchgate.wire.model import WireModel

EVIDENCE = ("baseline", "trained", "significance", "safety", "evaluation", "proof", "promotion")


class Rechecked(NamedTuple):
    """
    What was found of an artifact.

    :param rules: by which was decided what it says; those of this benchgate if it follows from no rules.
    :param faults: where it differs from its recomputation.
    """

    rules: int
    faults: tuple[str, ...]


def recheck(path: Path, kind: str, data: bytes, artifact: WireModel) -> Rechecked:
    """Recompute what a well-formed artifact says, as far as it was decided by the rules of this benchgate."""
    if isinstance(artifact, RunRecord):
        return Rechecked(artifact.rules, tuple(recheck_record(path.parent, artifact)))
    if kind in EVIDENCE:
        return _rechecked_evidence(path, kind, data, artifact)
    if isinstance(artifact, CassetteManifest):
        return Rechecked(RULES, tuple(file_faults(path.parent, artifact.files)))
    if isinstance(artifact, Pin):
        return Rechecked(RULES, tuple(_pin(path, artifact)))
    return Rechecked(RULES, ())


def _pin(path: Path, artifact: Pin) -> Iterator[str]:
    pin = plain(artifact)
    record, sha256 = RunRecord.read_digested(path.with_name(FILE_NAME), "record")
    yield from same("pin", pin | stated(record, sha256), pin)
    if not artifact.is_of(record):
        yield "pin.extends: not a pin for each record that the baseline was extended from"


def _rechecked_evidence(path: Path, kind: str, data: bytes, artifact: WireModel) -> Rechecked:
    beside = record_beside(path.parent)
    rules = _rules_of(path, artifact, beside)
    how = _recomputed if rules == RULES else _stated
    faults: list[str] = []
    # Forged facts may make any of the computations raise: that is a finding too.
    try:
        faults += how(path, kind, data, artifact, beside)
    except Exception as error:
        faults.append(f"its facts cannot be rechecked: {type(error).__name__}: {error}")
    return Rechecked(rules, tuple(faults))


def _rules_of(path: Path, artifact: WireModel, beside: RecordBeside | None) -> int:
    """Return the rules by which evidence was decided, as the record beside it says, or else the proof."""
    if beside is not None:
        return beside.record.rules
    if isinstance(artifact, ProofBundle):
        return artifact.rules
    proof = ProofBundle.read_or_none(path.with_name("proof.json"))
    return RULES if proof is None else proof.rules


def _recomputed(
    path: Path, kind: str, data: bytes, artifact: WireModel, beside: RecordBeside | None
) -> Iterator[str]:
    expected = files_beside(path.parent, beside)
    if expected is not None and f"{kind}.json" in expected:
        by = None
        if beside is not None:
            by = beside.record.harness.benchgate
        yield from content_faults(kind, expected[f"{kind}.json"], data, path.parent, by=by)
    elif isinstance(artifact, PromotionReport):
        yield from _promotion(artifact)
    elif expected is not None:
        yield "no comparison with the facts beside it has such a file"
    elif isinstance(artifact, ProofBundle):
        yield from _parts(path, artifact)
        yield "the files that it is built from cannot be read beside it"
    else:
        yield from _alone(artifact)


def _stated(
    path: Path, kind: str, data: bytes, artifact: WireModel, beside: RecordBeside | None
) -> Iterator[str]:
    """Yield the faults of evidence that other rules decided: its figures are taken as they stand."""
    if beside is not None:
        yield from stated_file_faults(path, kind, data, beside)
    elif isinstance(artifact, PromotionReport):
        yield from _promotion(artifact)
    elif isinstance(artifact, ProofBundle):
        yield from _parts(path, artifact)
        yield from _sides(path, artifact)
    elif isinstance(artifact, ArmReport):
        yield from _arm(artifact)


def _parts(path: Path, proof: ProofBundle) -> Iterator[str]:
    """Yield which files beside a proof are not those that it was built from."""
    for part, sha256 in proof.artifact_sha256.model_dump().items():
        yield from digest_holds(path.parent / PROOF_PARTS[part], sha256, f"artifacts.{part}")


def _sides(path: Path, proof: ProofBundle) -> Iterator[str]:
    """Yield where a proof gives its sides other means than their files have, which no rule changes."""
    for name, side in (("baseline", proof.baseline), ("trained", proof.trained)):
        report = ArmReport.read_file(path.with_name(f"{name}.json"), "side of a comparison")
        means = plain(side)
        del means["checkpoint_id"]
        yield from same(name, plain(report.metrics), means)


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
