"""Finds the facts that files were computed from, and the files that a run of these facts would have written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.artifacts.build import Evidence
from benchgate.artifacts.evidence_kinds import ArmReport, ProofBundle, SignificanceReport
from benchgate.artifacts.proof import evidence_files
from benchgate.artifacts.run_evidence import OWN_RECORD, evidence_of, run_files
from benchgate.artifacts.run_kinds import PromotionReport, RecordRef, RunRecord
from benchgate.gates.comparison import Comparison
from benchgate.gates.decide import Decided, decide
from benchgate.gates.decision import PREFIX, Objection
from benchgate.gates.facts import VectorFacts

if TYPE_CHECKING:
    from pathlib import Path


GATE: Final = "gate:"


def files_of(
    folder: Path, record: RunRecord, decided: Decided, record_path: str = OWN_RECORD
) -> dict[str, bytes]:
    """
    Return the evidence files that a run would have written, by name.

    :param folder: of its evidence, where alone the name of a baseline's checkpoint is.
    :param decided: on its facts.
    :param record_path: of the record, relative to that folder.
    """
    names = (_baseline_name(folder, record), record.subject.id)
    evidence = evidence_of(record.report, decided, names, record.finished_at)
    reference = RecordRef(seq=record.seq, path=record_path)
    return run_files(evidence, record.subject, record.verdict, reference)


def _baseline_name(folder: Path, record: RunRecord) -> str:
    """Return what evidence calls a baseline: its system, or its checkpoint, which nothing but the proof names."""
    baseline = record.compared_with
    if baseline is None or baseline.run is None:
        return ""
    if record.subject.kind == "system":
        return baseline.run.system
    proof = ProofBundle.read_or_none(folder / "proof.json")
    return proof.baseline.checkpoint_id if proof else ""


class RecordBeside(NamedTuple):
    """The record that a folder of evidence belongs to, and its path from there."""

    record: RunRecord
    path: str


def record_beside(folder: Path) -> RecordBeside | None:
    """Return the record that a folder of evidence belongs to; ``None`` if it cannot be read."""
    promotion = PromotionReport.read_or_none(folder / "promotion.json")
    reference = promotion.record_ref if promotion else None
    if reference is None:
        return None
    record = RunRecord.read_or_none(folder / reference.path)
    return None if record is None else RecordBeside(record, reference.path)


def files_beside(folder: Path, beside: RecordBeside | None) -> dict[str, bytes] | None:
    """
    Return the evidence files that the facts beside them give: those of the record, or two lists of scores and a policy.

    The decision of a record is taken as it stands there, for the record says whether that follows.

    :returns: by name; ``None`` if the facts are not there.
    """
    if beside is None:
        return _files_of_sides(folder)
    record = beside.record
    decided = Decided(comparison=Comparison.of(record.facts), decision=record.decision)
    return files_of(folder, record, decided, beside.path)


def _files_of_sides(folder: Path) -> dict[str, bytes] | None:
    """Return the files that follow from two lists of scores, where the record of their run is not there."""
    before = ArmReport.read_or_none(folder / "baseline.json")
    after = ArmReport.read_or_none(folder / "trained.json")
    head = SignificanceReport.read_or_none(folder / "significance.json")
    proof = ProofBundle.read_or_none(folder / "proof.json")
    if before is None or after is None or head is None or proof is None:
        return None
    over_seen = None
    if head.look is not None:
        over_seen = head.look.over_seen
    facts = VectorFacts(
        policy=head.policy,
        sides=(before.arm, after.arm),
        look=head.look,
        over_seen=over_seen,
    )
    return evidence_files(
        Evidence(
            run_id=proof.run_id,
            candidate_run_id=proof.candidate_run_id,
            suite=proof.benchmark_suite,
            generated_at=proof.generated_at,
            names=(proof.baseline.checkpoint_id, proof.trained.checkpoint_id),
            decided=decide(_with_run(facts, proof)),
            min_confidence_level=proof.criteria.min_confidence_level,
        )
    )


def _with_run(facts: VectorFacts, proof: ProofBundle) -> VectorFacts:
    """
    Return the facts with what a proof says of its run, which no scores tell.

    Whatever that is, it keeps the candidate from promotion, and so may be believed.
    """
    if proof.failure_analysis is None:
        return facts
    failed = proof.failure_analysis
    told = {code.removeprefix(PREFIX) for code in decide(facts).decision.reason_codes}
    blockers = []
    objections = []
    for prefixed, text in zip(failed.reasons, failed.details, strict=True):
        code = prefixed.removeprefix(PREFIX)
        if code == prefixed or code in told:
            continue
        if code.startswith(GATE):
            objections.append(Objection(gate=code.removeprefix(GATE), text=text))
        else:
            blockers.append((code, text))
    return replace(facts, blockers=tuple(blockers), objections=tuple(objections))
