"""
The models of what a run writes besides the evidence of a comparison: promotion, record, trials, head.

No field has a default, so that a file which leaves one out is invalid. ``schema_version`` is the major version: within
it fields are only added. A value that is not known is ``null``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, Field, PlainSerializer

from benchgate.gates.decision import CheckpointPromotionDecision
from benchgate.gates.policy import GatePolicy
from benchgate.models import BenchRunReport, TrialResult
from benchgate.promotion.verdict import PromotionVerdict
from benchgate.taxonomy import Severity
from benchgate.wire.model import Count, Digests, Sha256, Version, WireModel, freeze_json

Severities = Annotated[Mapping[str, Severity], AfterValidator(freeze_json), PlainSerializer(dict)]


Verdict = PromotionVerdict | Literal["not_evaluated"]


class Subject(WireModel):
    """What the decision is about: a checkpoint or a system."""

    kind: Literal["checkpoint", "system"]
    id: str
    digest: str | None


class PromotionOutcome(WireModel):
    """The gate's decision."""

    outcome: Literal["promote", "hold", "reject"]
    promotion_allowed: bool
    reason_codes: tuple[str, ...]
    notes: tuple[str, ...]


class RecordRef(WireModel):
    """Where the run's record is, relative to the folder of the file that refers to it."""

    seq: Count
    path: str


class PromotionReport(WireModel):
    """``promotion.json``: the decision on one subject. Evidence only: a person promotes."""

    schema_version: Version
    task_class: str
    subject: Subject
    decision: PromotionOutcome
    verdict: Verdict
    policy: GatePolicy
    policy_sha256: Sha256
    record_ref: RecordRef | None


class Harness(WireModel):
    """The versions that made a run."""

    benchgate: str
    python: str
    platform: str


class BaselineRef(WireModel):
    """The baseline that a run was compared with."""

    path: str
    sha256: Sha256 | None
    run_id: Sha256 | None


class RunRecord(WireModel):
    """
    ``record.json``: one link of the audit chain.

    :param prev_hash: SHA-256 of the previous record's bytes; 64 zeros for the first.
    :param clock_regressed: the run ended, by its clock, before the previous one: a clock was set back.
    :param severities: severity of each failure code, as the class's taxonomy had it.
    :param case_files: SHA-256 of each file of ``cases/``; ``evidence_files`` likewise.
    """

    schema_version: Version
    report_kind: Literal["record"]
    seq: Annotated[Count, Field(ge=1)]
    prev_hash: Sha256
    started_at: AwareDatetime
    finished_at: AwareDatetime
    clock_regressed: bool
    harness: Harness
    subject: Subject
    report: BenchRunReport
    policy: GatePolicy
    severities: Severities
    baseline: BaselineRef | None
    decision: CheckpointPromotionDecision | None
    verdict: Verdict
    case_files: Digests
    evidence_files: Digests


class SelectedRecord(WireModel):
    """``last-selected/<class>/report.json``: a part of the cases was run; nothing was judged."""

    schema_version: Version
    report_kind: Literal["selected"]
    finished_at: AwareDatetime
    report: BenchRunReport


class TrialFile(WireModel):
    """``cases/<case_id>[-t<k>].json``: a trial's result and the full output of the system."""

    schema_version: Version
    report_kind: Literal["case"]
    task_class: str
    case_id: str
    result: TrialResult
    output: Any


class Head(WireModel):
    """``HEAD.json``: the newest record of a class."""

    schema_version: Version
    seq: Count
    sha256: Sha256


def case_file_name(result: TrialResult) -> str:
    """Return the name of a trial's file: the id of its pytest item."""
    # A malformed case may have an id such as a-t1, the name of case a's second trial: add its own trial.
    ambiguous = re.search(r"-t\d+$", result.case_id)
    return f"{result.case_id}{f'-t{result.trial}' if result.trial or ambiguous else ''}.json"
