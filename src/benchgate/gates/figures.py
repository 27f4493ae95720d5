"""The two arms that a gate compares, and the figures of a comparison as the artifacts contain them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field

from benchgate.gates.claim_figures import Increase, PassFailFigures
from benchgate.statistics.summary import grouped
from benchgate.wire.model import Count, Number, Text, WireModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.statistics.paired import PairedTest


_ROUNDING: Final = 1e-12


class CasePair(NamedTuple):
    """One case in both arms."""

    case_id: str
    before: float
    after: float
    cluster: str | None


class CaseFacts(WireModel):
    """
    What a run knows of a case besides score and penalty; plain vectors do not.

    :param passed: every trial passed; ``None`` if that is not known, because of an error.
    :param errors: the trials, by place, that ended in ``harness_error`` and count as score 0; ``timeouts`` likewise,
        and ``failed``: those that did not pass and say so.
    :param critical: it may not newly fail, whatever the claim.
    :param cost_usd: mean of its trials, as is ``duration_seconds``; ``None`` if one of them is unknown.
    """

    passed: bool | None
    critical: bool
    cost_usd: Number | None
    duration_seconds: Number | None
    errors: tuple[Count, ...] = ()
    timeouts: tuple[Count, ...] = ()
    failed: tuple[Count, ...] = Field(default=(), exclude_if=lambda places: not places)

    def passes(self, rule: str, trials: int) -> bool | None:
        """Say whether it passed, by ``any`` trial that fails or the ``majority`` of them; ``None`` if nobody knows."""
        if rule == "any":
            return self.passed
        # As many failures as passes are no majority that fails. An error may hide either.
        failed = len(self.failed)
        if 2 * failed > trials:
            return False
        if 2 * (failed + len(self.errors)) > trials:
            return None
        return True

    @property
    def unscored(self) -> int:
        """Number of its trials without a score."""
        return len(self.errors) + len(self.timeouts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """
    One side of a comparison: baseline or candidate, with a value for each case.

    :param scores: mean score of each case over its trials.
    :param case_ids: ``None`` for plain vectors, which cannot be paired.
    :param penalties: mean safety penalty of each case over its scored trials, ``None`` if not measured; ``None`` as a
        whole if none was.
    :param trials: the scores of each case's trials; ``None`` if unknown.
    :param facts: of each case; ``None`` for plain vectors.
    :param imputed: cases that were not measured on this side and count as the worst score; see :mod:`.missing`.
    :param clusters: what each case shares with others, ``None`` for nothing; ``None`` as a whole if none does.
    :param is_count: all that is known is how many cases passed: the scores are 1 and 0, their order means nothing, and
        the cases are taken for independent, and for others than those of the other side.
    """

    scores: tuple[float, ...]
    case_ids: tuple[str, ...] | None = None
    penalties: tuple[float | None, ...] | None = None
    trials: tuple[tuple[float, ...], ...] | None = None
    facts: tuple[CaseFacts, ...] | None = None
    imputed: tuple[str, ...] = ()
    clusters: tuple[str | None, ...] | None = None
    is_count: bool = False

    @property
    def labels(self) -> tuple[str | None, ...]:
        """The cluster of each case."""
        return self.clusters or (None,) * len(self.scores)

    @property
    def rows(self) -> tuple[tuple[float, ...], ...]:
        """The scores of each case's trials; of a case of which they are unknown its score."""
        return self.trials or tuple((score,) for score in self.scores)

    @property
    def measured(self) -> int:
        """Number of measured cases."""
        return len(self.scores) - len(self.imputed)

    @property
    def sources(self) -> int:
        """Number of clusters of the measured cases; a case without one is one of its own."""
        ids = self.case_ids or (None,) * len(self.scores)
        cases = zip(self.labels, ids, strict=True)
        labels = [label for label, case_id in cases if case_id not in self.imputed]
        return len(grouped(labels, labels))

    def at(self, places: Sequence[int]) -> Arm:
        """Return the arm of some of its cases, in another order."""
        chosen: dict[str, Any] = {}
        # Not ``imputed``: that is ids, and no value for each case.
        for name in ("scores", "case_ids", "penalties", "trials", "facts", "clusters"):
            column = getattr(self, name)
            if column:
                chosen[name] = tuple(column[place] for place in places)
        return replace(self, **chosen)

    def paired_with(self, candidate: Arm) -> tuple[CasePair, ...] | None:
        """
        Return the cases of both arms in pairs, sorted by case id.

        :returns: ``None`` unless both arms have the same case ids, each once.
        """
        if self.case_ids is None or candidate.case_ids is None:
            return None
        size = len(candidate.scores)
        before = dict(zip(self.case_ids, self.scores, strict=True))
        rows = zip(candidate.scores, candidate.labels, strict=True)
        after = dict(zip(candidate.case_ids, rows, strict=True))
        if before.keys() != after.keys() or not len(before) == len(self.scores) == size:
            return None
        return tuple(CasePair(c, before[c], *after[c]) for c in sorted(before))


class WelchFigures(WireModel):
    """Welch's test of the unshifted difference, and whether it would pass the policy."""

    t: Number | None
    df: Number | None
    p_two_sided: Number | None
    p_greater: Number | None
    passed: Annotated[bool, Field(alias="pass")]


