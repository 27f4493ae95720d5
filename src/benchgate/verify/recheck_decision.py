"""Recomputes a run's decision, evidence and verdict; see :mod:`.recheck_record`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.evidence_kinds import ArmReport, ProofBundle
from benchgate.artifacts.proof import PROOF_PARTS
from benchgate.artifacts.reading import read_artifact
from benchgate.artifacts.run_evidence import RunEvidence
from benchgate.artifacts.run_kinds import BaselineRef, RerunBaseline, case_file_name
from benchgate.artifacts.sealed_plan import broken
from benchgate.errors import Unreadable
from benchgate.gates.baseline import arm, baseline_beside, differences, read_baseline
from benchgate.gates.blockers import (
    baseline_blockers,
    plan_blocker,
    run_blockers,
    unscored_blocker,
)
from benchgate.gates.decide import decide
from benchgate.gates.decision import GateInput
from benchgate.gates.looks import judged_at, number_of
from benchgate.gates.notes import advantages_note, http_note, replay_note, source_note
from benchgate.gates.reason_codes import PREFIX
from benchgate.gates.unscored import too_many, unscored_note
from benchgate.gates.vectors import weigh_arms
from benchgate.promotion.tiers import next_tier
from benchgate.promotion.verdict import judge_tier
from benchgate.training.checkpoints import DIGEST_KEY, lacks_advantages
from benchgate.verify.agreement import plain, same
from benchgate.verify.rebuild import GATE, arm_of_report
from benchgate.wire.files import read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.reason_codes import Blocker
    from benchgate.models import BenchRunReport
    from benchgate.promotion.verdict import PromotionVerdict


GATE_CODE: Final = PREFIX + GATE
BASELINE_NOTE: Final = "note_unscored_baseline"


def recheck_decision(folder: Path, record: RunRecord, outputs: Mapping[str, Any]) -> Iterator[str]:
    """
    Yield where a record's decision, verdict or evidence files differ from what its facts give.

    :param outputs: what the systems returned, by the name of the trial's file.
    """
    found = record.decision
    if found is None:
        yield "decision: a record has one"
        return
    evidence = folder / "evidence"
    before = read_artifact(evidence / "baseline.json", ArmReport)
    yield from _baseline(folder, record, before)
    yield from _subject(record, found, outputs)
    made, weighed = _decided(record, found, before, outputs)
    yield from _verdict(record)
    yield from same("decision", plain(made), plain(found))
    proof = read_artifact(evidence / "proof.json", ProofBundle)
    expected = RunEvidence(
        report=record.report,
        subject=record.subject,
        policy=record.policy,
        decision=made,
        weighed=weighed,
        # The baseline's name is recorded nowhere else.
        baseline_name=proof.baseline.checkpoint_id if proof else "",
        finished=record.finished_at,
        sealed=record.sealed_plan,
    )
    yield from _files(evidence, record, expected.files(record.verdict, record.seq))


def _baseline(folder: Path, record: RunRecord, before: ArmReport | None) -> Iterator[str]:
    """Compare the samples of the baseline with the baseline's file, if that is still there, unchanged."""
    reference = record.baseline
    if before is None or isinstance(reference, RerunBaseline):  # rebuilt from the record alone
        return
    if reference is None:
        yield "evidence/baseline.json: the record names no baseline"
        return
    ids = {sample.case_id for sample in before.samples}
    if ids != {result.case_id for result in record.report.per_case}:
        yield "evidence/baseline.json: has other cases than the run"
    found = read_baseline(folder / reference.path)
    if found.sha256 != reference.sha256:
        return
    yield from baseline_faults(found, reference, record, before)


