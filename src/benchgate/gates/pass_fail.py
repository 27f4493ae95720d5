"""The exact test of pairs that pass or fail, for cases that are independent."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from benchgate.gates.claim_figures import PassFailFigures
from benchgate.gates.inference import ExactInference, cases_by_bound
from benchgate.gates.pairs import ConstantPairs, Pairs
from benchgate.statistics.pass_fail import (
    cases_for_margin,
    changes,
    pass_fail_p,
    pass_fail_test,
    smallest_margin,
)

if TYPE_CHECKING:
    from benchgate.gates.compared import Compared
    from benchgate.gates.inference import Answers
    from benchgate.statistics.student import Tails


MOST_PAIRS: Final = 300
"""Above it the exact test of pass and fail takes seconds, and t with sign-flip finds as much."""

PairCounts = tuple[int, int, int]
"""Gains, losses and pairs."""


class PassFail(ExactInference):
    """The unconditional exact test, which needs no guard and has an exact interval."""

    name = "pass_fail"

    def __init__(self, compared: Compared) -> None:
        """
        Count gains and losses.

        :raises ValueError: if :func:`pass_fail_counts` finds that another test decides.
        """
        super().__init__(compared)
        counts = pass_fail_counts(compared)
        if counts is None:
            raise ValueError("these pairs are not pass or fail; another test decides")
        self.counts = counts

    @cached_property
    def test(self) -> Tails[float]:
        """The test at the limit of the claim."""
        return pass_fail_test(*self.counts, alpha=self.policy.alpha, null_delta=self.compared.limit)

    @property
    def figures(self) -> PassFailFigures:
        """The counts with both tails and bounds."""
        gains, losses, n = self.counts
        return PassFailFigures(
            n=n,
            gains=gains,
            losses=losses,
            p_greater=self.test.p_greater,
            p_less=self.test.p_less,
            ci_low=self.test.ci_low,
            ci_high=self.test.ci_high,
        )

    @property
    def p_regression(self) -> float | None:
        """One-sided p of "the candidate is worse"."""
        gains, losses, n = self.counts
        return pass_fail_p(losses, gains, n, alpha=self.policy.alpha)

    def better(self) -> Answers:
        """Answer by the exact test."""
        reach = Pairs(self.compared).reach(exact=True)
        return self.answered(effect=reach.effect, cases=reach.cases)

    def not_worse(self) -> Answers:
        """Answer by the same test, at the margin."""
        return self.answered(
            cases=self._cases_for_margin(),
            smallest_margin=smallest_margin(self.compared.size, alpha=self.policy.alpha),
        )

    def _cases_for_margin(self) -> int | None:
        gains, losses, _ = self.counts
        if not gains + losses:
            needed = cases_for_margin(-self.compared.limit, MOST_PAIRS, alpha=self.policy.alpha)
            if needed is not None:
                return needed
        if not _are_alike(self.counts):
            return cases_by_bound(self.compared, self.test.ci_low)
        # It takes so many cases that the test of pairs would decide.
        needed = ConstantPairs(self.compared).cases_for_margin()
        if needed is None:
            return None
        return max(needed, MOST_PAIRS + 1)


def pass_fail_counts(compared: Compared) -> PairCounts | None:
    """Return what the exact test counts; ``None`` if the pairs are not pass or fail, or another test decides."""
    policy = compared.policy
    if policy.test == "welch" or not 2 <= len(compared.pairs) <= MOST_PAIRS:
        return None
    if policy.score_range not in (None, (0.0, 1.0)) or abs(compared.limit) >= 1:
        return None
    counts = changes(
        [pair.before for pair in compared.pairs], [pair.after for pair in compared.pairs]
    )
    if counts is None:
        return None
    if _are_alike(counts) and policy.score_range is None:
        # Nobody said that these scores can be nothing but 0 or 1: equal differences are no evidence then.
        return None
    return counts


def _are_alike(counts: PairCounts) -> bool:
    """Whether all pairs were gained, all were lost, or none changed."""
    gains, losses, n = counts
    unchanged = n - gains - losses
    return n in (gains, losses, unchanged)