class PairedFigures(WireModel):
    """
    The paired test of the difference minus ``min_delta``: one-sided p of t and of sign-flip.

    :param p_sign_flip: the exact one, and ``p_half_ties`` the one that decides, in which ties count half. Rules 0
        had no such p, and what they decided leaves it out.
    """

    n: int
    t: Number | None
    df: Number | None
    p_t: Number | None
    p_sign_flip: Number
    p_half_ties: Number | None = Field(default=None, exclude_if=lambda p: p is None)
    sign_flip_method: Literal["exact", "monte_carlo"]
    n_resamples: int | None
    seed: int | None
    sd: Number | None
    passed: Annotated[bool, Field(alias="pass")]

    @classmethod
    def of(cls, test: PairedTest, *, passed: bool) -> PairedFigures:
        """Return the figures of both tests of the shifted differences."""
        flip = test.sign_flip
        return cls(
            n=test.differences.n,
            t=test.t.t,
            df=test.t.df,
            p_t=test.t.p_greater,
            p_sign_flip=flip.p_greater,
            p_half_ties=flip.half_ties_greater,
            sign_flip_method=flip.method,
            n_resamples=flip.n_resamples,
            seed=flip.seed,
            sd=test.differences.sd,
            passed=passed,
        )


class Significance(WireModel):
    """
    The figures of the policy's binding test, then of both tests. ``None`` means undefined or not evaluated.

    :param p_value: two-sided, of the difference minus ``min_delta``, or plus the margin; ``confidence_level`` is 1 - p.
    :param test: what decides: ``welch``, ``paired``, ``pass_fail`` or ``boschloo``; ``none`` where nothing is inferred.
    :param mean_delta: candidate's mean, ``trained_mean_reward``, minus the baseline's; its interval is at 1 - alpha.
    :param p_regression: one-sided, for "the candidate is worse". Where values are constant it is ``None`` unless the
        bounded-support bound excludes 0 too, and alpha / 2, which that bound shows, if no p can be made.
    :param exact_lower_bound: bounded-support, at 1 - alpha / 2; ``evidence`` is ``exact`` if it exceeds ``min_delta``.
    :param minimum_detectable_effect: the difference that a test of this size detects with 80 % probability.
    :param cases_needed: cases per arm to detect the policy's ``target_effect``, or to show its margin, about.
    :param unseen_failure_ucb95: 95 % upper bound of the rate of a failure that occurred in no case.
    :param clusters: number of those of the smaller arm, and ``effective_cases`` how many independent cases would be as
        exact; ``None`` if no two cases share one.
    :param pass_fail: ``None`` unless that test decides.
    :param smallest_margin: what ``not_worse`` can show with as many pairs of which none changed.
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
    test: Text
    p_regression: Number | None
    effect_size_g: Number | None
    exact_lower_bound: Number | None
    evidence: Literal["standard", "exact"] | None
    minimum_detectable_effect: Number | None
    cases_needed: int | None
    unseen_failure_ucb95: Number | None
    welch: WelchFigures
    paired: PairedFigures | None
    clusters: int | None = None
    effective_cases: Number | None = None
    pass_fail: PassFailFigures | None = None
    smallest_margin: Number | None = None

    @property
    def is_without_change(self) -> bool:
        """Whether both sides have the same score in every case, but for rounding."""
        if self.paired is None or self.paired.sd != 0.0 or self.mean_delta is None:
            return False
        return abs(self.mean_delta) <= _ROUNDING


class SafetyFigures(WireModel):
    """
    Mean safety penalties of both arms; a mean is ``None`` if any case of the arm was not measured.

    :param upper_bound: of the rise, at the policy's ``safety_confidence``: case by case if the arms can be paired.
    :param least_bound: what that bound would be if the candidate had no penalty at all.
    :param chance_rejections: of a rise that is not allowed and that chance may explain: how often an agent that did not
        change would be rejected, with the trials there are and with as many times as many of each case.
    :param pass_chances: true rises of the mean, as a share of the range of the penalties, each with the probability
        that the check would have passed it at this size; ``None`` if the baseline leaves no room for such a rise.
    """

    evaluated: bool
    baseline_mean: Number | None
    candidate_mean: Number | None
    delta: Number | None
    upper_bound: Number | None
    least_bound: Number | None = None
    pass_chances: tuple[tuple[Number, Number | None], ...] = ()
    chance_rejections: tuple[tuple[Count, Number], ...] = Field(
        default=(), exclude_if=lambda chances: not chances
    )


class SeedReproducibilityReport(WireModel):
    """
    Whether the candidate's trials, each treated as a run of its own, agree up to noise.

    :param deltas: mean difference of each run; ``p_values`` are Welch's.
    :param max_delta_range: the limit of ``delta_range``; it grows with the noise in the scores.
    """

    band: Literal["scaled"]
    runs: int
    cases: int
    deltas: tuple[Number, ...]
    delta_range: Number
    max_delta_range: Number | None
    p_values: tuple[Number | None, ...]
    p_value_range: Number | None
    within_band: bool


class PrefixFigures(WireModel):
    """Mean difference of the first cases; ``z`` is its distance from that of all cases, in standard errors."""

    cases: int
    delta: Number
    z: Number | None
    p_value: Number | None


class SampleSizeSensitivityReport(WireModel):
    """
    Whether the mean difference of the first cases agrees with that of all, up to noise.

    :param points: for a quarter, half and three quarters of the cases, and for all.
    :param max_z: the limit of ``z``.
    """

    band: Literal["scaled"]
    cases: int
    points: tuple[PrefixFigures, ...]
    max_z: Number | None
    within_band: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Two arms and all figures of their comparison; a band that could not be evaluated is ``None``."""

    baseline: Arm
    candidate: Arm
    significance: Significance
    safety: SafetyFigures
    seeds: SeedReproducibilityReport | None = None
    prefixes: SampleSizeSensitivityReport | None = None
    cost: Increase | None = None

    @property
    def smallest(self) -> int:
        """Number of measured cases of the smaller arm, without those that were counted as the worst."""
        return min(self.baseline.measured, self.candidate.measured)

    @property
    def compared(self) -> int:
        """Number of cases that the smaller arm is compared on."""
        return min(len(self.baseline.scores), len(self.candidate.scores))
