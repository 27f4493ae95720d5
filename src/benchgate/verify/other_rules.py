"""
Checks what other rules decided than those of this benchgate: everything but the decision and its figures.

These are taken as they stand. What they say must agree with itself, and with the facts that no rule changes: which
results each side had, under which policy. So whoever believes such a decision believes the person who kept the record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.artifacts.build import samples_of
from benchgate.artifacts.evidence_kinds import (
    ArmReport,
    EvaluationReport,
    ProofBundle,
    SignificanceReport,
)
from benchgate.artifacts.run_evidence import OWN_RECORD, promotion_files
from benchgate.artifacts.run_kinds import RecordRef
from benchgate.errors import few
from benchgate.gates.baseline import arm
from benchgate.verify.agreement import content_faults, digest_holds, file_faults_of, plain, same

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Arm
    from benchgate.verify.facts import RecordBeside


OF_A_COMPARISON: Final = {
    "baseline.json",
    "trained.json",
    "significance.json",
    "safety.json",
    "evaluation.json",
    "proof.json",
}
"""Evidence that is there or not as the rules say: a run that was compared with nothing has none of it."""


def stated_faults(evidence: Path, record: RunRecord) -> Iterator[str]:
    """
    Yield where a record that other rules decided contradicts itself or its facts.

    :param evidence: the folder of its evidence.
    """
    yield from _decision(record.decision)
    yield from _replays(record)
    expected = _promotion_files(record, OWN_RECORD)
    yield from name_faults(record, expected, also=OF_A_COMPARISON)
    for name, data in expected.items():
        yield from file_faults_of(evidence / name, data, f"evidence/{name}")
    for name, side in _sides(record):
        if name in record.evidence_files:
            stated = ArmReport.read_file(evidence / name, "side of a comparison")
            yield from _samples(f"evidence/{name}", stated, side)
    yield from _repeated(evidence, record)


def stated_file_faults(path: Path, kind: str, data: bytes, beside: RecordBeside) -> Iterator[str]:
    """Yield where a file of evidence is not that of the record beside it, which other rules decided."""
    name = f"{kind}.json"
    expected = _promotion_files(*beside)
    digests = beside.record.evidence_files
    if name in expected:
        yield from content_faults(kind, expected[name], data, path.parent)
    elif name in digests:
        yield from digest_holds(path, digests[name], kind)
    else:
        yield "the record beside it has no such file"


def name_faults(
    record: RunRecord, expected: Collection[str], *, also: Collection[str] = ()
) -> Iterator[str]:
    """
    Yield which evidence files a record lacks, and which are none of its run.

    :param also: those that may be there.
    """
    named = set(record.evidence_files)
    for name in sorted({*(set(expected) - named), *(named - set(expected) - set(also))}):
        yield f"evidence/{name}: {'missing' if name in expected else 'not an evidence file of this run'}"


def _promotion_files(record: RunRecord, record_path: str) -> dict[str, bytes]:
    """Return the files that repeat decision and verdict, which no figure is needed for."""
    return promotion_files(
        record.report.suite.name,
        record.subject,
        decision=record.decision,
        policy=record.policy,
        verdict=record.verdict,
        record=RecordRef(seq=record.seq, path=record_path),
    )


def _decision(decision: CheckpointPromotionDecision) -> Iterator[str]:
    """Yield where a decision contradicts itself: any reason keeps a candidate from promotion, whatever the rules."""
    allowed = not decision.reason_codes
    yield from same("decision.promotion_allowed", allowed, decision.promotion_allowed)
    yield from same("decision.outcome is promote", allowed, decision.outcome == "promote")
    said = [*decision.reason_codes, *decision.notes]
    yield from same("decision.remarks", said, [remark.code for remark in decision.remarks])


def _replays(record: RunRecord) -> Iterator[str]:
    """Yield where the notes hide that nothing was called, which a promotion that is required may not be."""
    notes = record.decision.notes
    results = [*record.report.per_case]
    if record.rerun is not None:
        results += record.rerun.per_case
    asked_nobody = record.replays is not None
    yield from same("decision.notes: replayed", asked_nobody, "note_replayed" in notes)
    was_answered = any(result.http_cassettes for result in results)
    yield from same("decision.notes: http_replayed", was_answered, "note_http_replayed" in notes)


def _sides(record: RunRecord) -> Iterator[tuple[str, Arm]]:
    """Yield the name of the file of each side of a comparison, and the side as the record has it."""
    baseline = record.compared_with
    if baseline is not None and baseline.run is not None:
        yield "baseline.json", arm(baseline.run, record.report)
    yield "trained.json", arm(record.report)


def _samples(where: str, stated: ArmReport, side: Arm) -> Iterator[str]:
    """Yield which samples of a side are not the results of its run; which cases count is for the rules to say."""
    known = {sample.case_id: sample for sample in samples_of(side)}
    foreign = {str(sample.case_id) for sample in stated.measured if sample.case_id not in known}
    if foreign:
        yield f"{where}: has other cases than the run: {few(foreign)}"
    for sample in stated.measured:
        if sample.case_id in known:
            expected = plain(known[sample.case_id])
            yield from same(f"{where}.{sample.case_id}", expected, plain(sample))


def _repeated(evidence: Path, record: RunRecord) -> Iterator[str]:
    """Yield where the evidence repeats the decision or its policy otherwise than the record has it."""
    names = record.evidence_files
    decision = record.decision
    if "significance.json" in names:
        tests = SignificanceReport.read_file(evidence / "significance.json", "test")
        where = "evidence/significance.json.policy"
        yield from same(where, plain(record.policy), plain(tests.policy))
    if "evaluation.json" in names:
        path = evidence / "evaluation.json"
        said = EvaluationReport.read_file(path, "evaluation").checkpoint_promotion
        where = "evidence/evaluation.json.checkpoint_promotion"
        yield from same(
            f"{where}.promotion_allowed", decision.promotion_allowed, said.promotion_allowed
        )
        yield from same(f"{where}.reason_codes", [*decision.reason_codes], [*said.reason_codes])
    if "proof.json" in names:
        proof = ProofBundle.read_file(evidence / "proof.json", "proof")
        yield from same("evidence/proof.json.rules", record.rules, proof.rules)
        if proof.failure_analysis is None and not decision.promotion_allowed:
            yield "evidence/proof.json.failure_analysis: there is none, and the decision is no promotion"
