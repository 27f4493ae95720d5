"""
Values that do not vary: their variance of 0 is chance and makes p too small, so the bounds must agree with the test.

Where no p can be made the bounds decide alone. Without a range of scores there are none, and nothing is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.gates.inference import MeanInference, Test, hull

if TYPE_CHECKING:
    from benchgate.gates.inference import Ends


class Constant(MeanInference[Test]):
    """What is different for a test of means if values are constant: a base class that stands before the test's own."""

    def passes(self, p: float | None) -> bool:
        """Return whether the bound exceeds ``min_delta`` and, if there is a p, the test agrees."""
        low = self.lower_bound
        if low is None or low <= self.policy.min_delta:
            return False
        return p is None or super().passes(p)

    @property
    def interval(self) -> Ends:
        """The bounds on both sides; where there is a p, widened to the interval of the test."""
        bounds = (self.lower_bound, self.upper_bound)
        if self.p_value is None:
            return bounds
        return hull(self.test_interval, bounds)

    @property
    def p_regression(self) -> float | None:
        """The p of the test if the bound excludes 0 too; alpha / 2, which the bound shows, if no p can be made."""
        high = self.upper_bound
        if high is None or high >= 0.0:
            return None
        if self.p_less is None:
            return self.policy.alpha / 2
        return self.p_less
