"""Comparisons in which no test decides: too few cases for any, and a claim about exactly these cases."""

from __future__ import annotations

import math

from benchgate.gates.claim_reasons import regressions
from benchgate.gates.inference import Answers, ClaimInference, Ends, Inference, within_range


class TooFewCases(ClaimInference):
    """A side has fewer than two cases, so that nobody knows how scores vary: nothing is shown."""

    @property
    def name(self) -> str:
        """The test that would decide if there were more cases."""
        if self.compared.compares_pairs:
            return "paired"
        return "welch"

    def better(self) -> Answers:
        """Answer that nothing is shown."""
        interval: Ends = (None, None)
        if self.compared.compares_pairs:
            # Of pairs every difference is possible that the score range allows.
            interval = within_range((-math.inf, math.inf), self.policy.width)
        return Answers(passed=False, limit=self.compared.limit, interval=interval)

    def not_worse(self) -> Answers:
        """Answer that nothing is shown."""
        return Answers(passed=False, limit=self.compared.limit)

    @property
    def p_regression(self) -> float | None:
        """Not to be had."""
        return None


class CaseByCase(Inference):
    """``no_regression``: each case is looked at by itself, and nothing is inferred about other cases."""

    name = "none"

    def answers(self) -> Answers:
        """Answer whether no case got worse."""
        pairs = self.compared.pairs
        objections = regressions(self.compared.baseline, self.compared.candidate, self.policy)
        return Answers(passed=bool(pairs) and not any(objections))

    @property
    def p_regression(self) -> float | None:
        """Nothing is inferred."""
        return None
