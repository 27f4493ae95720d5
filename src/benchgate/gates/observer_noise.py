"""How often verdicts on one output differ, and how much of what a comparison does not know is the observer's."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import variance
from typing import TYPE_CHECKING, Final, Self

from benchgate.aggregate import mean
from benchgate.sentences.says import names, says
from benchgate.statistics.student import t_upper_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Figures, Significance
    from benchgate.models import BenchRunReport, Observer
    from benchgate.sentences.says import Says


NOISE_FROM: Final = 20
"""Outputs with several verdicts from which on the observer's noise is estimated."""


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """
    The verdicts on each output that has several.

    :param outputs: the case of each, and whether it passed by each verdict, with which score.
    :param count: how many verdicts the observer gives an output.
    """

    outputs: Sequence[tuple[str, tuple[tuple[bool, float], ...]]]
    count: int

    @classmethod
    def of(cls, report: BenchRunReport, observer: Observer) -> Self:
        rows = [(result.case_id, result.verdicts()) for result in report.per_case]
        return cls([(case_id, row) for case_id, row in rows if len(row) > 1], observer.observations)

    def flips(self) -> Says:
        """Return on how many outputs they differ, and of which cases these are."""
        cases = Counter(
            case_id
            for case_id, row in self.outputs
            if len({has_passed for has_passed, _ in row}) > 1
        )
        count = len(self.outputs)
        if not cases:
            return says("observer_noise.none", differing=0, outputs=count)
        return says(
            "observer_noise.some", differing=cases.total(), outputs=count, cases=names(cases)
        )

    def share(self, figures: Figures, quantile: float, room: float) -> float:
        """
        Return how much of the variance of the difference is the observer's, at most 1.

        Its variance is that of the verdicts on one output, pooled over the candidate's and taken for both sides.

        :param quantile: of the test; half the width of the interval, ``room``, is so many standard errors.
        """
        spread = [variance([score for _, score in row]) for _, row in self.outputs]
        own = mean(spread) / self.count
        own *= sum(
            sum(1 / len(row) for row in arm.rows) / len(arm.scores) ** 2
            for arm in (figures.baseline, figures.candidate)
        )
        return min(1.0, own * (quantile / room) ** 2)

    def precision(self, figures: Figures) -> Says | None:
        """Return how well the difference is known, and would be with more verdicts; ``None`` if nobody knows."""
        head = figures.significance
        df = head.welch.df
        if head.test == "paired" and head.paired is not None:
            df = head.paired.df
        room = _half_width(head)
        if not df or not room:
            return None
        part = self.share(figures, t_upper_quantile(head.alpha / 2, df), room)
        more = self.count + 2
        narrower = room * math.sqrt(1 - part * (1 - self.count / more))
        return says("observer_noise.precision", now=room, verdicts=more, then=narrower, part=part)


def observer_noise(report: BenchRunReport, figures: Figures | None) -> Iterator[Blocker]:
    """Yield how often verdicts on one output differ, and how much of the difference's variance is the observer's."""
    if report.observer is None:
        return
    verdicts = _Verdicts.of(report, report.observer)
    if len(verdicts.outputs) < NOISE_FROM:
        return
    yield "observer_noise", verdicts.flips()
    if figures is None:
        return
    precision = verdicts.precision(figures)
    if precision is not None:
        yield "observer_noise", precision


def _half_width(head: Significance) -> float:
    if head.delta_ci_low is None or head.delta_ci_high is None:
        return 0.0
    return (head.delta_ci_high - head.delta_ci_low) / 2
