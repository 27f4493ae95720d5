"""The case that systems and rubrics receive, the score that rubrics return, and the report of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, ConfigDict, Field

from benchgate.models.case import BenchCase as BenchCase
from benchgate.models.case import Cassette as Cassette
from benchgate.models.case import HandedCheckpoint as HandedCheckpoint
from benchgate.models.case import Observed as Observed
from benchgate.models.case import Observer as Observer
from benchgate.wire.model import (
    EXACT,
    MAX_ENTRIES,
    SCHEMA_VERSION,
    Breakdown,
    Clusters,
    Count,
    Digests,
    DisplayText,
    Evidence,
    Name,
    NonNegative,
    Number,
    Sha256,
    Text,
    UnitInterval,
    Version,
    WireModel,
    empty_mapping,
)
from benchgate.wire.plain import listed
from benchgate.wire.usage import Usage as Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Outcome = Literal[
    "scored", "harness_error", "rubric_error", "timeout", "skipped", "not_run", "unavailable"
]
WhyNotRun = Literal["capped", "stopped", "set_aside", "after_violation"]
"""
Why a trial was not run, where code asks: the cap on costs had no room for it; its run had stopped early, or did so
while it ran; or the rubric had broken its contract in another trial.
"""
Scope = Literal["full", "selected"]
Side = Literal["candidate", "baseline"]
"""Whose trial it is, where a baseline runs in the session of the candidate."""
Isolation = Literal["none", "process", "sandbox+network", "sandbox"]
"""Where a trial runs, weakest first: in the session's process, in one of its own, or in one that reaches little."""


class BenchScore(WireModel):
    """
    What a rubric reports about one output.

    :param passed: whether the task is done.
    :param score: in [0, 1], 1 is best.
    :param breakdown: named parts of the score, finite numbers; read-only.
    :param failure_modes: codes from the class's ``failure_modes.toml``; repeated codes are dropped.
    :param cost_usd: what judging cost, in US dollars, at most a billion; what the system used is ``case.usage``.
    :param safety_penalty: harm done, 0 or more, in a unit that the class chooses; ``None`` means not measured.
    :param explanation: why the case scored as it did, for people; not part of the run's id, and cut at 2,000
        characters.
    :param evidence: for parts of the score, by name, a short text on what they rest on; cut in the same way.
    """

    # A trial validates what a rubric returned; its result is not to keep a second one.
    model_config = ConfigDict(revalidate_instances="never")

    passed: bool
    score: UnitInterval
    breakdown: Breakdown = Field(default_factory=empty_mapping)
    failure_modes: Annotated[
        tuple[Name, ...],
        BeforeValidator(listed),
        AfterValidator(lambda codes: tuple(dict.fromkeys(codes))),
        Field(max_length=MAX_ENTRIES),
    ] = ()
    cost_usd: Annotated[float, Field(ge=0, le=1e9), EXACT] = 0.0
    safety_penalty: NonNegative | None = None
    explanation: DisplayText | None = Field(default=None, exclude_if=lambda text: text is None)
    evidence: Evidence = Field(default_factory=empty_mapping, exclude_if=lambda texts: not texts)

    if TYPE_CHECKING:
        # The signature that type checkers derive from the fields would reject a list of failure modes.
        def __init__(
            self,
            *,
            passed: bool,
            score: float,
            breakdown: Mapping[str, float] = ...,
            failure_modes: Sequence[str] = (),
            cost_usd: float = 0.0,
            safety_penalty: float | None = None,
            explanation: str | None = None,
            evidence: Mapping[str, str] = ...,
        ) -> None: ...


class FailureMode(WireModel):
    """
    One failure of a trial: a code of the class's taxonomy or of the harness, and the cause if known.

    :param detail: the cause, for people.
    :param error: the type of the exception that was the cause.
    """

    code: Name
    detail: DisplayText | None = None
    error: DisplayText | None = Field(default=None, exclude_if=lambda name: name is None)


