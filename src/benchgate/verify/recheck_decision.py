"""Recomputes a run's decision, evidence and verdict; see :mod:`.recheck_record`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.artifacts.evidence_kinds import ArmReport, ProofBundle
from benchgate.artifacts.proof import PROOF_PARTS
from benchgate.artifacts.reading import read_artifact
from benchgate.artifacts.run_evidence import RunEvidence
from benchgate.artifacts.run_kinds import BaselineRef, RerunBaseline, case_file_name
from benchgate.artifacts.sealed_plan import broken
from benchgate.errors import Unreadable
from benchgate.gates.baseline import arm, baseline_beside, differences, read_baseline
from benchgate.gates.blockers import baseline_blockers
from benchgate.gates.judge import Facts, decision_of
from benchgate.gates.looks import number_of
from benchgate.gates.reason_codes import PREFIX
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
    from benchgate.gates.figures import Arm
    from benchgate.gates.reason_codes import Blocker
    from benchgate.promotion.verdict import PromotionVerdict


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
    weighed, made = decision_of(_facts(record, found, before, outputs))
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


def _facts(
    record: RunRecord,
    found: CheckpointPromotionDecision,
    before: ArmReport | None,
    outputs: Mapping[str, Any],
) -> Facts:
    """Return the facts of a run; those of which the record has nothing but what was said of them, as it was said."""
    beside, baseline = record.rerun, None
    excluded: tuple[Blocker, ...] = ()
    if beside is not None:
        excluded = tuple(baseline_blockers(record.report, baseline_beside(beside)))
        baseline = None if excluded else arm(beside)
    elif before is not None:
        baseline = arm_of_report(before)
    given = ["checkpoint_mismatch"]
    if beside is None and baseline is None:
        given.append("baseline_missing" if record.baseline is None else "baseline_mismatch")
    stated = [(remark.code.removeprefix(PREFIX), remark.message) for remark in found.remarks]
    scored = (result for result in record.report.per_case if result.outcome == "scored")
    return Facts(
        report=record.report,
        policy=record.policy,
        baseline=baseline,
        beside=beside,
        look=number_of(found.look),
        excluded=(*excluded, *((code, text) for code, text in stated if code in given)),
        plan_problems=_plan_problems(record),
        further=tuple((c.removeprefix(GATE), text) for c, text in stated if c.startswith(GATE)),
        without_advantages=sum(
            lacks_advantages(outputs.get(case_file_name(result))) for result in scored
        ),
        replays=record.replays,
    )


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
