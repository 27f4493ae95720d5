"""Recomputes a run's decision, evidence and verdict; see :mod:`.recheck_record`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.aggregate import outputs_digest
from benchgate.artifacts.evidence_kinds import ArmReport
from benchgate.artifacts.run_kinds import RerunBaseline, case_file_name
from benchgate.gates.baseline import arm, differences, read_baseline
from benchgate.gates.rules import RULES
from benchgate.gates.run_diff import since_pin
from benchgate.models.case import changes
from benchgate.promotion.tiers import next_tier
from benchgate.promotion.verdict import judge_tier
from benchgate.training.checkpoints import DIGEST_KEY
from benchgate.training.episodes import Episode
from benchgate.verify.agreement import file_faults_of, plain, same
from benchgate.verify.facts import facts_of, rebuilt_files
from benchgate.verify.other_rules import name_faults, stated_faults
from benchgate.verify.recheck_labels import result_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import BaselineRef, RunRecord
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.figures import Arm
    from benchgate.promotion.verdict import PromotionVerdict


def recheck_decision(folder: Path, record: RunRecord, outputs: Mapping[str, Any]) -> Iterator[str]:
    """
    Yield where a record's decision, verdict or evidence files differ from what its facts give.

    Of a record that other rules decided the decision and the figures are taken as they stand.

    :param outputs: what the systems returned, by the name of the trial's file.
    """
    evidence = folder / "evidence"
    before = ArmReport.read_or_none(evidence / "baseline.json")
    yield from result_faults(record, "candidate", record.report)
    if record.rerun is not None:
        yield from result_faults(record, "baseline", record.rerun)
    yield from _baseline(folder, record, before)
    yield from _subject(record, outputs)
    yield from _episodes(record, outputs)
    yield from _verdict(record)
    if record.rules != RULES:
        yield from stated_faults(evidence, record, before)
        return
    decision, expected = rebuilt_files(evidence, record, facts_of(record, before))
    yield from same("decision", plain(decision), plain(record.decision))
    yield from name_faults(record, expected)
    for name, data in expected.items():
        yield from file_faults_of(evidence / name, data, f"evidence/{name}")


def _baseline(folder: Path, record: RunRecord, before: ArmReport | None) -> Iterator[str]:
    """Compare the samples of the baseline with the baseline's file, if that is still there, unchanged."""
    reference = record.baseline
    if before is None or isinstance(reference, RerunBaseline):  # rebuilt from the record alone
        return
    if reference is None:
        yield "evidence/baseline.json: the record names no baseline"
        return
    if reference.system is None and record.rules > 0:  # those before did not say it
        yield "baseline.system: missing, and looks at the baseline are counted by it"
    ids = {sample.case_id for sample in before.samples}
    if not ids <= {result.case_id for result in record.report.per_case}:
        yield "evidence/baseline.json: has other cases than the run"
    baseline = read_baseline(folder / reference.path)
    if baseline.sha256 == reference.sha256:
        yield from baseline_faults(baseline, reference, record, before)


def baseline_faults(
    baseline: Baseline, reference: BaselineRef, record: RunRecord, before: ArmReport
) -> Iterator[str]:
    """
    Yield how a record disagrees with the file of its baseline.

    :param before: the samples of the baseline that the decision was made with.
    """
    if baseline.report is None:
        return
    for problem in (*baseline.problems, *differences(baseline.report, record.report)):
        yield f"baseline: could not be compared with: {problem}"
    changed = changes(baseline.report.observer, record.report.observer)
    if changed:
        yield f"baseline: could not be compared with: its observer: {'; '.join(changed)}"
    yield from result_faults(record, "baseline", baseline.report)
    yield from same("baseline.run_id", baseline.report.run_id, reference.run_id)
    labels = [plain(change) for change in since_pin(baseline.report, record.report)]
    stated = [plain(change) for change in reference.relabelled]
    yield from same("baseline.relabelled", labels, stated)
    yield from same("baseline.outputs", outputs_digest(baseline.report), reference.outputs)
    if reference.system is not None:
        yield from same("baseline.system", baseline.report.system, reference.system)
    there, here = arm(baseline.report, record.report), before.arm
    yield from same("evidence/baseline.json", _arm_values(there), _arm_values(here))
    if there.facts != here.facts:
        yield "evidence/baseline.json: passed, critical, cost or duration are not those of the baseline"


def _arm_values(side: Arm) -> list[Any]:
    parts = (side.case_ids, side.scores, side.penalties, side.trials, side.labels)
    return [part and list(part) for part in parts]


def _subject(record: RunRecord, outputs: Mapping[str, Any]) -> Iterator[str]:
    subject, report = record.subject, record.report
    if subject.kind == "system":
        yield from same("subject.id", report.system, subject.id)
        yield from same("subject.digest", report.digests.system, subject.digest)
        if subject.source != report.source:
            yield "subject.source: is not that of the report"
        return
    scored = {case_file_name(result) for result in report.per_case if result.outcome == "scored"}
    if record.checkpoint_problems:
        return
    yield from same("subject.digest", report.digests.checkpoint, subject.digest)
    played = (subject.id, subject.digest)
    if any(_checkpoint(output) != played for name, output in outputs.items() if name in scored):
        yield f"subject.id is {subject.id!r}; a scored output belongs to another checkpoint"


def _episodes(record: RunRecord, outputs: Mapping[str, Any]) -> Iterator[str]:
    """Compare the episodes of a record with the payloads in the files of its trials."""
    found = [
        Episode.of(result.case_id, result.trial, outputs.get(case_file_name(result)))
        for result in record.report.per_case
        if result.outcome == "scored"
    ]
    expected = [plain(episode) for episode in found if episode is not None]
    yield from same("episodes", expected, [plain(episode) for episode in record.episodes])


def _checkpoint(output: Any) -> Any:
    try:
        checkpoint = output["rl_payload"]["checkpoint"]
        return checkpoint["checkpoint_id"], checkpoint["metadata"][DIGEST_KEY]
    except (KeyError, TypeError):
        return None


def _verdict(record: RunRecord) -> Iterator[str]:
    verdict = record.verdict
    if verdict == "not_evaluated":
        return
    yield from same("verdict.target_tier", next_tier(verdict.current_tier), verdict.target_tier)
    if verdict.target_tier != "bronze" and not verdict.bar.score_lower_bound_95 > 0:
        yield f"verdict.bar: {verdict.target_tier} requires nothing"
    expected: PromotionVerdict = judge_tier(
        record.report,
        verdict.current_tier,
        verdict.target_tier,
        verdict.bar,
        chain_intact=verdict.chain_intact,
    )
    yield from same("verdict", plain(expected), plain(verdict))
