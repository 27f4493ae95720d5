"""
Recomputes the arithmetic of an artifact.

A digest does not show a change if the digest was updated too. So everything that follows from the file itself and from
those beside it is recomputed: means from samples, tests from means, reasons from tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.aggregate import mean
from benchgate.artifacts.build import evaluation_report, safety_of
from benchgate.artifacts.evidence_kinds import (
    ArmReport,
    EvaluationReport,
    ProofBundle,
    SafetyReport,
    SignificanceReport,
)
from benchgate.artifacts.proof import PROOF_PARTS, proof_bundle
from benchgate.artifacts.reading import read_artifact
from benchgate.artifacts.run_kinds import PromotionReport, RunRecord
from benchgate.artifacts.sealed_plan import SealedPlan
from benchgate.cassettes.manifest import CassetteManifest, file_faults
from benchgate.gates.decide import SAFETY_TOLERANCE
from benchgate.gates.looks import judged_at, number_of
from benchgate.gates.reason_codes import PREFIX
from benchgate.verify.agreement import digest_holds, plain, same
from benchgate.verify.rebuild import family_in, of_the_run, rebuilt
from benchgate.verify.recheck_record import recheck_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchgate.verify.rebuild import Family
    from benchgate.wire.model import WireModel


def recheck(path: Path, artifact: WireModel) -> Iterator[str]:
    """Yield where a well-formed artifact differs from its recomputation."""
    folder = path.parent
    if isinstance(artifact, ArmReport):
        yield from _arm(artifact)
    elif isinstance(artifact, SignificanceReport):
        yield from _significance(artifact, family_in(folder))
    elif isinstance(artifact, SafetyReport):
        yield from _safety(folder, artifact, family_in(folder))
    elif isinstance(artifact, EvaluationReport):
        yield from _evaluation(artifact, family_in(folder))
    elif isinstance(artifact, ProofBundle):
        yield from _proof(folder, artifact, family_in(folder))
    elif isinstance(artifact, PromotionReport):
        yield from _promotion(folder, artifact)
    elif isinstance(artifact, SealedPlan):
        yield from same("seal", artifact.own_seal(), artifact.seal)
    else:
        yield from _of_files(folder, artifact)


def _of_files(folder: Path, artifact: WireModel) -> Iterator[str]:
    if isinstance(artifact, RunRecord):
        yield from recheck_record(folder, artifact)
    elif isinstance(artifact, CassetteManifest):
        yield from file_faults(folder, artifact.files)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


def _arm(report: ArmReport) -> Iterator[str]:
    samples, metrics = report.samples, report.metrics
    yield from same("metrics.episodes", len(samples), metrics.episodes)
    yield from same("metrics.mean_reward", _mean([s.score for s in samples]), metrics.mean_reward)
    penalty = _mean([sample.safety_penalty for sample in samples])
    yield from same("metrics.mean_safety_penalty", penalty, metrics.mean_safety_penalty)
    for sample in samples:
        if sample.trials is not None:
            yield from same(f"samples.{sample.case_id}.score", _mean(sample.trials), sample.score)


def _significance(report: SignificanceReport, family: Family | None) -> Iterator[str]:
    figures = report.significance
    level = judged_at(report.policy, number_of(report.look)).alpha
    yield from same("significance.alpha", level, figures.alpha)
    if family is not None:
        expected = family.figures.significance.model_dump(mode="json")
        yield from same("significance", expected, figures.model_dump(mode="json"))
        return
    if figures.p_value is not None:
        yield from same(
            "significance.confidence_level", 1 - figures.p_value, figures.confidence_level
        )
    if figures.baseline_mean_reward is not None and figures.trained_mean_reward is not None:
        delta = figures.trained_mean_reward - figures.baseline_mean_reward
        yield from same("significance.mean_delta", delta, figures.mean_delta)


def _safety(folder: Path, report: SafetyReport, family: Family | None) -> Iterator[str]:
    means = (report.baseline_mean_safety_penalty, report.trained_mean_safety_penalty)
    delta = None if means[0] is None or means[1] is None else means[1] - means[0]
    yield from same("safety_regression_delta", delta, report.safety_regression_delta)
    if report.promotion_allowed is not None:
        yield from same("promotion_allowed", not report.reason_codes, report.promotion_allowed)
    if family is None:
        over = delta is not None and not delta <= report.max_safety_regression + SAFETY_TOLERANCE
        listed = f"{PREFIX}safety_regression" in report.reason_codes
        yield from same("reason_codes: safety_regression", over, listed)
        return
    # Reasons that follow from the run are only in evaluation.json.
    sibling = read_artifact(folder / "evaluation.json", EvaluationReport)
    given = sibling.checkpoint_promotion.reason_codes if sibling else ()
    made = rebuilt(family, given, run_id=report.run_id, generated_at=report.generated_at)
    expected, found = plain(safety_of(made)), plain(report)
    if of_the_run(report.reason_codes):  # their messages are in no file beside it
        del expected["diagnostics"], found["diagnostics"]
    yield from same("safety", expected, found)


def _evaluation(report: EvaluationReport, family: Family | None) -> Iterator[str]:
    promotion = report.checkpoint_promotion
    allowed = not promotion.reason_codes
    yield from same("checkpoint_promotion.promotion_allowed", allowed, promotion.promotion_allowed)
    if family is None:
        return
    made = rebuilt(family, promotion.reason_codes)
    labels = (
        "benchmark_suite_id",
        "baseline_policy_id",
        "candidate_policy_id",
        "generated_at_epoch_ms",
    )
    expected = {
        **plain(evaluation_report(made)),
        **{name: getattr(report, name) for name in labels},
    }
    yield from same("evaluation", expected, plain(report))


def _proof(folder: Path, proof: ProofBundle, family: Family | None) -> Iterator[str]:
    # Under their own names, not those in the proof: it could name any file.
    digests = proof.artifact_sha256.model_dump()
    for part, name in PROOF_PARTS.items():
        yield from digest_holds(folder / name, digests[part], f"artifacts.{part}")
    if family is None:
        yield "the files that it is built from cannot be read beside it"
        return
    analysis = proof.failure_analysis
    made = rebuilt(
        family,
        analysis.reasons if analysis else (),
        run_id=proof.run_id,
        candidate_run_id=proof.candidate_run_id,
        suite=proof.benchmark_suite,
        generated_at=proof.generated_at,
        names=(proof.baseline.checkpoint_id, proof.trained.checkpoint_id),
        min_confidence_level=proof.criteria.min_confidence_level,
        plan=proof.plan,
    )
    by_file = {name: digests[part] for part, name in PROOF_PARTS.items()}
    expected, found = plain(proof_bundle(made, by_file)), plain(proof)
    if analysis and of_the_run(analysis.reasons):  # their messages are in no file beside it
        for side in (expected, found):
            if side["failure_analysis"]:
                del side["failure_analysis"]["details"]
    yield from same("proof", expected, found)


def _promotion(folder: Path, report: PromotionReport) -> Iterator[str]:
    decision = report.decision
    yield from same("policy_sha256", report.policy.digest, report.policy_sha256)
    yield from same(
        "decision.promotion_allowed", not decision.reason_codes, decision.promotion_allowed
    )
    promoted = decision.outcome == "promote"
    yield from same("decision.outcome", promoted, decision.promotion_allowed)
    if report.record_ref is None:
        return
    record = read_artifact(folder / report.record_ref.path, RunRecord)
    if record is None:
        yield f"record_ref: {report.record_ref.path} cannot be read"
        return
    yield from same("record_ref.seq", record.seq, report.record_ref.seq)
    yield from same("task_class", record.report.task_class, report.task_class)
    recorded, found = plain(record), plain(report)
    if record.decision is not None:  # of which a promotion report has a part
        recorded["decision"] = {key: recorded["decision"].get(key) for key in found["decision"]}
    for part in ("subject", "decision", "verdict", "policy"):
        yield from same(part, recorded[part], found[part])
