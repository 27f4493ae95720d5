"""What a gate compares, and the figures that come of it as they stand in the artifacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import Field

from benchgate.wire.model import Number, WireModel

if TYPE_CHECKING:
    from benchgate.statistics import PairedTest, WelchTest


class CasePair(NamedTuple):
    """One case in both arms; ``trials`` are the candidate's, empty if unknown."""

    case_id: str
    before: float
    after: float
    trials: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """
    One side of a comparison, a value per case.

    :param case_ids: ``None`` for plain vectors, whose values cannot be paired.
    :param penalties: ``None`` if safety was not measured at all; single ``None`` where a case was not.
    :param trials: the scores of each case's trials, of which ``scores`` are the means; ``None`` if unknown.
    """

    scores: tuple[float, ...]
    case_ids: tuple[str, ...] | None = None
    penalties: tuple[float | None, ...] | None = None
    trials: tuple[tuple[float, ...], ...] | None = None

    def paired_with(self, candidate: Arm) -> tuple[CasePair, ...] | None:
        """
        Return the cases of both arms side by side, sorted by case id.

        :returns: ``None`` unless both arms name their cases, each once, and the same ones.
        """
        if self.case_ids is None or candidate.case_ids is None:
            return None
        before = dict(zip(self.case_ids, self.scores, strict=True))
        after = {
            case_id: (score, trials)
            for case_id, score, trials in zip(
                candidate.case_ids,
                candidate.scores,
                candidate.trials or ((),) * len(candidate.scores),
                strict=True,
            )
        }
        if before.keys() != after.keys() or not len(before) == len(self.scores) == len(
            candidate.scores
        ):
            return None
        return tuple(CasePair(c, before[c], *after[c]) for c in sorted(before))


class WelchFigures(WireModel):
    """Welch's test of the unshifted difference, and whether it would have passed the policy."""

    t: Number | None
    df: Number | None
    p_two_sided: Number | None
    p_greater: Number | None
    passed: Annotated[bool, Field(alias="pass")]

    @classmethod
    def of(cls, welch: WelchTest, *, passed: bool) -> WelchFigures:
        """Return the figures of a test."""
        return cls(
            t=welch.t,
            df=welch.df,
            p_two_sided=welch.p_two_sided,
            p_greater=welch.p_greater,
            passed=passed,
        )


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

    @classmethod
    def of(cls, test: PairedTest, *, passed: bool) -> PairedFigures:
        """Return the figures of a test."""
        flip = test.sign_flip
        return cls(
            n=test.t.n,
            t=test.t.t,
            df=test.t.df,
            p_t=test.t.p_greater,
            p_sign_flip=flip.p_greater,
            sign_flip_method=flip.method,
            n_resamples=flip.n_resamples,
            seed=flip.seed,
            sd=test.t.sd,
            passed=passed,
        )


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
    candidate_mean: Number | None
    delta: Number | None
    upper_bound: Number | None


class SeedReproducibilityReport(WireModel):
    """
    Whether trials, each taken as a run of its own, agree.

    :param deltas: mean difference of each run; ``p_values`` are Welch's.
    :param max_delta_range: the limit, which follows the noise in the scores.
    :param max_p_value_range: always null; part of version 1 of the artifact.
    """

    band: Literal["scaled"]
    runs: int
    cases: int
    deltas: tuple[Number, ...]
    delta_range: Number
    max_delta_range: Number | None
    p_values: tuple[Number | None, ...]
    p_value_range: Number | None
    max_p_value_range: Number | None
    within_band: bool


class PrefixFigures(WireModel):
    """Mean difference over the first cases; ``z`` is its distance from that of all, in standard errors."""

    cases: int
    delta: Number
    z: Number | None
    p_value: Number | None


class SampleSizeSensitivityReport(WireModel):
    """
    Whether the difference drifts along the cases.

    :param points: a quarter, half, three quarters of the cases, and all.
    :param max_z: the limit. ``max_delta_drift`` and ``max_p_value_drift`` are always null, part of version 1.
    """

    band: Literal["scaled"]
    cases: int
    points: tuple[PrefixFigures, ...]
    max_z: Number | None
    max_delta_drift: Number | None
    max_p_value_drift: Number | None
    within_band: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Two arms and all figures about them; what could not be evaluated is ``None``."""

    baseline: Arm
    candidate: Arm
    significance: Significance
    safety: SafetyFigures
    seeds: SeedReproducibilityReport | None = None
    prefixes: SampleSizeSensitivityReport | None = None

    @property
    def smallest(self) -> int:
        """Number of cases of the smaller arm."""
        return min(len(self.baseline.scores), len(self.candidate.scores))
