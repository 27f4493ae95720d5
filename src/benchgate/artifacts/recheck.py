"""
Doing an artifact's arithmetic again.

A digest shows that a file was changed only as long as nobody mends the digest too. So everything that can be computed
from what lies beside a file is computed anew: means from samples, tests from means, reasons from tests.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from benchgate.aggregate import case_figures, mean, score_lower_bound
from benchgate.artifacts.build import evaluation_report, safety_of
from benchgate.artifacts.evidence_kinds import (
    ArmReport,
    EvaluationReport,
    ProofBundle,
    SafetyReport,
    SignificanceReport,
)
from benchgate.artifacts.proof import proof_bundle
from benchgate.artifacts.rebuild import family_in, of_the_run, read_artifact, rebuilt
from benchgate.artifacts.run_kinds import PromotionReport, RunRecord
from benchgate.canonical import run_id, sha256_hex
from benchgate.files import read_regular
from benchgate.gates import (
    PREFIX,
    SAFETY_TOLERANCE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchgate.comparison import VectorComparison
    from benchgate.wire import WireModel


def recheck(path: Path, artifact: WireModel) -> Iterator[str]:
    """Yield what in a well-formed artifact does not follow from what it is made of."""
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
    elif isinstance(artifact, RunRecord):
        yield from _record(folder, artifact)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


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


def _safety(folder: Path, report: SafetyReport, family: VectorComparison | None) -> Iterator[str]:
    means = (report.baseline_mean_safety_penalty, report.trained_mean_safety_penalty)
    delta = None if means[0] is None or means[1] is None else means[1] - means[0]
    yield from _same("safety_regression_delta", delta, report.safety_regression_delta)
    if report.promotion_allowed is not None:
        yield from _same("promotion_allowed", not report.reason_codes, report.promotion_allowed)
    if family is None:
        over = delta is not None and not delta <= report.max_safety_regression + SAFETY_TOLERANCE
        listed = f"{PREFIX}safety_regression" in report.reason_codes
        yield from _same("reason_codes: safety_regression", over, listed)
        return
    # What the run itself objected to stands in the evaluation; of an incomplete run no reason is drawn.
    sibling = read_artifact(folder / "evaluation.json", EvaluationReport)
    given = sibling.checkpoint_promotion.reason_codes if sibling else ()
    made = rebuilt(family, given, run_id=report.run_id, generated_at=report.generated_at)
    yield from _same("safety", _plain(safety_of(made)), _plain(report))


def _evaluation(report: EvaluationReport, family: VectorComparison | None) -> Iterator[str]:
    promotion = report.checkpoint_promotion
    allowed = not promotion.reason_codes
    yield from _same("checkpoint_promotion.promotion_allowed", allowed, promotion.promotion_allowed)
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
        **_plain(evaluation_report(made)),
        **{name: getattr(report, name) for name in labels},
    }
    yield from _same("evaluation", expected, _plain(report))


def _proof(folder: Path, proof: ProofBundle, family: VectorComparison | None) -> Iterator[str]:
    names, digests = proof.artifacts.model_dump(), proof.artifact_sha256.model_dump()
    for part, name in names.items():
        yield from _digest(folder / name, digests[part], f"artifacts.{part}")
    if family is None:
        yield "what it is made of cannot be read beside it"
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
    )
    by_file = {name: digests[part] for part, name in names.items()}
    expected, found = _plain(proof_bundle(made, by_file)), _plain(proof)
    if analysis and of_the_run(analysis.reasons):  # their sentences are in no file beside it
        for side in (expected, found):
            if side["failure_analysis"]:
                del side["failure_analysis"]["details"]
    yield from _same("proof", expected, found)


def _plain(model: WireModel) -> dict[str, Any]:
    return model.model_dump(mode="json")


def _codes(where: str, family: VectorComparison, found: Sequence[str]) -> Iterator[str]:
    """Compare reason codes; those that follow from the run alone are taken as they are."""
    expected = rebuilt(family, found).decision.reason_codes
    yield from _same(where, list(expected), list(found))


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
    record = read_artifact(folder / report.record_ref.path, RunRecord)
    if record is None:
        yield f"record_ref: {report.record_ref.path} cannot be read"
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
    family = family_in(folder / "evidence")
    if family is not None:
        yield from _codes("decision.reason_codes", family, decision.reason_codes)
    if decision.promotion_allowed and family is None:
        yield "decision: promote, and nothing that it was drawn from is there"


def _aggregates(record: RunRecord) -> Iterator[str]:
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
        actual = sha256_hex(read_regular(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        yield f"{where}: {path.name} cannot be read: {reason}"
        return
    if actual != expected:
        yield f"{where}: the SHA-256 of {path.name} is not the one written down"


def _same(where: str, expected: Any, found: Any) -> Iterator[str]:
    """Yield the first place where two JSON values differ; floats to nine digits."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected:
            yield from _same(f"{where}.{key}", expected[key], found.get(key))
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (wanted, there) in enumerate(zip(expected, found, strict=True)):
            yield from _same(f"{where}.{index}", wanted, there)
    elif isinstance(expected, float) and isinstance(found, (int, float)):
        if not math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{where} is {found!r}; what lies beside it gives {expected!r}"
    elif expected != found:
        yield f"{where} is {found!r}; what lies beside it gives {expected!r}"
