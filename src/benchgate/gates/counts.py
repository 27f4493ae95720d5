"""The exact test of two numbers of passes, of cases that are independent and not those of the other side."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from benchgate.gates.inference import ExactInference, cases_by_bound
from benchgate.statistics.boschloo import (
    Passes,
    boschloo_p,
    boschloo_test,
    smallest_effect,
)
from benchgate.statistics.detectable import Goal, welch_detectable

if TYPE_CHECKING:
    from benchgate.gates.compared import Compared
    from benchgate.gates.figures import Arm
    from benchgate.gates.inference import Answers
    from benchgate.statistics.student import Tails


MOST_COUNTED: Final = 300
"""Above it the exact test takes seconds, and Welch's test finds as much."""


class Counts(ExactInference):
    """Boschloo's test, which needs no guard and has an exact interval."""

    name = "boschloo"

    @property
    def passes(self) -> tuple[Passes, Passes]:
        """How many cases of the baseline passed, and of the candidate."""
        return passes_of(self.compared.baseline), passes_of(self.compared.candidate)

    @cached_property
    def test(self) -> Tails[float]:
        """The test at the limit of the claim."""
        limit = self.compared.limit
        return boschloo_test(*self.passes, alpha=self.policy.alpha, null_delta=limit)

    @property
    def p_regression(self) -> float | None:
        """One-sided p of "the candidate is worse"."""
        before, after = self.passes
        return boschloo_p(after, before, alpha=self.policy.alpha)

    def better(self) -> Answers:
        """Answer by the exact test. What it finds is counted; it takes about as many cases as Welch's."""
        before, after = self.passes
        goal = Goal(
            target=self.policy.target_effect,
            null_delta=self.policy.min_delta,
            alpha=self.policy.alpha,
        )
        sides = (self.compared.baseline.scores, self.compared.candidate.scores)
        return self.answered(
            effect=smallest_effect(before, after.of, goal),
            cases=welch_detectable(*sides, goal, score_range=(0.0, 1.0)).cases,
        )

    def not_worse(self) -> Answers:
        """Answer by the same test, at the margin."""
        return self.answered(cases=cases_by_bound(self.compared, self.test.ci_low))


def can_be_counted(compared: Compared) -> bool:
    """Whether both sides are counts that the exact test takes, and the policy asks for no other test."""
    policy = compared.policy
    sides = (compared.baseline, compared.candidate)
    if policy.test == "welch" or not all(side.is_count for side in sides):
        return False
    if policy.score_range not in (None, (0.0, 1.0)) or abs(compared.limit) >= 1:
        return False
    return all(len(side.scores) <= MOST_COUNTED for side in sides)


def passes_of(side: Arm) -> Passes:
    """Return how many cases of a side passed."""
    return Passes(sum(score == 1.0 for score in side.scores), len(side.scores))
