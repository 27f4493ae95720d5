"""Computes the figures of a comparison: significance, safety and bands, from the case scores of two arms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.gates.bands import sample_size_sensitivity, seed_reproducibility
from benchgate.gates.compared import Compared
from benchgate.gates.cost import cost_increase
from benchgate.gates.deciding import TESTS_OF_MEANS, deciding, pairs_of, samples_of
from benchgate.gates.figures import Figures, PairedFigures, Significance, WelchFigures
from benchgate.gates.missing import counted_as_worst, mismatch
from benchgate.gates.pairs import Pairs
from benchgate.gates.pass_fail import PassFail
from benchgate.gates.safety import safety
from benchgate.gates.two_samples import TwoSamples
from benchgate.gates.without_test import CaseByCase
from benchgate.sentences.says import says
from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.clusters import effective_cases
from benchgate.statistics.effect import effect_size
from benchgate.statistics.summary import summarize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.claim_figures import PassFailFigures
    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm
    from benchgate.gates.inference import Inference
    from benchgate.gates.policy import GatePolicy


def weigh(baseline: Arm, candidate: Arm, policy: GatePolicy, *, advice: bool = True) -> Figures:
    """
    Compute all figures of a comparison under a policy.

    :param advice: with those that no decision depends on, and that take long: the chances of the safety note.
    """
    return Figures(
        baseline=baseline,
        candidate=candidate,
        significance=significance(Compared(baseline=baseline, candidate=candidate, policy=policy)),
        safety=safety(baseline, candidate, policy, advice=advice),
        seeds=seed_reproducibility(baseline, candidate, policy),
        prefixes=sample_size_sensitivity(baseline, candidate, policy),
        cost=cost_increase(baseline, candidate, policy.alpha),
    )


def weigh_arms(
    baseline: Arm, candidate: Arm, policy: GatePolicy, *, advice: bool = True
) -> tuple[Figures, tuple[Blocker, ...]]:
    """
    Compute the figures of two arms, and what blocks a promotion whatever the figures are.

    With ``missing = "worst"`` both arms of the figures have the cases of both, if they share one. If scores are outside
    ``score_range``, a blocker says so and the figures are computed as if the range were unknown.

    :param advice: as of :func:`weigh`.
    """
    baseline, candidate = _completed(baseline, candidate, policy)
    blockers = tuple(_blockers(baseline, candidate, policy))
    weighed = policy
    if any(code == "score_out_of_range" for code, _ in blockers):
        weighed = policy.model_copy(update={"score_range": None})
    figures = weigh(baseline, candidate, weighed, advice=advice)
    if blockers:  # a reader of significance.json alone must not take it for a pass
        failed = figures.significance.model_copy(update={"passed": False})
        figures = replace(figures, significance=failed)
    return figures, blockers


def _completed(baseline: Arm, candidate: Arm, policy: GatePolicy) -> tuple[Arm, Arm]:
    """Return both sides with the cases of both, where the policy counts a missing case as the worst score."""
    if policy.missing != "worst" or policy.score_range is None:
        return baseline, candidate
    shared = set(baseline.case_ids or ()) & set(candidate.case_ids or ())
    if not shared or not mismatch(baseline, candidate):
        return baseline, candidate
    return counted_as_worst(baseline, candidate, policy.score_range)


def _blockers(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    yield from _pairing_objection(baseline, candidate, policy)
    if policy.score_range is not None:
        yield from _outside("baseline", baseline, policy.score_range)
        yield from _outside("candidate", candidate, policy.score_range)


def _pairing_objection(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that cases differ, or that the policy needs pairs where there are none."""
    differing = mismatch(baseline, candidate)
    if differing:
        yield "case_mismatch", says("case_mismatch.differ", how=differing)
    elif policy.test == "paired" and baseline.paired_with(candidate) is None:
        yield "case_mismatch", says("case_mismatch.unpaired_test")
    elif policy.claim == "no_regression" and baseline.paired_with(candidate) is None:
        yield "case_mismatch", says("case_mismatch.unpaired_claim")


def _outside(name: str, arm: Arm, score_range: tuple[float, float]) -> Iterator[Blocker]:
    """Yield the first score of a side that the range does not have."""
    low, high = score_range
    outside = next((score for score in arm.scores if not low <= score <= high), None)
    if outside is not None:
        said = says("score_out_of_range", side=name, score=outside, low=low, high=high)
        yield "score_out_of_range", said


