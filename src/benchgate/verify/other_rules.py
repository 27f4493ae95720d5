"""
What can be checked whatever the rules are that a decision was made by: everything but the decision and its figures.

These are taken as they stand. What they say must agree with itself, and with the facts that no rule changes: which
results each side had, under which policy. So whoever believes such a decision believes the person who kept the record.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.build import metrics_of, samples_of
from benchgate.artifacts.evidence_kinds import (
    ArmReport,
    EvaluationReport,
    ProofBundle,
    SafetyReport,
    SignificanceReport,
)
from benchgate.artifacts.proof import PROOF_PARTS
from benchgate.artifacts.run_evidence import views_without_figures
from benchgate.gates.baseline import arm
from benchgate.verify.agreement import plain, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.figures import Arm
    from benchgate.wire.model import Artifact

Parts = dict[str, dict[str, Any]]
"""A part of the content of each file, by name."""

SIDES: Final = ("baseline.json", "trained.json")
PROOF: Final[dict[str, type[Artifact]]] = {
    "baseline.json": ArmReport,
    "trained.json": ArmReport,
    "significance.json": SignificanceReport,
    "safety.json": SafetyReport,
    "proof.json": ProofBundle,
}
"""A proof, and the files that it refers to."""
OF_A_COMPARISON: Final[dict[str, type[Artifact]]] = {**PROOF, "evaluation.json": EvaluationReport}
"""Every file that only a comparison has."""


def stated_faults(record: RunRecord) -> Iterator[str]:
    """Yield where a decision contradicts itself, or hides that nothing was called."""
    decision = record.decision
    allowed = not decision.reason_codes
    yield from same("decision.promotion_allowed", allowed, decision.promotion_allowed)
    yield from same("decision.outcome is promote", allowed, decision.outcome == "promote")
    said = [*decision.reason_codes, *decision.notes]
    yield from same("decision.remarks", said, [remark.code for remark in decision.remarks])
    asked_nobody = record.replays is not None
    yield from same("decision.notes: replayed", asked_nobody, "note_replayed" in decision.notes)
    results = [*record.report.per_case]
    if record.rerun is not None:
        results += record.rerun.per_case
    was_answered = any(result.http_cassettes for result in results)
    noted = "note_http_replayed" in decision.notes
    yield from same("decision.notes: http_replayed", was_answered, noted)


def stated_views(record: RunRecord, evidence: Path) -> dict[str, bytes]:
    """
    Return what is in the evidence of a record as far as no rules change it, by the name of the file.

    Which files of a comparison there are is for the rules to say, but each has all of its fields.

    :param evidence: the folder of it.
    :raises Unreadable: one of them cannot be read.
    """
    stated = {
        name: model.read_file(evidence / name, "evidence")
        for name, model in OF_A_COMPARISON.items()
        if name in record.evidence_files
    }
    parts = unruled(stated, _sides(record))
    decision = record.decision
    parts["significance.json"] = {"policy": plain(record.policy)}
    parts["evaluation.json"] = {
        "checkpoint_promotion": {
            "promotion_allowed": decision.promotion_allowed,
            "reason_codes": [*decision.reason_codes],
        }
    }
    parts["proof.json"]["rules"] = record.rules or None  # left out by rules 0
    if not decision.promotion_allowed:
        parts["proof.json"]["failure_analysis"] = {}
    there = {name: parts[name] for name in stated}
    return as_bytes(there) | views_without_figures(record)


def unruled(stated: Mapping[str, Any], of_run: Mapping[str, Arm] | None = None) -> Parts:
    """
    Return what is in the files of a comparison as far as no rules change it, by name.

    :param stated: what is in the files, by name.
    :param of_run: the sides likewise, as the record of their run has them.
    """
    known = of_run or {}
    proof: dict[str, Any] = {"artifacts": dict(PROOF_PARTS), "artifact_sha256": {}}
    parts: Parts = {"significance.json": {}, "safety.json": {}, "evaluation.json": {}}
    for name in SIDES:
        if name in stated:
            parts[name] = side_part(stated[name], known.get(name))
            proof[name.removesuffix(".json")] = parts[name]["metrics"]
    return parts | {"proof.json": proof}


def side_part(stated: ArmReport, of_run: Arm | None = None) -> dict[str, Any]:
    """
    Return what is in the file of a side by its samples alone: their scores from their trials, and the means.

    :param of_run: as the record of its run has it; which cases count is for the rules to say.
    """
    measured = stated.rescored
    samples: list[Any] = [plain(sample) for sample in measured.samples]
    if of_run is not None:
        known = {sample.case_id: plain(sample) for sample in samples_of(of_run)}
        known |= {one["case_id"]: one for one in samples if one["case_id"] in stated.imputed}
        samples = [known.get(one["case_id"]) for one in samples]
    # As facts imputed samples do not count, but in the means they do.
    whole = measured.model_copy(update={"imputed": ()}).arm
    return {"metrics": plain(metrics_of(whole)), "samples": samples}


def as_bytes(parts: Parts) -> dict[str, bytes]:
    """Return parts of files as these have them."""
    return {name: json.dumps(part).encode() for name, part in parts.items()}


def _sides(record: RunRecord) -> dict[str, Arm]:
    """Return the sides of a comparison by the names of their files, as far as a record has them."""
    sides = {"trained.json": arm(record.report)}
    baseline = record.compared_with
    if baseline is not None and baseline.run is not None:
        sides["baseline.json"] = arm(baseline.run, record.report)
    return sides
