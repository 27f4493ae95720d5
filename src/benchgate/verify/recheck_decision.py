"""Recomputes a run's decision, evidence and verdict; see :mod:`.recheck_record`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.artifacts.trial_kinds import case_file_name
from benchgate.gates.baseline import read_baseline
from benchgate.gates.decide import decide
from benchgate.gates.rules import RULES
from benchgate.gates.run_side import COLUMNS, BaselineFacts
from benchgate.promotion.tiers import next_tier
from benchgate.promotion.verdict import judge_tier
from benchgate.training.checkpoints import DIGEST_KEY
from benchgate.training.episodes import Episode
from benchgate.verify.agreement import here, plain, same, without_sentences
from benchgate.verify.evidence import evidence_faults
from benchgate.verify.other_rules import stated_faults
from benchgate.verify.recheck_labels import result_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.run_side import RunSide
    from benchgate.promotion.verdict import PromotionVerdict


def recheck_decision(folder: Path, record: RunRecord, outputs: Mapping[str, Any]) -> Iterator[str]:
    """
    Yield where a record's decision, verdict or evidence files differ from what its facts give.

    Of a record that other rules decided the decision and the figures are taken as they stand.

    :param outputs: what the systems returned, by the name of the trial's file.
    """
    yield from result_faults(record, "candidate", record.report)
    if record.rerun is not None:
        yield from result_faults(record, "baseline", record.rerun)
    if isinstance(record.baseline, BaselineFacts):
        yield from _file(folder, record.baseline, record)
    yield from _subject(record, outputs)
    yield from _episodes(record, outputs)
    yield from _verdict(record)
    comparison = None
    if record.rules == RULES:
        decided = decide(record.facts)
        comparison = decided.comparison
        yield from _decision(decided.decision, record)
    else:
        yield from stated_faults(record)
    yield from evidence_faults(folder / "evidence", record, comparison)


def _decision(expected: CheckpointPromotionDecision, record: RunRecord) -> Iterator[str]:
    """Yield where a decision is not the one that follows; another version may have worded it otherwise."""
    follows = plain(expected)
    stated = plain(record.decision)
    if record.harness.benchgate != here():
        follows = without_sentences(follows)
        stated = without_sentences(stated)
    yield from same("decision", follows, stated)


def _file(folder: Path, stated: BaselineFacts, record: RunRecord) -> Iterator[str]:
    """Compare what a record has of its baseline with the file of that, if it is still there, unchanged."""
    baseline = read_baseline(folder / stated.path)
    if baseline.sha256 is not None and baseline.sha256 == stated.sha256:
        yield from baseline_faults(baseline, stated, record)


def baseline_faults(baseline: Baseline, stated: BaselineFacts, record: RunRecord) -> Iterator[str]:
    """
    Yield what a record has otherwise than the file of its baseline.

    What is not in the file is not compared: where it was, whether its outputs were kept, and whether a new series of
    looks began with it, which is known from the pin beside it.
    """
    yield from same("baseline.problems", [*baseline.problems], [*stated.problems])
    yield from same("baseline.run", _leaves(baseline.facts.run), _leaves(stated.run))
    if baseline.report is not None:
        yield from result_faults(record, "baseline", baseline.report)


def _leaves(run: RunSide | None) -> dict[str, Any] | None:
    """Return what is said of a run, each value of a case by the id of that, so that a message names it."""
    if run is None:
        return None
    said = plain(run)
    columns = {
        name: dict(zip(run.table.ids, column, strict=True))
        for name, column in said["table"].items()
        if name in COLUMNS and column is not None
    }
    return {**said, "table": {**said["table"], **columns}}


def _subject(record: RunRecord, outputs: Mapping[str, Any]) -> Iterator[str]:
    subject = record.subject
    report = record.report
    if subject.kind == "system":
        yield from same("subject.id", report.system, subject.id)
        yield from same("subject.digest", report.digests.system, subject.digest)
        if subject.source != report.source:
            yield "subject.source: is not that of the report"
        if record.baseline_checkpoint is not None:
            yield "baseline_checkpoint: the subject is no checkpoint"
        return
    if record.checkpoint_problems:
        return  # they say already that the outputs may be of another checkpoint
    yield from same("subject.digest", report.digests.checkpoint, subject.digest)
    scored = {case_file_name(result) for result in report.per_case if result.outcome == "scored"}
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
