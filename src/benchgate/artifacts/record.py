"""Builds the record of a run and its evidence as bytes; the store writes them."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from benchgate.artifacts.run_evidence import baseline_checkpoint, subject_of, views
from benchgate.artifacts.run_kinds import AboutCase, Harness, RunRecord
from benchgate.errors import ArtifactError
from benchgate.gates.facts import IN_RECORD
from benchgate.gates.run_side import BaselineFacts
from benchgate.promotion.tiers import next_tier
from benchgate.promotion.verdict import PromotionGate
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.frozen import freeze_json
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.writing import model_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.provenance import Provenance
    from benchgate.artifacts.run_kinds import Verdict
    from benchgate.artifacts.trial_kinds import PlanFile
    from benchgate.gates.judge import Judgement
    from benchgate.gates.run_side import RerunBaseline
    from benchgate.models import BenchCase, BenchRunReport
    from benchgate.promotion.tiers import TierConfig
    from benchgate.taxonomy import Severity

Entry = tuple[RunRecord, dict[str, bytes]]
"""A finished record, and its evidence by file name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTerms:
    """
    What a run is judged by, besides its policy.

    :param severities: of each failure code, as ``meanings``.
    :param cases: all of the run that can be read, each with the beginnings of its input files by name.
    :param min_cases: passed cases that each tier requires of the class.
    :param provenance: who runs it, and of which code.
    :param tiers: ``None`` if there is no file of tiers, or none that can be read.
    """

    severities: Mapping[str, Severity]
    meanings: Mapping[str, str]
    provenance: Provenance
    cases: tuple[tuple[BenchCase, Mapping[str, str]], ...] = ()
    min_cases: Mapping[str, int] = field(default_factory=dict)
    tiers: TierConfig | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSlot:
    """
    The place of a new record in the chain. Known only under the chain's lock: another run may end first.

    :param folder: the folder of the record; paths in the record are relative to it.
    :param previous_finished: when the run before it ended; ``None`` for the first.
    :param chain_intact: whether the records before it are a valid chain; a function, since it reads them all.
    :param case_files: SHA-256 of each trial's file.
    """

    seq: int
    prev_hash: str
    folder: Path
    plan: PlanFile
    previous_finished: datetime | None
    chain_intact: Callable[[], bool]
    case_files: Mapping[str, str]


def record_entry(
    judgement: Judgement, terms: RunTerms, finished: datetime, slot: ChainSlot
) -> Entry:
    """
    Build the record of a full run, and its evidence by file name.

    :raises ArtifactError: only a part of the cases was run, which is not judged.
    """
    run = judgement.run
    if judgement.decided is None:
        raise ArtifactError("record.json", "a run that was not judged has no record")
    facts = replace(run.facts, baseline=_from_folder(run.facts.baseline, slot.folder))
    record = RunRecord(
        schema_version=SCHEMA_VERSION,
        report_kind="record",
        seq=slot.seq,
        prev_hash=slot.prev_hash,
        started_at=slot.plan.started_at,
        finished_at=finished,
        clock_regressed=slot.previous_finished is not None and finished < slot.previous_finished,
        harness=Harness(
            benchgate=version("pytest-benchgate"),
            python=platform.python_version(),
            platform=f"{sys.platform}-{platform.machine()}",
        ),
        subject=subject_of(run),
        severities=terms.severities,
        decision=judgement.decided.decision,
        verdict=_verdict(run.report, terms, slot),
        case_files=dict(sorted(slot.case_files.items())),
        evidence_files={},
        plan_sha256=sha256_hex(model_bytes(slot.plan)),
        resumes=slot.plan.resumes,
        meanings=terms.meanings,
        about_cases={
            case.case_id: AboutCase(
                disposition=case.disposition,
                difficulty=case.difficulty,
                tags=case.tags,
                input=dict(texts),
            )
            for case, texts in terms.cases
        },
        provenance=terms.provenance,
        baseline_checkpoint=baseline_checkpoint(run),
        **{name: getattr(facts, name) for name in IN_RECORD},
    )
    files = views(record, judgement.decided.comparison)
    digests = {name: sha256_hex(data) for name, data in sorted(files.items())}
    return record.model_copy(update={"evidence_files": freeze_json(digests)}), files


def _verdict(report: BenchRunReport, terms: RunTerms, slot: ChainSlot) -> Verdict:
    """Return whether the run suffices for the tier above the current one, or to keep the highest."""
    if terms.tiers is None:
        return "not_evaluated"
    current = terms.tiers.tier_of(report.task_class)
    return PromotionGate(terms.tiers).evaluate(
        report.task_class,
        current,
        report,
        target_tier=next_tier(current),
        min_cases=terms.min_cases,
        chain_intact=slot.chain_intact(),
    )


def _from_folder(
    baseline: BaselineFacts | RerunBaseline | None, folder: Path
) -> BaselineFacts | RerunBaseline | None:
    """Return a baseline with the path of its file from the folder of a record."""
    if not isinstance(baseline, BaselineFacts):
        return baseline
    path = os.path.relpath(baseline.path, folder)
    return baseline.model_copy(update={"path": path})
