"""What people say of outputs, in the ``labels.toml`` of a class, and how far its observer agrees with them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import AwareDatetime, BeforeValidator, Field, model_validator

from benchgate.aggregate import mean
from benchgate.errors import LocatedError, counted, few
from benchgate.statistics.bounds import gaffke_lower, gaffke_upper, mover_gaffke
from benchgate.wire.files import MAX_TREE_BYTES
from benchgate.wire.model import Name, Sha256, Text, UnitInterval, WireModel
from benchgate.wire.plain import listed
from benchgate.wire.toml import check_tables, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.models import BenchRunReport, Observer

    Sample = tuple[list[float], list[str]]

Whose = Literal["candidate", "baseline", "earlier"]
LABELS: Final = "labels.toml"
LEVEL: Final = 0.975
"""Of each of the two bounds of an interval."""
FROM: Final = 15
"""Labelled outputs of each of two runs from which on the observer's errors on them are compared."""


class Label(WireModel):
    """
    What a person says of the output with this SHA-256: whether it passes, or its score.

    :param observed: whose results have this output, and whether it passed there, with which score.
    """

    case: Text
    output: Sha256
    passed: bool | None = None
    score: UnitInterval | None = None
    by: Name
    at: AwareDatetime
    observed: tuple[tuple[Whose, bool, UnitInterval], ...] = Field(
        (), exclude_if=lambda seen: not seen
    )

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.passed is None) == (self.score is None):
            raise ValueError("expected passed or score, and not both")
        return self

    @property
    def said(self) -> float:
        """The score, or 1 for passed and 0 for not."""
        return float(self.passed or 0) if self.score is None else self.score


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
    labels: Iterable[Label], observer: Observer | None, runs: Iterable[tuple[Whose, BenchRunReport]]
) -> tuple[Label, ...]:
    """
    Return labels with what an observer has their outputs at, as far as runs have it.

    :param observer: what is said by another one is left out.
    :param runs: and whose they are; of an output that candidate and baseline lack, the first earlier result counts.
    """
    found: dict[tuple[str, str], list[tuple[Whose, bool, float]]] = {}
    own = [(whose, run) for whose, run in runs if run.observer == observer]
    for whose, result in ((whose, result) for whose, run in own for result in run.per_case):
        if result.score is None or result.observed is None:
            continue
        key = result.case_id, result.observed.output
        if whose != "earlier" or key not in found:
            found.setdefault(key, []).append((whose, result.passed, result.score.score))
    seen = ((one, tuple(found.get((one.case, one.output), ()))) for one in labels)
    return tuple(label.model_copy(update={"observed": rows}) for label, rows in seen)


def agreement(
    labels: Sequence[Label], clusters: Mapping[str, str]
) -> tuple[float, list[tuple[str, str]]]:
    """Return the exact lower bound of how far an observer agrees with people, and notes; 0 without a label."""
    rows = [
        (one, whose, (score if one.passed is None else passed) - one.said)
        for one in labels
        for whose, passed, score in one.observed
    ]
    agreed = _sample(((one, 1.0 - abs(error)) for one, _, error in rows), clusters)
    after, before = (
        _sample(((one, error) for one, whose, error in rows if whose == side), clusters)
        for side in ("candidate", "baseline")
    )
    texts = [
        *_shown("observer and people agree on {:.3f} of {} outputs", agreed, 0.0),
        *_shown("observer minus people is {:+.3f} on {} of the candidate", after, -1.0),
        *_shown("{:+.3f} on {} of the baseline", before, -1.0),
    ]
    said = {(one.case, one.output, one.said) for one in labels}
    if more := len(said) - len({key[:2] for key in said}):
        texts.append(f"{counted(more, 'label')} contradict others, and all count")
    if lost := [f"{one.output[:12]} of case {one.case}" for one in labels if not one.observed]:
        texts.append(f"no run has the labelled {few(lost)}")
    notes = [("observer_agreement", "; ".join(texts))] if labels else []
    if min(len(before[0]), len(after[0])) >= FROM:
        arms, sources = (before[0], after[0]), (before[1], after[1])
        low, high = mover_gaffke(*arms, sources, confidence=LEVEL, low=-1.0)
        if not low <= 0.0 <= high:
            side, by = ("candidate", low) if low > 0.0 else ("baseline", -high)
            text = f"the observer favours the {side}: its error is higher there by {by:.3f} or more"
            notes.append(("observer_bias", text))
    return gaffke_lower(*agreed, confidence=LEVEL), notes


def _sample(rows: Iterable[tuple[Label, float]], clusters: Mapping[str, str]) -> Sample:
    """Return the mean of each output, over its labels and results, and what it is a cluster with."""
    found: dict[tuple[str, str], list[float]] = {}
    for one, value in rows:
        found.setdefault((one.case, one.output), []).append(value)
    return [*map(mean, found.values())], [clusters.get(case, f"case {case}") for case, _ in found]


def _shown(text: str, sample: Sample, low: float) -> Iterator[str]:
    if size := len(sample[0]):
        ends = (bound(*sample, confidence=LEVEL, low=low) for bound in (gaffke_lower, gaffke_upper))
        text += ", between {:.3f} and {:.3f} (95%)"
        yield text.format(mean(sample[0]), size, *ends)
