"""The sign-flip test of pairs with its guard, for sides that have the same cases."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from benchgate.gates.constant import Constant
from benchgate.gates.inference import MeanInference
from benchgate.statistics.bounds import constant_cases_needed, gaffke_lower
from benchgate.statistics.paired import PairedTest, paired_interval, paired_test
from benchgate.statistics.summary import summarize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.inference import Answers, Ends
    from benchgate.gates.policy import GatePolicy
    from benchgate.statistics.clusters import Labels


class Pairs(MeanInference[PairedTest]):
    """Sign flips guarded by a t test that allows for skewness; the guard gives way where the exact bound agrees."""

    name = "paired"

    def guarded(self, null: float) -> PairedTest:
        """Return both tests of the differences minus ``null``, with the larger p of each side."""
        return paired_test(
            self.compared.differences,
            self.compared.pair_labels,
            alpha=self.policy.alpha,
            null_delta=null,
        )

    def test(self, null: float) -> PairedTest:
        """Return the guarded test, or that of the sign flips alone."""
        guarded = self.guarded(null)
        greater = guarded.sign_flip.half_ties_greater
        less = guarded.sign_flip.half_ties_less
        free = replace(
            guarded,
            p_two_sided=min(1.0, 2.0 * min(greater, less)),
            p_greater=greater,
            p_less=less,
        )
        return self.freed(free, guarded, null)

    @property
    def samples(self) -> Sequence[tuple[Sequence[float], Labels]]:
        """The differences."""
        return [(self.compared.differences, self.compared.pair_labels)]

    @property
    def test_interval(self) -> Ends:
        """
        The interval of both tests.

        It agrees with p about ``min_delta`` from below and about 0 from above, also where patterns were drawn for it or
        where only ties let the test pass.
        """
        low, high = paired_interval(
            self.compared.differences, self.compared.pair_labels, alpha=self.policy.alpha
        )
        null = self.policy.min_delta
        if _is_at_most(self.shifted.p_greater, self.policy.alpha / 2):
            low = max(low, null, self.lower_bound or null)
        else:
            low = min(low, null)
        if _is_at_most(self.unshifted.p_less, self.policy.alpha / 2):
            return low, min(high, 0.0)
        return low, max(high, 0.0)

    @cached_property
    def lower_bound(self) -> float | None:
        """Gaffke's bound of the mean difference."""
        return gaffke_bound(self.compared.differences, self.compared.pair_labels, self.policy)

    @cached_property
    def opposite_bound(self) -> float | None:
        """The same of the negated differences."""
        opposite = [-difference for difference in self.compared.differences]
        return gaffke_bound(opposite, self.compared.pair_labels, self.policy)

    @property
    def smallest_margin(self) -> float | None:
        """The margin that Gaffke's bound shows if no case changes."""
        unchanged = (0.0,) * self.compared.size
        bound = gaffke_bound(unchanged, self.compared.candidate.labels, self.policy)
        if bound is None:
            return None
        return -bound


class ConstantPairs(Constant[PairedTest], Pairs):
    """Pairs that all differ alike, or whose clusters do."""

    def better(self) -> Answers:
        """Answer by the bound, and with how many cases of the same gain the bound shows it."""
        return replace(super().better(), cases=self._cases_without_a_loss())

    def cases_for_margin(self) -> int | None:
        """Return how many cases show the margin: exact where all pairs differ alike."""
        cases = self._cases_without_a_loss()
        if cases is None:
            return super().cases_for_margin()
        return cases

    def _cases_without_a_loss(self) -> int | None:
        """Return how many cases with one and the same difference put the bound above the limit."""
        delta = self.compared.delta
        width = self.policy.width
        if summarize(self.compared.differences).sd or width is None or delta is None:
            return None
        return constant_cases_needed(
            delta - self.compared.limit,
            self.compared.candidate.labels,
            room=width + self.compared.limit,
            confidence=1 - self.policy.alpha / 2,
        )


def gaffke_bound(differences: Sequence[float], labels: Labels, policy: GatePolicy) -> float | None:
    """Return the lower bound of the mean of differences; ``None`` without a range, or below two of them."""
    width = policy.width
    if width is None or len(differences) < 2:
        return None
    return gaffke_lower(
        differences, labels, confidence=1 - policy.alpha / 2, low=-width, high=width
    )


def _is_at_most(p: float | None, level: float) -> bool:
    return p is not None and p <= level
