"""What every way to decide answers, and the steps that several of them share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from benchgate.statistics.detectable import Detectable, Goal, detectable
from benchgate.statistics.paired import PairedTest
from benchgate.statistics.student import TTest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.compared import Compared
    from benchgate.statistics.clusters import Labels
    from benchgate.statistics.student import Tails

Ends = tuple[float | None, float | None]
"""Lower and upper end of an interval; ``None`` where there is no such end."""

Test = TypeVar("Test", PairedTest, TTest)

MOST_TIMES = 10
"""A number of cases estimated from the observed difference is not named above so many times the cases there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """
    What a way to decide says about a claim; ``None`` is not defined, or not to be had.

    :param passed: whether the claim is shown.
    :param limit: what the difference had to exceed.
    :param p_value: two-sided, of the difference minus the limit.
    :param interval: of the difference, at 1 - alpha.
    :param exact_lower_bound: bounded-support, at 1 - alpha / 2.
    :param effect: the smallest true difference that is found with 80 % probability.
    :param cases: how many cases find the target effect, or show the margin.
    :param smallest_margin: the margin that so many cases show if none of them changed.
    """

    passed: bool
    limit: float = 0.0
    p_value: float | None = None
    interval: Ends = (None, None)
    exact_lower_bound: float | None = None
    effect: float | None = None
    cases: int | None = None
    smallest_margin: float | None = None

    @property
    def confidence_level(self) -> float | None:
        """1 - p."""
        if self.p_value is None:
            return None
        return 1.0 - self.p_value

    @property
    def evidence(self) -> Literal["standard", "exact"] | None:
        """``exact`` if the bound, which assumes nothing about the scores but their range, shows the claim too."""
        if self.exact_lower_bound is None:
            return None
        if self.exact_lower_bound > self.limit:
            return "exact"
        return "standard"


class Inference(ABC):
    """
    One way to decide, made once from the cases of both sides and a policy.

    A new way is a subclass in a file of its own, and a row of the table in :mod:`.deciding`.
    """

    def __init__(self, compared: Compared) -> None:
        """Take the cases; nothing is computed before it is asked for."""
        self.compared = compared
        self.policy = compared.policy

    @property
    @abstractmethod
    def name(self) -> str:
        """What ``significance.json`` calls the test."""

    @abstractmethod
    def answers(self) -> Answers:
        """Return what is to be said about the claim of the policy."""

    @property
    @abstractmethod
    def p_regression(self) -> float | None:
        """One-sided p of "the candidate is worse"."""


class ClaimInference(Inference):
    """A way that answers whether a gain is shown, or that a loss of the margin is excluded, as the claim asks."""

    def answers(self) -> Answers:
        """Return what is to be said about the claim of the policy."""
        if self.policy.claim == "not_worse":
            return self.not_worse()
        return self.better()

    @abstractmethod
    def better(self) -> Answers:
        """Answer whether the difference exceeds ``min_delta``."""

    @abstractmethod
    def not_worse(self) -> Answers:
        """Answer whether a loss of the margin is excluded."""


class ExactInference(ClaimInference):
    """A way whose test enumerates all outcomes; its interval excludes the limit exactly if it is passed."""

    @property
    @abstractmethod
    def test(self) -> Tails[float]:
        """The test at the limit of the claim."""

    def answered(
        self,
        *,
        effect: float | None = None,
        cases: int | None = None,
        smallest_margin: float | None = None,
    ) -> Answers:
        """Return what the test says, with what is known of further cases."""
        return Answers(
            passed=self.test.p_greater <= self.policy.alpha / 2,
            limit=self.compared.limit,
            p_value=self.test.p_two_sided,
            interval=(self.test.ci_low, self.test.ci_high),
            exact_lower_bound=self.test.ci_low,
            effect=effect,
            cases=cases,
            smallest_margin=smallest_margin,
        )


