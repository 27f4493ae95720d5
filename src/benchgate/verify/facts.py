"""Finds the facts that files were computed from, and the files that a run of these facts would have written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.artifacts.build import Comparison
from benchgate.artifacts.evidence_kinds import ArmReport, ProofBundle, SignificanceReport
from benchgate.artifacts.proof import evidence_files
from benchgate.artifacts.run_evidence import (
    OWN_RECORD,
    comparison_of,
    run_files,
    stopped_against,
)
from benchgate.artifacts.run_kinds import PromotionReport, RecordRef, RunRecord
from benchgate.gates.decide import decide
from benchgate.gates.decision import PREFIX, Facts, GateInput, Objection
from benchgate.gates.judge import decision_of
from benchgate.gates.looks import judged_at, number_of
from benchgate.gates.vectors import weigh_arms

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.run_side import RunSide


GATE: Final = "gate:"
OF_THE_RUN: Final = (
    "incomplete_run",
    "too_many_unscored",
    "new_cases_decide",
    "cases_changed_the_answer",
    "observer_not_trusted",
    "checkpoint_mismatch",
    "block_severity_failure_mode",
    GATE,
)
"""Reasons that follow from a run and not from its two arms, so that they cannot be recomputed from these."""


def facts_of(record: RunRecord) -> Facts:
    """Return the facts of a run."""
    return Facts(
        report=record.report,
        policy=record.policy,
        baseline=record.compared_with,
        beside=record.rerun,
        look=record.look,
        checkpoint_problems=record.checkpoint_problems,
        objections=record.objections,
        episodes=record.episodes,
        replays=record.replays,
        labels=record.labels,
    )


def rebuilt_files(
    folder: Path,
    record: RunRecord,
    facts: Facts,
    decision: CheckpointPromotionDecision | None = None,
    record_path: str = OWN_RECORD,
) -> tuple[CheckpointPromotionDecision, dict[str, bytes]]:
    """
    Return the decision on a run, and the evidence files that it would have written, by name.

    :param folder: of its evidence, where alone the name of a baseline's checkpoint is.
    :param decision: of the record, where that is checked elsewhere.
    :param record_path: of the record, relative to that folder.
    """
    figures, recomputed = decision_of(facts)
    decision = decision or recomputed
    compared = facts.baseline.run if facts.baseline else None
    comparison = comparison_of(
        record.report,
        names=(_baseline_name(folder, record, compared), record.subject.id),
        policy=record.policy,
        weighed=figures,
        decision=decision,
        finished=record.finished_at,
        before=stopped_against(compared, record.report, decision),
    )
    reference = RecordRef(seq=record.seq, path=record_path)
    return decision, run_files(comparison, record.subject, record.verdict, reference)


def _baseline_name(folder: Path, record: RunRecord, baseline: RunSide | None) -> str:
    """Return what evidence calls a baseline: its system, or its checkpoint, which nothing but the proof names."""
    if baseline is None:
        return ""
    if record.subject.kind == "system":
        return baseline.system
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
        return _proof_files(folder)
    facts = facts_of(beside.record)
    return rebuilt_files(folder, beside.record, facts, beside.record.decision, beside.path)[1]


def _proof_files(folder: Path) -> dict[str, bytes] | None:
    before = ArmReport.read_or_none(folder / "baseline.json")
    after = ArmReport.read_or_none(folder / "trained.json")
    head = SignificanceReport.read_or_none(folder / "significance.json")
    proof = ProofBundle.read_or_none(folder / "proof.json")
    if before is None or after is None or head is None or proof is None:
        return None
    look, failed = head.look, proof.failure_analysis
    over_seen = None
    if look is not None:
        over_seen = look.over_seen
    judged = judged_at(head.policy, number_of(look))
    figures, blockers = weigh_arms(before.arm, after.arm, judged)
    remarks = zip(failed.reasons, failed.details, strict=True) if failed else ()
    reasons = [(code.removeprefix(PREFIX), text) for code, text in remarks]
    reasons = [(code, text) for code, text in reasons if code.startswith(OF_THE_RUN)]
    decision = decide(
        GateInput(
            policy=head.policy,
            figures=figures,
            look=look,
            over_seen=over_seen,
            blockers=(*blockers, *(one for one in reasons if not one[0].startswith(GATE))),
            objections=tuple(
                Objection(gate=code.removeprefix(GATE), text=text)
                for code, text in reasons
                if code.startswith(GATE)
            ),
        )
    )
    return evidence_files(
        Comparison(
            run_id=proof.run_id,
            candidate_run_id=proof.candidate_run_id,
            suite=proof.benchmark_suite,
            generated_at=proof.generated_at,
            names=(proof.baseline.checkpoint_id, proof.trained.checkpoint_id),
            policy=head.policy,
            weighed=figures,
            decision=decision,
            min_confidence_level=proof.criteria.min_confidence_level,
        )
    )