def baseline_faults(
    found: Baseline, reference: BaselineRef, record: RunRecord, before: ArmReport
) -> Iterator[str]:
    """
    Yield how a record disagrees with the file of its baseline.

    :param before: the samples of the baseline that the decision was made with.
    """
    if found.report is None:
        return
    for problem in (*found.problems, *differences(found.report, record.report)):
        yield f"baseline: could not be compared with: {problem}"
    unscored = too_many(found.report, record.policy.max_unscored)
    counted = record.decision.reason_codes if record.decision else ()
    if unscored and f"{PREFIX}too_many_unscored" not in counted:
        yield f"baseline: could not be compared with: {unscored}"
    yield from same("baseline.run_id", found.report.run_id, reference.run_id)
    there, here = arm(found.report), arm_of_report(before)
    yield from same("evidence/baseline.json", _arm_values(there), _arm_values(here))
    if there.facts != here.facts:
        yield "evidence/baseline.json: passed, critical, cost or duration are not those of the baseline"


def _arm_values(side: Arm) -> list[Any]:
    parts = (side.case_ids, side.scores, side.penalties, side.trials, side.labels)
    return [part and list(part) for part in parts]


def _subject(
    record: RunRecord, found: CheckpointPromotionDecision, outputs: Mapping[str, Any]
) -> Iterator[str]:
    subject, report = record.subject, record.report
    if subject.kind == "system":
        yield from same("subject.id", report.system, subject.id)
        yield from same("subject.digest", report.digests.system, subject.digest)
        if subject.source != report.source:
            yield "subject.source: is not that of the report"
        return
    scored = {case_file_name(result) for result in report.per_case if result.outcome == "scored"}
    if f"{PREFIX}checkpoint_mismatch" in found.reason_codes:
        return
    yield from same("subject.digest", report.digests.checkpoint, subject.digest)
    played = (subject.id, subject.digest)
    if any(_checkpoint(output) != played for name, output in outputs.items() if name in scored):
        yield f"subject.id is {subject.id!r}; a scored output belongs to another checkpoint"


def _checkpoint(output: Any) -> Any:
    try:
        named = output["rl_payload"]["checkpoint"]
        return named["checkpoint_id"], named["metadata"][DIGEST_KEY]
    except (KeyError, TypeError):
        return None


def _decided(
    record: RunRecord,
    found: CheckpointPromotionDecision,
    before: ArmReport | None,
    outputs: Mapping[str, Any],
) -> tuple[CheckpointPromotionDecision, Figures | None]:
    known, rerun = _rerun(record)
    look = number_of(found.look)
    weighed, objections = _weighed(record, look, arm(rerun) if rerun else _arm_of(record, before))
    stated = [(remark.code, remark.message) for remark in found.remarks]
    given = [
        (code.removeprefix(PREFIX), message)
        for code, message in stated
        if _is_given(code.removeprefix(PREFIX), record, weighed)
    ]
    gates = [
        (code.removeprefix(GATE_CODE), message)
        for code, message in stated
        if code.startswith(GATE_CODE)
    ]
    made = decide(
        GateInput(
            policy=record.policy,
            trial_count=record.report.trial_count,
            figures=weighed,
            look=look,
            blockers=(
                *run_blockers(record.report),
                *known,
                *plan_blocker(_plan_problems(record)),
                *unscored_blocker(record.policy, record.report, rerun),
                *given,
                *objections,
            ),
            further=tuple(gates),
            is_log=record.report.source is not None,
            noted=(
                *advantages_note(_without_advantages(record, outputs)),
                *replay_note(record.replays),
                *(unscored_note(rerun, "baseline") if rerun else ()),
                *(
                    ("unscored_baseline", text)
                    for code, text in stated
                    if code == BASELINE_NOTE and record.rerun is None
                ),
                *unscored_note(record.report, "candidate"),
                *http_note(record.report, record.rerun),
                *source_note(record.report, record.rerun),
            ),
        )
    )
    return made, weighed


