"""
Drawing a run's record anew from the facts in it.

Facts are the results of the trials, the severities, the policy, the samples of the baseline. Aggregates, evidence,
decision and verdict follow from these and are made again. Taken as given is what another party said: that a baseline
did not match, that a checkpoint was foreign, what further gates objected to.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from benchgate.aggregate import aggregates, irregular, suite_version
from benchgate.artifacts import build
from benchgate.artifacts.agreement import digest_holds, plain, same
from benchgate.artifacts.evidence_kinds import ArmReport, ProofBundle
from benchgate.artifacts.proof import PROOF_PARTS, evidence_files, proof_bundle
from benchgate.artifacts.rebuild import arm_of_report, read_artifact
from benchgate.artifacts.run_kinds import (
    OWN_RECORD,
    CaseFile,
    PromotionReport,
    RecordRef,
    RunRecord,
)
from benchgate.baseline import arm, read_baseline
from benchgate.canonical import run_id
from benchgate.comparison import weigh_arms
from benchgate.files import read_regular
from benchgate.gates import PREFIX, GateInput, decide
from benchgate.judgement import run_blockers
from benchgate.models import Aggregates
from benchgate.promotion import judge_tier
from benchgate.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.build import Comparison
    from benchgate.figures import Arm, Evidence
    from benchgate.gates import Blocker, CheckpointPromotionDecision

GIVEN: Final = ("baseline_missing", "baseline_mismatch", "checkpoint_mismatch")
GATE: Final = "gate:"


def recheck_record(folder: Path, record: RunRecord) -> Iterator[str]:
    """Yield what in a record, or in the files beside it, does not follow from its facts."""
    try:
        yield from _faults(folder, record)
    except (
        Exception
    ) as error:  # facts that nothing here could have written may break any of the arithmetic
        yield f"its facts cannot be judged again: {type(error).__name__}: {error}"


def _faults(folder: Path, record: RunRecord) -> Iterator[str]:
    yield from _files(folder, record)
    yield from _report(record)
    yield from _cases(folder / "cases", record)
    yield from _decision(folder, record)
    verdict = record.verdict
    if verdict != "not_evaluated":
        made = judge_tier(
            record.report,
            verdict.current_tier,
            verdict.target_tier,
            verdict.bar,
            chain_intact=verdict.chain_intact,
        )
        yield from same("verdict", plain(made), plain(verdict))


def _files(folder: Path, record: RunRecord) -> Iterator[str]:
    for part, digests in (("cases", record.case_files), ("evidence", record.evidence_files)):
        for name, digest in digests.items():
            yield from digest_holds(folder / part / name, digest, f"{part}/{name}")
        there = os.listdir(folder / part) if (folder / part).is_dir() else ()
        for name in sorted(set(there) - set(digests)):
            yield f"{part}/{name}: not in the record: added later"


def _report(record: RunRecord) -> Iterator[str]:
    report, taxonomy = record.report, Taxonomy(record.severities)
    yield from same("report.run_id", run_id(report.task_class, report.per_case), report.run_id)
    yield from same("report.digests.taxonomy", taxonomy.digest, report.digests.taxonomy)
    yield from same("report.digests.policy", record.policy.digest, report.digests.policy)
    yield from same(
        "report.suite.version", suite_version(report.digests.cases), report.suite.version
    )
    bounded = report.scope == "full"
    expected = aggregates(report.per_case, taxonomy, bounded=bounded)
    yield from same("report", plain(expected), report.model_dump(include=_FIGURES, mode="json"))
    held = [result for result in report.per_case if result.held_out]
    strata = aggregates(held, taxonomy, bounded=bounded) if held else None
    found = report.held_out
    yield from same("report.held_out", strata and plain(strata), found and plain(found))
    if report.complete:
        yield from _completeness(record)


_FIGURES: Final = set(Aggregates.model_fields)


def _completeness(record: RunRecord) -> Iterator[str]:
    report = record.report
    trials = range(report.trial_count)
    planned = {(case_id, trial) for case_id in report.digests.cases for trial in trials}
    keys = [(result.case_id, result.trial) for result in report.per_case]
    if set(keys) != planned or len(keys) != len(planned) or not keys:
        yield f"report.complete: there are {len(keys)} results for {len(planned)} planned trials"
    if any(map(irregular, report.per_case)):
        yield "report.complete: a trial was left out, failed to be scored, or was run again"


def _cases(folder: Path, record: RunRecord) -> Iterator[str]:
    stored: dict[tuple[str, int], Any] = {}
    for name in record.case_files:
        case = read_artifact(folder / name, CaseFile)
        if case is None:
            yield f"cases/{name}: no valid file of a trial"
            continue
        stored[case.result.case_id, case.result.trial] = plain(case.result)
    for result in record.report.per_case:
        where = f"report.per_case.{result.case_id}-t{result.trial}"
        yield from same(where, stored.get((result.case_id, result.trial)), plain(result))


def _decision(folder: Path, record: RunRecord) -> Iterator[str]:
    evidence = folder / "evidence"
    promotion = read_artifact(evidence / "promotion.json", PromotionReport)
    if record.decision is None or promotion is None:
        yield "a record has a decision, and a promotion.json in its evidence"
        return
    before = read_artifact(evidence / "baseline.json", ArmReport)
    yield from _baseline(folder, record, before)
    sides = arm_of_report(before) if before else None, arm(record.report)
    weighed, objections = weigh_arms(sides[0], sides[1], record.policy) if sides[0] else (None, ())
    made = _decided(record, record.decision, weighed, objections)
    yield from same("decision", plain(made), plain(record.decision))
    if weighed is not None:
        yield from _evidence(evidence, record, made, weighed)
    expected = build.promotion_report(
        task_class=record.report.task_class,
        subject=record.subject,
        decision=made,
        verdict=record.verdict,
        policy=record.policy,
        record=RecordRef(seq=record.seq, path=OWN_RECORD),
    )
    yield from same("promotion", plain(expected), plain(promotion))


def _baseline(folder: Path, record: RunRecord, before: ArmReport | None) -> Iterator[str]:
    """Hold the samples of the baseline against the file that they were taken from, as long as that is there."""
    reference = record.baseline
    if reference is None or before is None:
        if before is not None:
            yield "evidence/baseline.json: the record names no baseline"
        return
    found = read_baseline(folder / reference.path)
    if found.report is not None and found.sha256 == reference.sha256:
        yield from same(
            "evidence/baseline.json", _arm(arm(found.report)), _arm(arm_of_report(before))
        )


def _arm(side: Arm) -> list[Any]:
    parts = (side.case_ids, side.scores, side.penalties, side.trials)
    return [part and list(part) for part in parts]


def _decided(
    record: RunRecord,
    found: CheckpointPromotionDecision,
    weighed: Evidence | None,
    objections: tuple[Blocker, ...],
) -> CheckpointPromotionDecision:
    told = {remark.code.removeprefix(PREFIX): remark.message for remark in found.remarks}
    given = [
        (code, told[code]) for code in GIVEN if code in told and _plausible(code, record, weighed)
    ]
    gates = [
        (code.removeprefix(GATE), message)
        for code, message in told.items()
        if code.startswith(GATE)
    ]
    return decide(
        GateInput(
            policy=record.policy,
            trial_count=record.report.trial_count,
            evidence=weighed,
            blockers=(*run_blockers(record.report), *given, *objections),
            further=tuple(gates),
        )
    )


def _plausible(code: str, record: RunRecord, weighed: Evidence | None) -> bool:
    """Whether what was said of the baseline fits what is there of it."""
    if code == "baseline_missing":
        return record.baseline is None
    return weighed is None if code == "baseline_mismatch" else True


def _evidence(
    folder: Path, record: RunRecord, made: CheckpointPromotionDecision, weighed: Evidence
) -> Iterator[str]:
    proof = read_artifact(folder / "proof.json", ProofBundle)
    if proof is None:
        yield "evidence/proof.json: missing, though there is a baseline"
        return
    report = record.report
    comparison = build.Comparison(
        run_id=report.run_id,
        candidate_run_id=report.run_id,
        suite=report.suite,
        generated_at=record.finished_at,
        names=(proof.baseline.checkpoint_id, record.subject.id),
        policy=record.policy,
        evidence=weighed,
        decision=made,
    )
    yield from _family(folder, comparison, record.evidence_files)


def _family(folder: Path, made: Comparison, digests: Mapping[str, str]) -> Iterator[str]:
    # By content, not by bytes: another machine's last digit is no forgery.
    expected = {name: json.loads(data) for name, data in evidence_files(made).items()}
    written = {name: digests.get(name, "0" * 64) for name in PROOF_PARTS.values()}
    expected["proof.json"] = plain(proof_bundle(made, written))
    for name, content in expected.items():
        try:
            found = json.loads(read_regular(folder / name))
        except (OSError, ValueError, RecursionError):
            yield f"evidence/{name}: cannot be read"
            continue
        yield from same(f"evidence/{name}", content, found)
