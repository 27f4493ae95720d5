"""What people say of outputs, in the ``labels.toml`` of a class, and how far its observer agrees with them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import AwareDatetime, BeforeValidator, Field, model_validator

from benchgate.aggregate import mean
from benchgate.errors import LocatedError, counted, few
from benchgate.statistics.bounds import gaffke_lower, gaffke_upper, mover_gaffke
from benchgate.wire.files import MAX_TREE_BYTES
from benchgate.wire.model import Name, Number, Sha256, Text, UnitInterval, WireModel
from benchgate.wire.plain import listed
from benchgate.wire.toml import check_tables, read_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.gates.decision import Blocker
    from benchgate.models import BenchRunReport, Observer

LABELS: Final = "labels.toml"
LEVEL: Final = 0.975
"""Of each of the two bounds of an interval."""
FROM: Final = 15
"""Labelled outputs of each of two runs from which on the observer's errors on them are compared."""


class Label(WireModel):
    """
    What a person says of the output with this SHA-256: whether it passes, or its score.

    :param observed: the same as the observer has it, in each result of each run with this output.
    """

    case: Text
    output: Sha256
    passed: bool | None = None
    score: UnitInterval | None = None
    by: Name
    at: AwareDatetime
    observed: tuple[tuple[Literal["candidate", "baseline", "earlier"], Number], ...] = Field(
        default=(), exclude_if=lambda all_: not all_
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


def labelled(
    labels: Iterable[Label],
    observer: Observer | None,
    runs: Iterable[tuple[str, BenchRunReport | None]],
) -> tuple[Label, ...]:
    """Return labels with what an observer has their outputs at, in those of the runs that it observed."""
    found: dict[tuple[str, str], list[tuple[str, float, float]]] = {}
    for whose, report in runs:
        for one in report.per_case if report and report.observer == observer else ():
            key = one.case_id, one.observed.output if one.observed else ""
            if one.score and (whose != "earlier" or key not in found):
                found.setdefault(key, []).append((whose, float(one.passed), one.score.score))
    rows = [(label, found.get((label.case, label.output), ())) for label in labels]
    return tuple(
        label.model_copy(
            update={"observed": tuple((w, p if label.score is None else s) for w, p, s in row)}
        )
        for label, row in rows
    )


def agreement(labels: Sequence[Label], clusters: Mapping[str, str]) -> tuple[float, list[Blocker]]:
    """Return the exact lower bound of how far an observer agrees with people, and notes; 0 without a label."""
    agreed = _sample(labels, clusters, measure=lambda error: 1.0 - abs(error))
    after, before = (_sample(labels, clusters, side) for side in ("candidate", "baseline"))
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


def _sample(
    labels: Sequence[Label],
    clusters: Mapping[str, str],
    side: str = "",
    measure: Callable[[float], float] = float,
) -> tuple[list[float], list[str]]:
    """Return a value of each output, the mean over labels and results, and what it is a cluster with."""
    rows: dict[tuple[str, str], list[float]] = {}
    for one in labels:
        if errors := [measure(seen - one.said) for s, seen in one.observed if side in ("", s)]:
            rows.setdefault((one.case, one.output), []).extend(errors)
    return [*map(mean, rows.values())], [clusters.get(case, f"case {case}") for case, _ in rows]


def _shown(text: str, sample: tuple[list[float], list[str]], low: float) -> Iterator[str]:
    if size := len(sample[0]):
        ends = (bound(*sample, confidence=LEVEL, low=low) for bound in (gaffke_lower, gaffke_upper))
        text += ", between {:.3f} and {:.3f} (95%)"
        yield text.format(mean(sample[0]), size, *ends)