class TrialResult(WireModel):
    """
    The result of one trial of one case.

    :param outcome: only ``scored`` comes with a score; any other outcome counts as score 0, not passed.
    :param detail: why a trial was skipped, not run, or had no system to run: for people, and no part of the run's id.
    :param why: the same for programs: ``capped``, ``stopped``, ``set_aside`` or ``after_violation``.
    :param cap_usd: the cap on costs of a trial that is ``capped``, in US dollars.
    :param violation: the rubric broke its contract in this trial, and scored no other after it.
    :param reruns: earlier attempts, by a plugin that retries tests; a retried trial makes the run incomplete.
    :param retries: earlier attempts that failed because something outside the system did.
    :param usage: what the system used, in these attempts too; ``None`` if it reported nothing.
    :param left_files: the system left files in ``work_path``, so that its output alone cannot be scored again.
    :param http_cassettes: recordings that answered the system's own HTTP requests in place of a service.
    :param http_sha256: SHA-256 of the recording of these requests; if there are several, one over all of theirs.
    :param observed: the result of observing the output.
    :param masked: a key or token was masked in its output, in what was observed, or in a text.
    :param differs: in a replay: the same rubric gave the same output another score before.
    """

    # Validated where it is made or comes in, and not once more in a report: that would keep each twice.
    model_config = ConfigDict(revalidate_instances="never")

    case_id: Text  # not CaseId: a malformed case has its folder's name, whatever that is
    trial: Count
    seed: Count
    held_out: bool
    outcome: Outcome
    score: BenchScore | None = None
    failure_modes: tuple[FailureMode, ...] = ()
    detail: DisplayText | None = None
    why: WhyNotRun | None = Field(default=None, exclude_if=lambda why: why is None)
    cap_usd: NonNegative | None = Field(default=None, exclude_if=lambda cap: cap is None)
    violation: bool = Field(default=False, exclude_if=lambda violation: not violation)
    reruns: Count = 0
    retries: Count = 0
    duration_seconds: NonNegative = 0.0
    usage: Usage | None = None
    left_files: bool = Field(default=False, exclude_if=lambda left: not left)
    http_cassettes: tuple[Text, ...] = ()
    http_sha256: Sha256 | None = None
    observed: Observed | None = Field(default=None, exclude_if=lambda seen: seen is None)
    masked: bool = Field(default=False, exclude_if=lambda masked: not masked)
    differs: bool = Field(default=False, exclude_if=lambda differs: not differs)

    @property
    def passed(self) -> bool:
        """Whether the trial was scored and the rubric passed it."""
        return self.score is not None and self.score.passed

    def verdicts(self) -> tuple[tuple[bool, float], ...]:
        """Return whether the output passed by each observation that this observer made of it, and its score."""
        if self.observed is None or self.score is None:
            return ()
        now = self.observed.verdicts or ((self.score.passed, self.score.score),)
        return (*self.observed.before, *now)


class Aggregates(WireModel):
    """
    Figures over a set of cases; a case with several trials counts once, with the mean of its trials.

    :param score_lower_bound_95: Gaffke's one-sided 95 % lower bound of the mean; ``None`` for a selection of cases.
    :param passed_count: cases of which every trial passed.
    :param total_cost_usd: what all systems and rubrics reported, in US dollars.
    :param mean_safety_penalty: over the trials with a score; ``None`` if one of them, or a whole case, has no penalty.
    :param block_severity_failure_modes: codes of severity ``block`` that occurred, sorted.
    :param usage: the sum of what the system reported, judging left out; ``None`` if it reported nothing.
    """

    case_count: Count
    mean_score: UnitInterval
    score_lower_bound_95: UnitInterval | None
    passed_count: Count
    total_cost_usd: NonNegative
    mean_safety_penalty: NonNegative | None
    block_severity_failure_modes: tuple[str, ...]
    usage: Usage | None = None


class Suite(WireModel):
    """The bench that was run: the name of its task class, and as version the start of a digest over its cases."""

    name: str
    version: str


