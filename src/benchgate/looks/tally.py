"""The number of a look: how many different results one thing was compared with before."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from benchgate.errors import EvalError
from benchgate.gates.decision import PREFIX, CheckpointPromotionDecision
from benchgate.gates.looks import LookNumber
from benchgate.gates.run_diff import relabelled
from benchgate.wire.model import Count, Number, Sha256, WireModel, empty_mapping

if TYPE_CHECKING:
    from benchgate.gates.figures import Figures

    AnyJudged = tuple[Figures | None, CheckpointPromotionDecision]


Results = tuple[Sha256, Sha256]
Seen = tuple[Results, tuple[tuple[str, str], ...]]


class LookDecision(CheckpointPromotionDecision):
    """
    The decision at a look, with the figures that a loop needs.

    :param cost: trials that were run for this look: the candidate's; in an Acceptor the first incumbent's too.
    :param delta: the candidate's mean score minus the baseline's; no figure is there if nothing was compared.
    :param interval: of the difference, at 1 - alpha of the look; an end is ``None`` where there is none.
    :param p: two-sided, of the test that decides.
    """

    cost: Count
    delta: Number | None = None
    interval: tuple[Number | None, Number | None] = (None, None)
    p: Number | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """The codes of the reasons without the prefix that they have in files."""
        return tuple(code.removeprefix(PREFIX) for code in self.reason_codes)

    @classmethod
    def of(cls, judged: AnyJudged, cost: int) -> LookDecision:
        """Return a decision with its figures."""
        figures, decision = judged
        found = dict(decision)
        if figures is not None:
            seen = figures.significance
            found["interval"] = (seen.delta_ci_low, seen.delta_ci_high)
            found |= {"delta": seen.mean_delta, "p": seen.p_value}
        return cls(**found, cost=cost)


class Looked(WireModel):
    """
    What was looked at, and the digests of the results of both sides.

    :param at: digest of cases, what scores them, and a baseline, by its results or its name.
    :param looks: how alpha is divided: if by ``spend:K``, the first look of a series says so for all.
    :param cases: digest of the cases alone, if a series may go on with other cases.
    :param decision: that of an Acceptor, which its search is not told.
    :param labels: of the cases, as :mod:`benchgate.gates.run_diff` has them; with others this is another look.
    :param relabelled: the first have changed since the pin, which counts as a look, as each change does.
    :param folder: of the record that says so.
    :param over: this is no look: it ends the series, for its decisions were shown.
    """

    at: Sha256
    results: Results
    looks: str = "count"
    cases: Sha256 | None = None
    decision: LookDecision | None = None
    labels: Mapping[str, str] = Field(default_factory=empty_mapping)
    relabelled: bool = False
    folder: Path | None = None
    over: bool = False

    @cached_property
    def seen(self) -> Seen:
        """What makes this a look of its own, of those at the same thing."""
        return self.results, tuple(sorted(self.labels.items()))


class Tally:
    """
    Counts looks in their order.

    :param unknown: looks of which nothing is known; they count for everything that is looked at.
    :param series: what was added, by what was looked at and by the results.
    """

    def __init__(self) -> None:
        self.unknown = 0
        self.series: dict[str, dict[Seen, Looked]] = {}
        self._numbers: dict[tuple[str, Seen], int] = {}

    def number(self, looked: Looked) -> LookNumber:
        """Return the number that a look has or would have; results that were seen have that of the first time."""
        seen, place = self.series.get(looked.at, {}), (looked.at, looked.seen)
        series = (*seen.values(), looked)
        changes = len({one.seen[1] for one in series}) - 1 + series[0].relabelled
        new = len(series) + changes + self.unknown
        number = LookNumber(self._numbers.get(place, new))
        others = (one for one in reversed(seen.values()) if one.results[1] == looked.results[1])
        if before := next((one for one in others if one.labels != looked.labels), None):
            number.relabelled = relabelled(before.labels, looked.labels)
        first = next(iter(seen.values()), looked)
        if first.looks != looked.looks and "spend:" in first.looks + looked.looks:
            number.otherwise = first.looks
        if first.cases != looked.cases:
            number.earlier = tuple(one.folder for one in seen.values() if one.folder)
        return number

    def has(self, looked: Looked) -> bool:
        """
        Whether this was added before.

        :raises EvalError: the series is over, so that it gets no further look.
        """
        seen = self.series.get(looked.at, {})
        if seen and next(reversed(seen.values())).over and not looked.over:
            raise EvalError("details() ended this search: what it told would be searched on")
        there = seen.get(looked.seen)
        return there is not None and (looked.decision is None or there.decision is not None)

    def add(self, looked: Looked) -> LookNumber:
        """Count a look, and return its number."""
        number = self.number(looked)
        self._numbers.setdefault((looked.at, looked.seen), number)
        self.series.setdefault(looked.at, {})[looked.seen] = looked
        return number
