"""Builds ``proof.json`` and the evidence files that it refers to."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from benchgate.artifacts.build import (
    arm_report,
    evaluation_report,
    metrics_of,
    safety_of,
    significance_report,
)
from benchgate.artifacts.evidence_kinds import (
    FailureAnalysis,
    ProofArm,
    ProofBundle,
    ProofCriteria,
    ProofDigests,
    ProofPaths,
    ProofSafety,
    ProofSignificance,
)
from benchgate.errors import counted
from benchgate.gates.decision import PREFIX
from benchgate.gates.rules import RULES
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.artifacts.build import Evidence
    from benchgate.gates.figures import Arm


PROOF_PARTS: Final = MappingProxyType(
    {
        "baseline_report": "baseline.json",
        "trained_report": "trained.json",
        "significance_report": "significance.json",
        "safety_regression_report": "safety.json",
    }
)


OF_TOO_FEW: Final = frozenset({f"{PREFIX}inconclusive_underpowered", f"{PREFIX}margin_not_shown"})
"""Reasons that more cases may take away."""


def evidence_files(evidence: Evidence) -> dict[str, bytes]:
    """Return the evidence files by name, as bytes: pytest and the command line write the same."""
    files = {
        "baseline.json": model_bytes(arm_report(evidence, "baseline")),
        "trained.json": model_bytes(arm_report(evidence, "trained")),
        "significance.json": model_bytes(significance_report(evidence)),
        "safety.json": model_bytes(safety_of(evidence)),
        "evaluation.json": model_bytes(evaluation_report(evidence)),
    }
    digests = {name: sha256_hex(data) for name, data in files.items()}
    return {**files, "proof.json": model_bytes(proof_bundle(evidence, digests))}


def proof_bundle(evidence: Evidence, digests: Mapping[str, str]) -> ProofBundle:
    """
    Build ``proof.json``.

    :param digests: SHA-256 of each file of :data:`PROOF_PARTS`, by file name.
    """
    figures = evidence.figures.significance
    policy = evidence.judged
    safety = safety_of(evidence)
    return ProofBundle(
        schema_version=SCHEMA_VERSION,
        run_id=evidence.run_id,
        candidate_run_id=evidence.candidate_run_id,
        generated_at=evidence.generated_at,
        benchmark_suite=evidence.suite,
        baseline=_proof_arm(evidence.names[0], evidence.arm("baseline")),
        trained=_proof_arm(evidence.names[1], evidence.arm("trained")),
        significance=ProofSignificance(
            p_value=figures.p_value,
            confidence_level=figures.confidence_level,
            passed=figures.passed,
        ),
        criteria=ProofCriteria(
            min_reward_delta=policy.min_delta,
            max_safety_regression=policy.max_safety_regression,
            max_p_value=policy.alpha,
            min_confidence_level=evidence.min_confidence_level,
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
        failure_analysis=_failure_analysis(evidence),
        look=evidence.decision.look,
        rules=RULES,
    )


def _proof_arm(name: str, arm: Arm) -> ProofArm:
    return ProofArm(checkpoint_id=name, **dict(metrics_of(arm)))


def _failure_analysis(evidence: Evidence) -> FailureAnalysis | None:
    if evidence.proven:
        return None
    reasons = [*evidence.reasons, *evidence.criteria_failed()]
    return FailureAnalysis(
        summary=f"{evidence.decision.outcome}: {counted(len(reasons), 'condition')} failed",
        reasons=tuple(remark.code for remark in reasons),
        details=tuple(remark.message for remark in reasons),
        says=tuple(remark.says for remark in reasons),
        reward_delta=evidence.figures.significance.mean_delta,
        safety_regression=evidence.figures.safety.delta,
        additional_cases_needed=_more_cases(evidence),
    )


def _more_cases(evidence: Evidence) -> int | None:
    """Return how many more cases each arm needs to find the target effect; ``None`` if it had enough."""
    needed = evidence.figures.significance.cases_needed
    if needed is None or OF_TOO_FEW.isdisjoint(evidence.decision.reason_codes):
        return None
    return max(0, needed - evidence.figures.smallest)