class MeanInference(ClaimInference, Generic[Test]):
    """A way that tests a difference of means, and has a bound of it that needs nothing but the range of the scores."""

    @abstractmethod
    def test(self, null: float) -> Test:
        """Return the test that decides, of the difference minus ``null``."""

    @cached_property
    def shifted(self) -> Test:
        """The test of the difference minus ``min_delta``, which says whether the candidate is better."""
        return self.test(self.policy.min_delta)

    @cached_property
    def unshifted(self) -> Test:
        """The test of the difference itself, which says whether the candidate is worse."""
        if not self.policy.min_delta:
            return self.shifted
        return self.test(0.0)

    @property
    def p_value(self) -> float | None:
        """Two-sided p of the difference minus ``min_delta``."""
        return self.shifted.p_two_sided

    @property
    def p_less(self) -> float | None:
        """One-sided p of the test for "the candidate is worse"."""
        return self.unshifted.p_less

    @property
    @abstractmethod
    def test_interval(self) -> Ends:
        """Interval of the difference that belongs to the test."""

    @property
    @abstractmethod
    def lower_bound(self) -> float | None:
        """Bounded-support lower bound of the difference, at 1 - alpha / 2; ``None`` without a range of scores."""

    @property
    @abstractmethod
    def opposite_bound(self) -> float | None:
        """The same of the opposite difference, baseline minus candidate."""

    @property
    def upper_bound(self) -> float | None:
        """Bounded-support upper bound of the difference, at 1 - alpha / 2."""
        if self.opposite_bound is None:
            return None
        return -self.opposite_bound

    @property
    @abstractmethod
    def samples(self) -> Sequence[tuple[Sequence[float], Labels]]:
        """The values that vary, with their clusters: differences, or the scores of both sides."""

    @property
    @abstractmethod
    def smallest_margin(self) -> float | None:
        """The margin that so many cases show if none of them changed."""

    def passes(self, p: float | None) -> bool:
        """Return whether a difference with a two-sided p is significantly above ``min_delta``."""
        delta = self.compared.delta
        if p is None or delta is None:
            return False
        return p <= self.policy.alpha and delta > self.policy.min_delta

    @property
    def passed(self) -> bool:
        """Whether the test that decides is passed."""
        return self.passes(self.p_value)

    @property
    def interval(self) -> Ends:
        """Interval of the difference."""
        return self.test_interval

    @property
    def p_regression(self) -> float | None:
        """One-sided p of "the candidate is worse"."""
        return self.p_less

    def freed(self, free: Test, guarded: Test, null: float) -> Test:
        """
        Return the test without its guard against skewness where the exact bound agrees: that allows for any skewness.

        :param free: the test without the guard.
        :param null: the difference that both tests exclude or do not.
        """
        if free.p_two_sided is None or guarded.p_two_sided is None:
            return guarded
        if not free.p_two_sided <= self.policy.alpha < guarded.p_two_sided:
            return guarded  # the guard changes nothing
        # The bound must exclude ``null`` on the side that the test does.
        if (free.p_greater or 0.0) < (free.p_less or 0.0):
            low = self.lower_bound
            agrees = low is not None and low > null
        else:
            high = self.upper_bound
            agrees = high is not None and high < null
        if agrees:
            return free
        return guarded

    def better(self) -> Answers:
        """Answer by the test; the bound is beside it."""
        reach = self.reach()
        return Answers(
            passed=self.passed,
            limit=self.policy.min_delta,
            p_value=self.p_value,
            interval=within_range(self.interval, self.policy.width),
            exact_lower_bound=self.lower_bound,
            effect=reach.effect,
            cases=reach.cases,
        )

    def not_worse(self) -> Answers:
        """Answer by the bound alone: near a margin a t interval does not keep its level in small samples."""
        low = self.lower_bound
        limit = self.compared.limit
        return Answers(
            passed=low is not None and low > limit,
            limit=limit,
            interval=(low, self.upper_bound),
            exact_lower_bound=low,
            cases=self.cases_for_margin(),
            smallest_margin=self.smallest_margin,
        )

    def reach(self, *, exact: bool = False) -> Detectable:
        """Return what the test detects; ``exact`` as :func:`~benchgate.statistics.detectable.detectable`."""
        goal = Goal(
            target=self.policy.target_effect,
            null_delta=self.policy.min_delta,
            alpha=self.policy.alpha,
        )
        return detectable(self.samples, goal, score_range=self.policy.score_range, exact=exact)

    def cases_for_margin(self) -> int | None:
        """Return how many cases show the margin, if the true difference is the observed one."""
        return cases_by_bound(self.compared, self.lower_bound)


def cases_by_bound(compared: Compared, low: float | None) -> int | None:
    """
    Return at how many cases a lower bound would reach the margin: it moves with 1 / sqrt(n).

    The observed difference is taken for the true one. Near the margin that is mostly chance and the number of no use,
    so none above :data:`MOST_TIMES` the cases there are is named.
    """
    delta = compared.delta
    if delta is None or low is None:
        return None
    distance = delta - compared.limit
    if distance <= 0:
        return None
    needed = math.ceil(compared.size * ((delta - low) / distance) ** 2)
    if needed > MOST_TIMES * compared.size:
        return None
    return needed


def hull(*intervals: Ends) -> Ends:
    """Return the smallest interval that contains all of those that have both ends."""
    known = [(low, high) for low, high in intervals if low is not None and high is not None]
    if not known:
        return None, None
    return min(low for low, _ in known), max(high for _, high in known)


def within_range(interval: Ends, width: float | None) -> Ends:
    """Return an interval without the differences that the score range excludes; an infinite end is none."""
    low, high = interval
    if low is None or high is None:
        return None, None
    if width is not None:
        low = max(-width, low)
        high = min(width, high)
    return finite(low), finite(high)


def finite(end: float) -> float | None:
    """Return an end of an interval unless it is infinite."""
    if math.isfinite(end):
        return end
    return None
