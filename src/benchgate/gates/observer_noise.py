"""How often verdicts on one output differ, and how much of what a comparison does not know is the observer's."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import variance
from typing import TYPE_CHECKING, Final, Self

from benchgate.aggregate import mean
from benchgate.errors import counted, few
from benchgate.statistics.student import t_upper_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Figures, Significance
    from benchgate.models import BenchRunReport, Observer


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

    def flips(self) -> str:
        """Return on how many outputs they differ, and of which cases these are."""
        cases = Counter(
            case_id
            for case_id, row in self.outputs
            if len({has_passed for has_passed, _ in row}) > 1
        )
        text = f"verdicts differ on {cases.total()} of {counted(len(self.outputs), 'output')}"
        if cases:
            text += f", of case {few(cases)}"
        return text

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

    def precision(self, figures: Figures) -> str:
        """Return how well the difference is known, and how well it would be with more verdicts; empty if unknown."""
        head = figures.significance
        test = head.paired if head.test == "paired" else head.welch
        room = _half_width(head)
        if test is None or not test.df or not room:
            return ""
        part = self.share(figures, t_upper_quantile(head.alpha / 2, test.df), room)
        more = self.count + 2
        narrower = room * math.sqrt(1 - part * (1 - self.count / more))
        text = (
            f"the difference is known to +-{room:.3f}, with {more} verdicts an output it would be "
        )
        return f"{text}+-{narrower:.3f} (the observer's part is {part:.0%})"


def observer_noise(report: BenchRunReport, figures: Figures | None) -> Iterator[Blocker]:
    """Yield how often verdicts on one output differ, and how much of the difference's variance is the observer's."""
    if report.observer is None:
        return
    verdicts = _Verdicts.of(report, report.observer)
    if len(verdicts.outputs) < NOISE_FROM:
        return
    text = verdicts.flips()
    precision = "" if figures is None else verdicts.precision(figures)
    if precision:
        text += f"; {precision}"
    yield "observer_noise", text


def _half_width(head: Significance) -> float:
    if head.delta_ci_low is None or head.delta_ci_high is None:
        return 0.0
    return (head.delta_ci_high - head.delta_ci_low) / 2
