"""What benchgate hands to rubrics and systems, and what a run is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, PlainSerializer

from benchgate.wire.model import (
    SCHEMA_VERSION,
    Breakdown,
    CaseId,
    Count,
    Digests,
    DisplayText,
    FailureCode,
    FrozenJson,
    NonNegative,
    Seconds,
    Sha256,
    Text,
    UnitInterval,
    Version,
    WireModel,
    empty_mapping,
    freeze_json,
)

Disposition = Literal["positive", "negative", "ambiguous"]
Difficulty = Literal["easy", "medium", "hard"]
Source = Literal["curated", "outcome-ledger-derived", "regression-converted"]
Outcome = Literal["scored", "harness_error", "rubric_error", "timeout", "skipped", "not_run"]
Scope = Literal["full", "selected"]
IsolationClass = Literal["none"]


def _unique(codes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(codes))


class Cassette(WireModel):
    """The recorded output of one system on one case."""

    path: Path
    sha256: Sha256


class BenchCase(WireModel):
    """
    One case as systems and rubrics see it.

    Paths are absolute. A system gets the case with ``expected_path`` set to ``None``; ``work_path`` is a fresh
    folder that belongs to the trial and is removed after it.
    """

    case_id: CaseId
    task_class: str
    disposition: Disposition
    difficulty: Difficulty
    source: Source
    commit_sha: str | None = None
    added_at: AwareDatetime
    last_validated_at: AwareDatetime
    held_out: bool = False
    tags: tuple[str, ...] = ()
    timeout_seconds: Seconds | None = None
    facts: FrozenJson = Field(default_factory=empty_mapping)
    cassettes: Annotated[
        Mapping[str, Cassette], AfterValidator(freeze_json), PlainSerializer(dict)
    ] = Field(default_factory=empty_mapping)
    input_path: Path
    expected_path: Path | None
    trial: Count = 0
    seed: Count = 0
    work_path: Path | None = None


class BenchScore(WireModel):
    """
    What a rubric reports about one output.

    :param passed: whether the task is done.
    :param score: in [0, 1], 1 is best.
    :param breakdown: parts of the score, flat and finite; read-only.
    :param failure_modes: codes of the class's ``failure_modes.toml``, ordered, each once.
    :param cost_usd: what the trial cost, in US dollars.
    :param safety_penalty: harm done, higher is worse; ``None`` means not measured.
    """

    passed: bool
    score: UnitInterval
    breakdown: Breakdown = Field(default_factory=empty_mapping)
    failure_modes: Annotated[
        tuple[FailureCode, ...],
        BeforeValidator(lambda codes: tuple(codes) if isinstance(codes, list) else codes),
        AfterValidator(_unique),
    ] = ()
    cost_usd: NonNegative = 0.0
    safety_penalty: NonNegative | None = None

    if TYPE_CHECKING:
        # What type checkers make of the fields would refuse a list of failure modes, which is accepted.
        def __init__(
            self,
            *,
            passed: bool,
            score: float,
            breakdown: Mapping[str, float] = ...,
            failure_modes: Sequence[str] = (),
            cost_usd: float = 0.0,
            safety_penalty: float | None = None,
        ) -> None: ...


class FailureMode(WireModel):
    """One failure of a trial: a code of the taxonomy or of the harness, and what is behind it."""

    code: FailureCode
    detail: DisplayText | None = None


class TrialResult(WireModel):
    """
    How one trial of one case ended.

    :param outcome: only ``scored`` has a score; any other counts as score 0, not passed.
    :param detail: why a trial was skipped or not run.
    :param reruns: attempts before this one; a rerun makes the run incomplete.
    """

    case_id: Text  # of a malformed case it is the folder's name, whatever that is
    trial: Count
    seed: Count
    held_out: bool
    outcome: Outcome
    score: BenchScore | None = None
    failure_modes: tuple[FailureMode, ...] = ()
    detail: DisplayText | None = None
    reruns: Count = 0
    duration_seconds: NonNegative = 0.0

    @property
    def passed(self) -> bool:
        """Whether the trial was scored and the rubric passed it."""
        return self.score is not None and self.score.passed


class Aggregates(WireModel):
    """
    Figures over a set of cases; a case with several trials counts once, by its mean.

    :param score_lower_bound_95: Gaffke's one-sided 95 % bound of the mean; ``None`` for a selection of cases.
    :param passed_count: cases of which every trial passed.
    :param mean_safety_penalty: ``None`` if any result has no measured penalty.
    :param block_severity_failure_modes: codes of severity ``block`` that occurred, sorted.
    """

    case_count: Count
    mean_score: UnitInterval
    score_lower_bound_95: UnitInterval | None
    passed_count: Count
    total_cost_usd: NonNegative
    mean_safety_penalty: NonNegative | None
    block_severity_failure_modes: tuple[str, ...]


class Suite(WireModel):
    """The bench as a whole: the class's name and the digest of its cases as version."""

    name: str
    version: str


class RunDigests(WireModel):
    """SHA-256 of everything a run depends on; ``None`` where nothing was declared or used."""

    cases: Digests
    rubric: Sha256
    scorer: Sha256
    taxonomy: Sha256
    system: str | None
    policy: Sha256
    baseline: Sha256 | None = None


class BenchRunReport(Aggregates):
    """
    A run, aggregated. Facts only: no verdict inside.

    :param run_id: SHA-256 over the results without times, paths and details: same results, same id.
    :param plan_id: SHA-256 over what was going to be run: cases, rubric, system, policy, seed.
    :param trial_count: trials of each case.
    :param complete: every planned trial was run once and ended in a score or a failure of the system.
    :param held_out: the same figures over the held-out cases, ``None`` if there are none.
    """

    schema_version: Version = SCHEMA_VERSION
    run_id: Sha256
    plan_id: Sha256
    task_class: str
    scope: Scope
    suite: Suite
    system: str
    isolation_class: IsolationClass = "none"
    trial_count: Annotated[Count, Field(ge=1)]
    seed: Count
    complete: bool
    per_case: tuple[TrialResult, ...]
    held_out: Aggregates | None
    digests: RunDigests
