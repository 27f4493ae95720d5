"""What a run writes when it is judged, besides the evidence of a comparison; a value that is not known is ``null``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, PlainSerializer

from benchgate.artifacts.provenance import Provenance
from benchgate.artifacts.trial_kinds import Replayed, Resumed
from benchgate.gates.decision import CheckpointPromotionDecision, Objection
from benchgate.gates.facts import IN_RECORD, RunFacts
from benchgate.gates.labels import Label
from benchgate.gates.looks import RecordedLook
from benchgate.gates.policy import GatePolicy
from benchgate.gates.run_side import BaselineFacts, RerunBaseline
from benchgate.models import (
    BenchRunReport,
    LogSource,
)
from benchgate.models.case import Difficulty, Disposition
from benchgate.promotion.verdict import PromotionVerdict
from benchgate.taxonomy import Severity
from benchgate.training.episodes import Episode
from benchgate.wire.frozen import freeze_json
from benchgate.wire.model import (
    Artifact,
    Count,
    Digests,
    Sha256,
    Text,
    TextsByName,
    WireModel,
)

Severities = Annotated[Mapping[str, Severity], AfterValidator(freeze_json), PlainSerializer(dict)]
Texts = TextsByName[Mapping[Text, Text]]


class AboutCase(WireModel):
    """
    What a reader of a record wants to know of a case whose folder is elsewhere.

    :param input: the beginning of each text file of ``input/`` by its path, 2 KB in all.
    """

    model_config = ConfigDict(revalidate_instances="never")

    disposition: Disposition
    difficulty: Difficulty
    tags: tuple[Text, ...]
    input: Texts


AboutCases = Annotated[
    Mapping[str, AboutCase],
    AfterValidator(freeze_json),
    PlainSerializer(dict, return_type=dict[str, AboutCase]),
]
Verdict = PromotionVerdict | Literal["not_evaluated"]

OWN_RECORD: Final = "../record.json"
"""Path of a record, relative to its own ``evidence/``."""


class Subject(WireModel):
    """
    What the decision is about: a checkpoint or a system.

    :param source: the log that its results were read from; left out for a run of a bench.
    """

    kind: Literal["checkpoint", "system"]
    id: str
    digest: str | None
    source: LogSource | None = Field(default=None, exclude_if=lambda source: source is None)


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


class PromotionReport(Artifact):
    """``promotion.json``: the decision on one subject. Evidence only: a person promotes."""

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


class RunRecord(Artifact):
    """
    ``record.json``: one link of the audit chain.

    :param prev_hash: SHA-256 of the previous record's bytes; 64 zeros for the first.
    :param clock_regressed: the run ended, by its clock, before the previous one: a clock was set back.
    :param baseline: what it was compared with, or was to be: a file, or a run in the same session; ``None`` if nothing.
    :param severities: severity of each failure code, as the class's taxonomy had it.
    :param case_files: SHA-256 of each file of ``cases/``; ``evidence_files`` likewise.
    :param plan_sha256: SHA-256 of ``plan.json``.
    :param resumes: the run that this one completes; ``None`` if it began from nothing.
    :param replays: what the outputs were taken from; ``None`` if a system was called.
    :param meanings: what each failure code of the class means, as its taxonomy had it.
    :param about_cases: by case id; what a reader of the record wants to know of a case whose folder is elsewhere.
    :param provenance: who made it, and of which code.
    :param baseline_checkpoint: the checkpoint that the baseline is said to be of; left out if nobody says it.
    :param labels: what people say of outputs, and what the observer has them at; left out if they say nothing.
    :param objections: of further gates; left out if none objects.
    :param checkpoint_problems: why the run is not evidence about its checkpoint; left out if it is, or has none.
    :param episodes: of the RL payloads of scored trials, in the order of the results; left out if there are none.
    :param look: at the baseline, as it was counted; left out if it is none.
    :param rules: by which the decision follows from the facts, see :mod:`benchgate.gates.rules`; a record from before
        they had a number leaves it out.
    """

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
    baseline: BaselineFacts | RerunBaseline | None
    decision: CheckpointPromotionDecision
    verdict: Verdict
    case_files: Digests
    evidence_files: Digests
    plan_sha256: Sha256
    resumes: Resumed | None
    replays: Replayed | None
    meanings: Texts
    about_cases: AboutCases
    provenance: Provenance
    baseline_checkpoint: Text | None = Field(default=None, exclude_if=lambda name: name is None)
    labels: tuple[Label, ...] = Field(default=(), exclude_if=lambda labels: not labels)
    objections: tuple[Objection, ...] = Field(default=(), exclude_if=lambda found: not found)
    checkpoint_problems: tuple[Text, ...] = Field(default=(), exclude_if=lambda found: not found)
    episodes: tuple[Episode, ...] = Field(default=(), exclude_if=lambda found: not found)
    look: RecordedLook | None = Field(default=None, exclude_if=lambda look: look is None)
    rules: Count = Field(default=0, exclude_if=lambda number: number == 0)

    @property
    def facts(self) -> RunFacts:
        """All that its decision follows from."""
        return RunFacts(**{name: getattr(self, name) for name in IN_RECORD})

    @property
    def rerun(self) -> BenchRunReport | None:
        """The report of the baseline that ran in the same session; ``None`` if none did."""
        if isinstance(self.baseline, RerunBaseline):
            return self.baseline.report
        return None

    @property
    def compared_with(self) -> BaselineFacts | None:
        """The baseline as a decision sees it; ``None`` if there was none."""
        from benchgate.gates.baseline import compared_with

        return compared_with(self.baseline)

    @property
    def names(self) -> tuple[str, str]:
        """What its evidence calls the baseline, empty if there is none, and the candidate."""
        before = ""
        if self.compared_with is not None and self.compared_with.run is not None:
            before = self.compared_with.run.system
            if self.baseline_checkpoint is not None:
                before = self.baseline_checkpoint
        return before, self.subject.id

    @property
    def complete(self) -> bool:
        """Whether every trial of each side has a result that says something about its system."""
        return self.report.complete and (self.rerun is None or self.rerun.complete)
