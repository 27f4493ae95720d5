"""What people say of outputs, in the ``labels.toml`` of a class, and how far its observer agrees with them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, Self

from pydantic import AwareDatetime, BeforeValidator, Field, model_validator

from benchgate.aggregate import mean
from benchgate.errors import LocatedError
from benchgate.sentences.says import parts, says
from benchgate.wire.files import MAX_TREE_BYTES
from benchgate.wire.model import Count, Name, Sha256, Text, UnitInterval, WireModel
from benchgate.wire.plain import listed
from benchgate.wire.toml import check_tables, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.models import BenchRunReport, Observer
    from benchgate.sentences.says import Says

Whose = Literal["candidate", "baseline", "earlier"]
LABELS: Final = "labels.toml"
LEVEL: Final = 0.975
"""Of each of the two bounds of an interval."""
FROM: Final = 15
"""Labelled outputs of each of two runs from which on the observer's errors on them are compared."""


class SeenOutput(WireModel):
    """
    What the observer has a labelled output at.

    :param whose: results these are: of this run, of its baseline, or of an earlier run.
    :param seq: number of the record of an earlier run; left out of the others.
    """

    whose: Whose
    passed: bool
    score: UnitInterval
    seq: Count | None = Field(default=None, exclude_if=lambda number: number is None)


class Label(WireModel):
    """
    What a person says of the output with this SHA-256: whether it passes, or its score.

    :param observed: each result of this output that is known.
    """

    case: Text
    output: Sha256
    passed: bool | None = None
    score: UnitInterval | None = None
    by: Name
    at: AwareDatetime
    observed: tuple[SeenOutput, ...] = Field((), exclude_if=lambda seen: not seen)

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.passed is None) == (self.score is None):
            raise ValueError("expected passed or score, and not both")
        return self

    @property
    def said(self) -> float:
        """The score, or 1 for passed and 0 for not."""
        if self.score is not None:
            return self.score
        return float(bool(self.passed))


class Observing(NamedTuple):
    """
    A run whose results may have labelled outputs.

    :param whose: it is, for the run that is judged.
    :param seq: number of its record, if it is an earlier one.
    """

    whose: Whose
    report: BenchRunReport
    seq: int | None = None


class _File(WireModel):
    label: Annotated[tuple[Label, ...], BeforeValidator(listed)] = ()


def read_labels(class_path: Path) -> tuple[Label, ...]:
    """Return the labels of a class; :raises LocatedError: with all faults of the file."""
    path = class_path / LABELS
    if not os.path.lexists(path):
        return ()
    table, lines = read_toml(path, LocatedError, limit=MAX_TREE_BYTES)
    return check_tables(path, table, lines, _File, LocatedError).label