class RunDigests(WireModel):
    """
    SHA-256 of everything that a run depends on; ``None`` for a system without a digest and for no baseline.

    :param baseline: of the file of the baseline; of ``run:SYSTEM`` that of the system, see ``system_digest``.
    :param checkpoint: of the file that the system was handed as its checkpoint; ``None`` if it was handed none.
    """

    cases: Digests
    rubric: Sha256
    scorer: Sha256
    taxonomy: Sha256
    system: str | None
    policy: Sha256
    baseline: Sha256 | None = None
    checkpoint: Sha256 | None = None


class LogSource(WireModel):
    """
    The log of another harness that results were read from.

    :param tool: what wrote it; ``version`` of that, ``None`` if the log does not say.
    :param sha256: of the file.
    :param metric: which of its scores was read.
    :param score_range: the worst and the best score of the metric, which count as 0 and 1.
    :param without: cases that the log names and has no result of, such as tests that were skipped; sorted.
    :param told: how it was to be read: what its map says, and the file of that with its SHA-256, which rows are
        samples, which failures are errors; left out if nothing was asked.
    :param passed: the field that says which samples pass; left out if it is the best score that does.
    """

    tool: DisplayText
    version: DisplayText | None
    sha256: Sha256
    metric: DisplayText
    score_range: tuple[Number, Number]
    without: tuple[Text, ...]
    told: tuple[DisplayText, ...] = Field(default=(), exclude_if=lambda told: not told)
    passed: DisplayText | None = Field(default=None, exclude_if=lambda name: name is None)


class Part(WireModel):
    """The record that a baseline was extended from: when its run ended, and what looks at it are counted by."""

    sha256: Sha256
    finished_at: AwareDatetime
    counted_by: Sha256


class BenchRunReport(Aggregates):
    """
    The results of a run and their figures. Facts only, so that any policy can judge it; the decision is elsewhere.

    :param run_id: SHA-256 over the results without times, costs, paths and details: same results, same id.
    :param plan_id: SHA-256 over what was planned: cases, rubric, system, policy, seed.
    :param reads: what the system could read at level ``sandbox`` besides its own code.
    :param trial_count: trials of each case.
    :param complete: every planned trial was run once, to a score or a failure of the system.
    :param held_out: the same figures over the held-out cases; ``None`` if the run has none.
    :param clusters: the ``cluster`` of each case that names one, by case id.
    :param retired: cases of the class that are no longer run, and why.
    :param critical: ids of the cases that may not newly fail under any claim, sorted.
    :param source: the log that the results were read from.
    :param stopped: of a run that stopped early, ids of the cases in the order in which they ran.
    :param observer: what observed the outputs.
    :param parts: of an extended baseline, the records that it was extended from, oldest first.
    """

    schema_version: Version = SCHEMA_VERSION
    run_id: Sha256
    plan_id: Sha256
    task_class: str
    scope: Scope
    suite: Suite
    system: str
    isolation_class: Isolation = "none"
    reads: tuple[Text, ...] = Field(default=(), exclude_if=lambda paths: not paths)
    trial_count: Annotated[Count, Field(ge=1)]
    seed: Count
    complete: bool
    per_case: tuple[TrialResult, ...]
    held_out: Aggregates | None
    critical: tuple[Text, ...] = ()
    digests: RunDigests
    clusters: Clusters = Field(default_factory=empty_mapping)
    retired: Clusters = Field(default_factory=empty_mapping, exclude_if=lambda cases: not cases)
    source: LogSource | None = Field(default=None, exclude_if=lambda source: source is None)
    stopped: tuple[Text, ...] = Field(default=(), exclude_if=lambda ids: not ids)
    observer: Observer | None = Field(default=None, exclude_if=lambda one: one is None)
    parts: tuple[Part, ...] = Field(default=(), exclude_if=lambda parts: not parts)

    @property
    def shown(self) -> BenchRunReport:
        """The report with the trials alone that ran, if it stopped early: no result of the others is missed."""
        ran = tuple(r for r in self.per_case if not self.stopped or r.outcome != "not_run")
        count = len({result.case_id for result in ran})
        return self.model_copy(update={"per_case": ran, "case_count": count})
