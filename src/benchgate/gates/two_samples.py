"""Welch's test of two independent samples, for sides that do not have the same cases."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from benchgate.gates.constant import Constant
from benchgate.gates.inference import MeanInference
from benchgate.statistics.bounds import mover_gaffke
from benchgate.statistics.student import TTest
from benchgate.statistics.welch import welch_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.figures import Arm
    from benchgate.gates.inference import Ends
    from benchgate.gates.policy import GatePolicy
    from benchgate.statistics.clusters import Labels


class TwoSamples(MeanInference[TTest]):
    """Welch's test with a guard against skewness, which gives way where the exact bound agrees with the plain test."""

    name = "welch"

    @cached_property
    def plain(self) -> TTest:
        """The test as published, of the difference itself."""
        return self._welch(0.0, is_skewed=False)

    def published(self, null: float) -> TTest:
        """Return the test as published, without the guard, of the difference minus ``null``."""
        if not null:
            return self.plain
        return self._welch(null, is_skewed=False)

    def test(self, null: float) -> TTest:
        """Return the guarded test, or the published one where that is enough."""
        plain = self.published(null)
        scores = {*self.compared.baseline.scores, *self.compared.candidate.scores}
        if len(scores) <= 2:  # Welch keeps its level where scores have two values
            return plain
        return self.freed(plain, self._welch(null, is_skewed=True), null)

    def _welch(self, null: float, *, is_skewed: bool) -> TTest:
        return welch_test(
            self.compared.baseline.scores,
            self.compared.candidate.scores,
            self.compared.labels,
            alpha=self.policy.alpha,
            null_delta=null,
            is_skewed=is_skewed,
        )

    @property
    def test_interval(self) -> Ends:
        """The interval of Student's t."""
        return self.unshifted.ci_low, self.unshifted.ci_high

    @property
    def samples(self) -> Sequence[tuple[Sequence[float], Labels]]:
        """The scores of both sides."""
        before = self.compared.baseline
        after = self.compared.candidate
        return [(before.scores, before.labels), (after.scores, after.labels)]

    @cached_property
    def lower_bound(self) -> float | None:
        """Bound of the difference by Gaffke's bounds of both means."""
        return mover_bound(self.compared.baseline, self.compared.candidate, self.policy)

    @cached_property
    def opposite_bound(self) -> float | None:
        """The same with the sides exchanged."""
        return mover_bound(self.compared.candidate, self.compared.baseline, self.policy)

    @property
    def smallest_margin(self) -> float | None:
        """Not known of two samples: it depends on how both vary."""
        return None


class ConstantSamples(Constant[TTest], TwoSamples):
    """Two samples of which one at least does not vary."""


def mover_bound(baseline: Arm, candidate: Arm, policy: GatePolicy) -> float | None:
    """Return the lower bound of the difference of two samples; ``None`` without a range, or below two cases."""
    if policy.score_range is None:
        return None
    if min(len(baseline.scores), len(candidate.scores)) < 2:
        return None
    low, high = policy.score_range
    bounds = mover_gaffke(
        baseline.scores,
        candidate.scores,
        (baseline.labels, candidate.labels),
        confidence=1 - policy.alpha / 2,
        low=low,
        high=high,
    )
    return bounds[0]
