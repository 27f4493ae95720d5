"""
One side of a comparison: what a decision asks of a run.

It is made from the report of the run. The record of a run that was compared with a file has that side of its baseline,
so that the decision can be made again when the file is gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Self

from pydantic import AfterValidator, ConfigDict, Field, PlainSerializer, model_validator

from benchgate.aggregate import by_case, figures_of, fingerprints, has_failed, outputs_digest
from benchgate.ids import system_digest
from benchgate.models import BenchRunReport, Isolation, Observer
from benchgate.sentences.says import Says
from benchgate.wire.frozen import freeze_json
from benchgate.wire.model import (
    Clusters,
    Count,
    DisplayText,
    NonNegative,
    Sha256,
    Text,
    UnitInterval,
    WireModel,
    empty_mapping,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.models import TrialResult

Values = tuple[NonNegative | None, ...]
Places = Annotated[
    Mapping[Text, tuple[Count, ...]],
    AfterValidator(freeze_json),
    PlainSerializer(dict, return_type=dict[str, tuple[int, ...]]),
]


class CaseIds(WireModel):
    """Which cases a run has, sorted by id."""

    ids: tuple[Text, ...]


class CaseTable(CaseIds):
    """
    The cases of a run, sorted by id: a column for each thing that is known of them, with a value for each case.

    There may be ten thousand, and whoever wants but the head of a record reads past them. A column that has no value is
    ``None``. Trials are named by their place.

    :param digests: of the files of each case.
    :param scores: of the trials of each case; one that was not scored counts as 0.
    :param passed: whether every trial passed; ``None`` if an error hides it.
    :param errors: the trials that ended in ``harness_error``, of the cases that have some; ``timeouts`` likewise, and
        ``failed``: those that did not pass and say so.
    :param penalties: mean safety penalty over the trials, as are ``costs_usd`` and ``durations_seconds``.
    """

    # Made from results of trials, or validated when a record was read.
    model_config = ConfigDict(revalidate_instances="never")

    digests: tuple[Sha256 | None, ...]
    scores: tuple[tuple[UnitInterval, ...], ...]
    passed: tuple[bool | None, ...]
    errors: Places
    timeouts: Places
    failed: Places
    penalties: Values | None
    costs_usd: Values | None
    durations_seconds: Values | None

    @model_validator(mode="after")
    def _has_full_columns(self) -> Self:
        count = len(self.ids)
        if list(self.ids) != sorted(set(self.ids)):
            raise ValueError("expected ids in their order, each once")
        for name in COLUMNS:
            column = getattr(self, name)
            if column is not None and len(column) != count:
                raise ValueError(f"{len(column)} {name}; expected {count}, one for each case")
        return self

    @classmethod
    def of(cls, report: BenchRunReport) -> CaseTable:
        """Return the cases of a report."""
        trials = by_case(report.per_case)
        cases = [figures_of(case_id, of_case) for case_id, of_case in trials]
        digests = report.digests.cases
        durations = None
        if report.source is None:  # durations in a log are those of another harness
            durations = tuple(case.duration_seconds for case in cases)
        # Not validated again: each value was in the result of a trial.
        return cls.model_construct(
            ids=tuple(case.case_id for case in cases),
            digests=tuple(digests.get(case.case_id) for case in cases),
            scores=tuple(case.trials for case in cases),
            passed=tuple(None if case.erred else case.passed for case in cases),
            errors=_places(trials, lambda trial: trial.outcome == "harness_error"),
            timeouts=_places(trials, lambda trial: trial.outcome == "timeout"),
            failed=_places(trials, has_failed),
            penalties=_column(case.safety_penalty for case in cases),
            costs_usd=_column(case.cost_usd for case in cases),
            durations_seconds=durations,
        )


COLUMNS: Final = ("digests", "scores", "passed", "penalties", "costs_usd", "durations_seconds")


def _places(
    cases: Iterable[tuple[str, Sequence[TrialResult]]], is_one: Callable[[TrialResult], bool]
) -> Mapping[str, tuple[int, ...]]:
    """Return of which trials something is true, by their place, of the cases that have some."""
    found: dict[str, tuple[int, ...]] = {}
    for case_id, trials in cases:
        if any(map(is_one, trials)):
            found[case_id] = tuple(n for n, trial in enumerate(trials) if is_one(trial))
    return MappingProxyType(found)


def _column(values: Iterable[float | None]) -> tuple[float | None, ...] | None:
    """Return the values of all cases; ``None`` if none of them has one."""
    column = tuple(values)
    if all(value is None for value in column):
        return None
    return column


class SideHead(WireModel):
    """
    What makes a run one that is looked at, and how its cases are labelled.

    :param log: SHA-256 of the log that its results were read from; left out of a run of a bench.
    :param outputs: what looks at it are counted by if it is observed again, or extended; left out of other runs.
    :param clusters: the ``cluster`` of each case that names one.
    :param critical: ids of the cases that may not newly fail; ``held_out`` of those that are held out.
    :param retired: cases of the class that were no longer run, and why.
    """

    run_id: Sha256
    system: str
    log: str | None = Field(default=None, exclude_if=lambda sha256: sha256 is None)
    outputs: Sha256 | None = Field(default=None, exclude_if=lambda sha256: sha256 is None)
    clusters: Clusters
    critical: tuple[Text, ...]
    held_out: tuple[Text, ...]
    retired: Clusters = Field(default_factory=empty_mapping, exclude_if=lambda cases: not cases)
    table: CaseIds


class RunSide(SideHead):
    """
    A run as one side of a comparison.

    :param scorer: digest of what scored it.
    :param fingerprints: which builds of a model observed it; left out if nobody says.
    """

    task_class: str
    scorer: Sha256
    isolation_class: Isolation
    observer: Observer | None = Field(default=None, exclude_if=lambda one: one is None)
    fingerprints: tuple[DisplayText, ...] = Field(default=(), exclude_if=lambda names: not names)
    table: CaseTable

    @classmethod
    def of(cls, report: BenchRunReport) -> RunSide:
        """Return the side that a report is."""
        log = None
        if is_log(report):
            log = report.digests.system
        held_out = {result.case_id for result in report.per_case if result.held_out}
        return cls(
            run_id=report.run_id,
            task_class=report.task_class,
            system=report.system,
            scorer=report.digests.scorer,
            isolation_class=report.isolation_class,
            log=log,
            observer=report.observer,
            outputs=outputs_digest(report),
            fingerprints=fingerprints(report),
            clusters=report.clusters,
            critical=report.critical,
            held_out=tuple(sorted(held_out)),
            retired=report.retired,
            table=CaseTable.of(report),
        )


class BaselineFacts(WireModel):
    """
    A baseline as a decision sees it; of one from a file, a record has this.

    :param path: of its file, from the folder of the record; of one that ran too only a name, ``run:`` and the system.
    :param sha256: of its file; ``None`` if that could not be read.
    :param problems: why no run can be compared with it; left out if nothing is wrong with it.
    :param outputs_at: where its outputs are, as ``--reobserve`` takes it; left out if they are not kept.
    :param new_series: why a person began a new series of looks with it; left out if nobody did.
    :param run: what it was; ``None`` if the file is no record of a run.
    """

    path: str
    sha256: Sha256 | None
    problems: tuple[Says, ...] = Field(default=(), exclude_if=lambda found: not found)
    outputs_at: Text | None = Field(default=None, exclude_if=lambda place: place is None)
    new_series: Text | None = Field(default=None, exclude_if=lambda reason: reason is None)
    run: RunSide | None


class RerunBaseline(WireModel):
    """
    The baseline of ``run:SYSTEM``: it ran in the same session, and its trials have their files in ``cases/`` too.

    :param report: with all of its results, as that of the candidate.
    :param place: of a log, where its file was, by a path from the folder of the record; left out of others.
    :param new_series: why a person began a new series of looks at that log; left out if nobody did.
    """

    report: BenchRunReport
    place: Text | None = Field(default=None, exclude_if=lambda place: place is None)
    new_series: Text | None = Field(default=None, exclude_if=lambda reason: reason is None)

    @property
    def sha256(self) -> str:
        """What the plan says of it: the digest of its system."""
        return system_digest(self.report)


def is_log(run: BenchRunReport | RunSide) -> bool:
    """Return whether the results of a run were read from the log of another harness."""
    if isinstance(run, RunSide):
        return run.log is not None
    return run.source is not None


def case_ids(run: BenchRunReport | RunSide) -> set[str]:
    """Return the ids of the cases that a run has results of."""
    if isinstance(run, RunSide):
        return set(run.table.ids)
    return {result.case_id for result in run.per_case}


def table_of(run: BenchRunReport | RunSide) -> CaseTable:
    """Return what is known of the cases of a run."""
    if isinstance(run, RunSide):
        return run.table
    return CaseTable.of(run)