def p_of_loss(figures: Figures, policy: GatePolicy) -> float | None:
    """Return the one-sided p of "the candidate is worse", whatever the claim is; ``None`` if there is none."""
    if figures.smallest < 2:
        return None
    if policy.claim != "no_regression":
        return figures.significance.p_regression
    # That claim infers nothing; whether to go back is asked about other cases too.
    compared = Compared(baseline=figures.baseline, candidate=figures.candidate, policy=policy)
    return deciding(compared, TESTS_OF_MEANS).p_regression


def significance(compared: Compared) -> Significance:
    """Return the figures of the way that decides and, beside it, those of Welch's test and of the pairs."""
    way = deciding(compared)
    answers = way.answers()
    low, high = answers.interval
    unseen = None
    welch = _NO_TEST
    paired = None
    if not isinstance(way, CaseByCase):  # which infers nothing about other cases
        unseen = _unseen(compared)
        welch = _welch(way, compared)
        paired = _paired(way, compared)
    return Significance(
        alpha=compared.policy.alpha,
        p_value=answers.p_value,
        confidence_level=answers.confidence_level,
        mean_delta=compared.delta,
        delta_ci_low=low,
        delta_ci_high=high,
        passed=answers.passed,
        baseline_mean_reward=summarize(compared.baseline.scores).mean,
        trained_mean_reward=summarize(compared.candidate.scores).mean,
        test=way.name,
        p_regression=way.p_regression,
        effect_size_g=effect_size(compared.baseline.scores, compared.candidate.scores).hedges_g,
        exact_lower_bound=answers.exact_lower_bound,
        evidence=answers.evidence,
        minimum_detectable_effect=answers.effect,
        cases_needed=answers.cases,
        smallest_margin=answers.smallest_margin,
        unseen_failure_ucb95=unseen,
        welch=welch,
        paired=paired,
        pass_fail=_pass_fail(way),
        clusters=_clusters(compared),
        effective_cases=_effective_cases(compared),
    )


_NO_TEST = WelchFigures(t=None, df=None, p_two_sided=None, p_greater=None, passed=False)


def _welch(way: Inference, compared: Compared) -> WelchFigures:
    """Return Welch's test of the unshifted difference, as published; its guard counts only where it decides."""
    if isinstance(way, TwoSamples):
        samples = way
        passed = way.passed
    else:
        samples = samples_of(compared)
        passed = samples.passes(samples.published(compared.policy.min_delta).p_two_sided)
    plain = samples.plain
    return WelchFigures(
        t=plain.t,
        df=plain.df,
        p_two_sided=plain.p_two_sided,
        p_greater=plain.p_greater,
        passed=passed,
    )


def _paired(way: Inference, compared: Compared) -> PairedFigures | None:
    """Return the paired test, ``None`` without pairs; its guard always counts where the policy asks for Welch's."""
    if not compared.pairs:
        return None
    if isinstance(way, Pairs):
        return PairedFigures.of(way.shifted, passed=way.passed)
    pairs = pairs_of(compared)
    if compared.compares_pairs:
        return PairedFigures.of(pairs.shifted, passed=pairs.passed)
    guarded = pairs.guarded(compared.policy.min_delta)
    return PairedFigures.of(guarded, passed=pairs.passes(guarded.p_two_sided))


def _pass_fail(way: Inference) -> PassFailFigures | None:
    if isinstance(way, PassFail):
        return way.figures
    return None


def _unseen(compared: Compared) -> float | None:
    """Return how often a failure may occur that no case of the candidate showed."""
    if compared.size < 2:
        return None
    return unseen_failure_ucb(compared.candidate.sources or 1)


def _clusters(compared: Compared) -> int | None:
    if not compared.is_clustered:
        return None
    return min(compared.baseline.sources, compared.candidate.sources)


def _effective_cases(compared: Compared) -> float | None:
    """Return how many independent cases would be as exact, of the side that has fewer; ``None`` without clusters."""
    if not compared.is_clustered:
        return None
    if compared.compares_pairs:
        return effective_cases(compared.differences, compared.pair_labels)
    sizes = [
        effective_cases(arm.scores, arm.labels) for arm in (compared.baseline, compared.candidate)
    ]
    return min((size for size in sizes if size is not None), default=None)
