"""Figures that only some claims and some scores have."""

from __future__ import annotations

from benchgate.wire.model import Number, WireModel


class PassFailFigures(WireModel):
    """The exact test of pairs of pass and fail, at the difference that the claim must exceed; bounds are unshifted."""

    n: int
    gains: int
    losses: int
    p_greater: Number
    p_less: Number
    ci_low: Number
    ci_high: Number


class Increase(WireModel):
    """
    By how much the candidate's cases cost more, by the mean over cases.

    :param increase: relative; ``ci_low`` and ``ci_high`` are its interval at 1 - alpha, from the pairs.
    """

    cases: int
    baseline_mean: Number
    candidate_mean: Number
    increase: Number | None
    ci_low: Number | None
    ci_high: Number | None
