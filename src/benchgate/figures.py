"""What a gate compares, and the figures that come of it as they stand in the artifacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from benchgate.wire import Number, WireModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """
    One side of a comparison, a value per case.

    :param case_ids: ``None`` for plain vectors, whose values cannot be paired.
    :param penalties: ``None`` if safety was not measured at all; single ``None`` where a case was not.
    """

    scores: tuple[float, ...]
    case_ids: tuple[str, ...] | None = None
    penalties: tuple[float | None, ...] | None = None


class WelchFigures(WireModel):
    """Welch's test of the unshifted difference, and whether it would have passed the policy."""

    t: Number | None
    df: Number | None
    p_two_sided: Number | None
    p_greater: Number | None
    passed: Annotated[bool, Field(alias="pass")]


class PairedFigures(WireModel):
    """The paired test of the difference shifted by ``min_delta``: t and sign-flip, both one-sided."""

    n: int
    t: Number | None
    df: Number | None
    p_t: Number | None
    p_sign_flip: Number
    sign_flip_method: Literal["exact", "monte_carlo"]
    n_resamples: int | None
    seed: int | None
    sd: Number | None
    passed: Annotated[bool, Field(alias="pass")]


class Significance(WireModel):
    """
    The binding test of a policy, with Welch's beside it. ``None`` is undefined or not evaluated.

    :param p_value: two-sided, of the difference shifted by ``min_delta``.
    :param confidence_level: 1 - p_value.
    :param delta_ci_low: the interval at 1 - alpha of the unshifted difference; so ``delta_ci_high``.
    :param exact_lower_bound: bounded-support lower bound of the difference at 1 - alpha / 2.
    :param evidence: ``exact`` if that bound clears ``min_delta`` too.
    :param minimum_detectable_effect: what a test of this size finds with the policy's power.
    :param cases_needed: cases per arm at which that effect is the policy's target.
    :param unseen_failure_ucb95: the rate of a failure that this many cases may all have missed.
    """

    alpha: Number
    p_value: Number | None
    confidence_level: Number | None
    mean_delta: Number | None
    delta_ci_low: Number | None
    delta_ci_high: Number | None
    passed: Annotated[bool, Field(alias="pass")]
    baseline_mean_reward: Number | None
    trained_mean_reward: Number | None
    test: Literal["welch", "paired"]
    p_regression: Number | None
    effect_size_g: Number | None
    exact_lower_bound: Number | None
    evidence: Literal["standard", "exact"] | None
    minimum_detectable_effect: Number | None
    cases_needed: int | None
    unseen_failure_ucb95: Number | None
    welch: WelchFigures
    paired: PairedFigures | None


class SafetyFigures(WireModel):
    """Mean safety penalties of both arms; a mean is ``None`` where any case was not measured."""

    evaluated: bool
    baseline_mean: Number | None
    trained_mean: Number | None
    delta: Number | None
    upper_bound: Number | None