def _plan_problems(record: RunRecord) -> tuple[str, ...]:
    """Return how a run differs from the plan that it cites, which is in its record."""
    plan, baseline = record.sealed_plan, record.baseline
    if plan is None:
        return ()
    known = baseline.run_id if isinstance(baseline, BaselineRef) else None
    beside = record.rerun
    run_id = beside.run_id if beside else known
    started = record.started_at
    found = broken(plan, record.report, record.policy, started, run_id=run_id, beside=beside)
    return tuple(found)


def _rerun(record: RunRecord) -> tuple[tuple[Blocker, ...], BenchRunReport | None]:
    """Return why a baseline that ran in the same session cannot be compared with; else its report, if one ran."""
    if record.rerun is None:
        return (), None
    known = tuple(baseline_blockers(record.report, baseline_beside(record.rerun)))
    return known, None if known else record.rerun


def _arm_of(record: RunRecord, before: ArmReport | None) -> Arm | None:
    """Return the baseline that was read from a file."""
    return arm_of_report(before) if before is not None and record.rerun is None else None


def _without_advantages(record: RunRecord, outputs: Mapping[str, Any]) -> int:
    scored = (result for result in record.report.per_case if result.outcome == "scored")
    return sum(lacks_advantages(outputs.get(case_file_name(result))) for result in scored)


def _weighed(
    record: RunRecord, look: int | None, before: Arm | None
) -> tuple[Figures | None, tuple[Blocker, ...]]:
    if before is None:
        return None, ()
    return weigh_arms(before, arm(record.report), judged_at(record.policy, look))


def _is_given(code: str, record: RunRecord, weighed: Figures | None) -> bool:
    """Whether a reason has to be taken from the record, and is consistent with its baseline."""
    if record.rerun is not None:  # all that is known of it is in the record
        return code == "checkpoint_mismatch"
    if code == "too_many_unscored":  # of the candidate it is computed again: it cannot be dropped
        return weighed is not None
    if code == "baseline_missing":
        return record.baseline is None
    if code == "baseline_mismatch":
        return record.baseline is not None and weighed is None
    return code == "checkpoint_mismatch"


def _verdict(record: RunRecord) -> Iterator[str]:
    verdict = record.verdict
    if verdict == "not_evaluated":
        return
    yield from same("verdict.target_tier", next_tier(verdict.current_tier), verdict.target_tier)
    if verdict.target_tier != "bronze" and not verdict.bar.score_lower_bound_95 > 0:
        yield f"verdict.bar: {verdict.target_tier} requires nothing"
    made: PromotionVerdict = judge_tier(
        record.report,
        verdict.current_tier,
        verdict.target_tier,
        verdict.bar,
        chain_intact=verdict.chain_intact,
    )
    yield from same("verdict", plain(made), plain(verdict))


def _files(folder: Path, record: RunRecord, expected: Mapping[str, bytes]) -> Iterator[str]:
    """Compare the evidence files with those rebuilt from the same facts."""
    for name in sorted(set(expected) ^ set(record.evidence_files)):
        yield f"evidence/{name}: {'missing' if name in expected else 'not an evidence file of this run'}"
    for name, data in expected.items():
        try:
            found = read_bytes(folder / name, limit=MAX_JSON_BYTES)
            yield from _content(name, data, found, record.evidence_files)
        except Unreadable as error:
            yield f"evidence/{name}: {error.why}"
        except ValueError as error:
            yield f"evidence/{name}: no JSON: {error}"


def _content(name: str, expected: bytes, found: bytes, digests: Mapping[str, str]) -> Iterator[str]:
    if not name.endswith(".json"):
        if found != expected:
            yield f"evidence/{name}: not the lines that follow from the verdict"
        return
    # Compared by content: the last digit of a float may differ between machines.
    content = read_json(expected)
    if name == "proof.json":
        parts = PROOF_PARTS.items()
        content["artifact_sha256"] = {part: digests.get(file) for part, file in parts}
    yield from same(f"evidence/{name}", content, read_json(found))