def seen_in(
    labels: Iterable[Label], observer: Observer | None, runs: Iterable[Observing]
) -> tuple[Label, ...]:
    """
    Return labels with what an observer has their outputs at, as far as runs have it.

    :param observer: what is said by another one is left out.
    :param runs: of an output that candidate and baseline lack, the first earlier result counts.
    """
    found: dict[tuple[str, str], list[SeenOutput]] = {}
    for run in runs:
        if run.report.observer != observer:
            continue
        for result in run.report.per_case:
            if result.score is None or result.observed is None:
                continue
            key = (result.case_id, result.observed.output)
            if run.whose == "earlier" and key in found:
                continue
            seen = SeenOutput(
                whose=run.whose, passed=result.passed, score=result.score.score, seq=run.seq
            )
            found.setdefault(key, []).append(seen)
    return tuple(
        label.model_copy(update={"observed": tuple(found.get((label.case, label.output), ()))})
        for label in labels
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """
    One label beside one result of an observer.

    :param error: the observer's score minus what the person says; of passed or failed, 1 or -1 where they differ.
    """

    label: Label
    whose: Whose
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """
    A value of each labelled output, and what the output is a cluster with.

    :param low: the smallest value that there can be; the largest is 1.
    """

    values: list[float]
    sources: list[str]
    low: float

    @property
    def mean(self) -> float:
        """Mean of the values."""
        return mean(self.values)

    @property
    def lower(self) -> float:
        """Exact lower bound of the mean."""
        from benchgate.statistics.bounds import gaffke_lower

        return gaffke_lower(self.values, self.sources, confidence=LEVEL, low=self.low)

    @property
    def upper(self) -> float:
        """Exact upper bound of the mean."""
        from benchgate.statistics.bounds import gaffke_upper

        return gaffke_upper(self.values, self.sources, confidence=LEVEL, low=self.low)


def agreement(
    labels: Sequence[Label], clusters: Mapping[str, str]
) -> tuple[float, list[tuple[str, Says]]]:
    """Return the exact lower bound of how far an observer agrees with people, and notes; 0 without a label."""
    rows = [*_rows(labels)]
    agreed = _sample(((row.label, 1.0 - abs(row.error)) for row in rows), clusters, low=0.0)
    before = _errors(rows, "baseline", clusters)
    after = _errors(rows, "candidate", clusters)
    said = [
        *_agreed(agreed),
        *_after(after),
        *_before(before),
        *_contradictions(labels),
        *_lost(labels),
    ]
    notes = [("observer_agreement", one) for one in said]
    notes += _bias(before, after)
    return agreed.lower, notes


def _agreed(sample: _Sample) -> Iterator[Says]:
    """Yield how far observer and people agree, if anything is labelled."""
    if sample.values:
        yield says(
            "observer_agreement.agreed",
            mean=sample.mean,
            outputs=len(sample.values),
            low=sample.lower,
            high=sample.upper,
        )


def _after(sample: _Sample) -> Iterator[Says]:
    """Yield the observer's mean error on outputs of the candidate."""
    if sample.values:
        yield says(
            "observer_agreement.candidate",
            mean=sample.mean,
            outputs=len(sample.values),
            low=sample.lower,
            high=sample.upper,
        )


def _before(sample: _Sample) -> Iterator[Says]:
    """Yield the observer's mean error on outputs of the baseline."""
    if sample.values:
        yield says(
            "observer_agreement.baseline",
            mean=sample.mean,
            outputs=len(sample.values),
            low=sample.lower,
            high=sample.upper,
        )


def _rows(labels: Iterable[Label]) -> Iterator[_Row]:
    for label in labels:
        for seen in label.observed:
            value = seen.score
            if label.passed is not None:
                value = float(seen.passed)
            yield _Row(label=label, whose=seen.whose, error=value - label.said)


def _errors(rows: Iterable[_Row], whose: Whose, clusters: Mapping[str, str]) -> _Sample:
    """Return the observer's errors on the outputs of one run."""
    of_run = ((row.label, row.error) for row in rows if row.whose == whose)
    return _sample(of_run, clusters, low=-1.0)


def _sample(
    rows: Iterable[tuple[Label, float]], clusters: Mapping[str, str], *, low: float
) -> _Sample:
    """Return the mean of each output, over its labels and results, and what it is a cluster with."""
    found: dict[tuple[str, str], list[float]] = {}
    for label, value in rows:
        found.setdefault((label.case, label.output), []).append(value)
    return _Sample(
        values=[mean(values) for values in found.values()],
        sources=[clusters.get(case, f"case {case}") for case, _ in found],
        low=low,
    )


def _contradictions(labels: Iterable[Label]) -> Iterator[Says]:
    """Yield how many labels say something else of an output than another one."""
    said = {(label.case, label.output, label.said) for label in labels}
    outputs = {(case, output) for case, output, _ in said}
    more = len(said) - len(outputs)
    if more:
        yield says("observer_agreement.contradictions", count=more)


def _lost(labels: Iterable[Label]) -> Iterator[Says]:
    """Yield which labelled outputs no run has."""
    lost = {(label.output[:12], label.case) for label in labels if not label.observed}
    outputs = [says("labelled_output", output=output, case=case) for output, case in lost]
    if outputs:
        yield says("observer_agreement.lost", outputs=parts(outputs))


def _bias(before: _Sample, after: _Sample) -> Iterator[tuple[str, Says]]:
    """Yield that the observer's errors favour one side, if enough outputs of both are labelled to show it."""
    if len(before.values) < FROM or len(after.values) < FROM:
        return
    from benchgate.statistics.bounds import mover_gaffke

    low, high = mover_gaffke(
        before.values,
        after.values,
        (before.sources, after.sources),
        confidence=LEVEL,
        low=-1.0,
    )
    if low > 0.0:
        yield "observer_bias", says("observer_bias", side="candidate", error=low)
    elif high < 0.0:
        yield "observer_bias", says("observer_bias", side="baseline", error=-high)
