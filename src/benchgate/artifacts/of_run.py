"""A judged run in the terms of the artifacts: its subject, its baseline, its comparison, its promotion."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchgate.artifacts import build
from benchgate.artifacts.run_kinds import BaselineRef, Subject
from benchgate.artifacts.writer import model_bytes
from benchgate.errors import ArtifactError

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RecordRef
    from benchgate.judgement import Judgement
    from benchgate.models import BenchRunReport


def promotion_bytes(judgement: Judgement, record: RecordRef | None) -> bytes:
    """
    Return ``promotion.json`` of a judged run.

    :raises ArtifactError: the run is a selection, which is not judged.
    """
    report, decision = judgement.report, judgement.decision
    if decision is None:
        msg = "a run that was not judged has no promotion report"
        raise ArtifactError("promotion.json", msg)
    return model_bytes(
        build.promotion_report(
            task_class=report.task_class,
            subject=subject(judgement),
            decision=decision,
            policy=judgement.policy,
            record=record,
        )
    )


def subject(judgement: Judgement) -> Subject:
    """Return what a run is evidence about."""
    report, checkpoints = judgement.report, judgement.checkpoints
    if checkpoints is None:
        return Subject(kind="system", id=report.system, digest=report.digests.system)
    return Subject(
        kind="checkpoint", id=checkpoints.candidate.checkpoint_id, digest=checkpoints.sha256
    )


def comparison(judgement: Judgement, finished: datetime) -> build.Comparison | None:
    """Return what the evidence family is made of; ``None`` if nothing was compared."""
    before = judgement.baseline.report if judgement.baseline else None
    if before is None or judgement.evidence is None or judgement.decision is None:
        return None
    return build.Comparison(
        run_id=judgement.report.run_id,
        candidate_run_id=judgement.report.run_id,
        suite=judgement.report.suite,
        generated_at=finished,
        names=(_baseline_name(judgement, before), subject(judgement).id),
        policy=judgement.policy,
        evidence=judgement.evidence,
        decision=judgement.decision,
    )


def _baseline_name(judgement: Judgement, before: BenchRunReport) -> str:
    checkpoints = judgement.checkpoints
    if checkpoints is None or checkpoints.baseline is None:
        return before.system
    return checkpoints.baseline.checkpoint_id


def baseline_ref(judgement: Judgement, folder: Path) -> BaselineRef | None:
    """Return what a record says of its baseline, its path relative to a folder."""
    found = judgement.baseline
    if found is None:
        return None
    return BaselineRef(
        path=os.path.relpath(found.path, folder),
        sha256=found.sha256,
        run_id=found.report.run_id if found.report else None,
    )
