"""Computes the figures of a comparison: significance, safety and bands, from the case scores of two arms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.gates.bands import sample_size_sensitivity, seed_reproducibility
from benchgate.gates.compared import Compared
from benchgate.gates.cost import cost_increase
from benchgate.gates.deciding import deciding, pairs_of, samples_of
from benchgate.gates.figures import Figures, PairedFigures, Significance, WelchFigures
from benchgate.gates.pairs import Pairs
from benchgate.gates.pass_fail import PassFail
from benchgate.gates.safety import safety
from benchgate.gates.two_samples import TwoSamples
from benchgate.gates.without_test import CaseByCase
from benchgate.statistics.bounds import unseen_failure_ucb
from benchgate.statistics.clusters import effective_cases
from benchgate.statistics.effect import effect_size
from benchgate.statistics.summary import summarize

if TYPE_CHECKING:
    from benchgate.gates.claim_figures import PassFailFigures
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


def significance(compared: Compared) -> Significance:
    """Return the figures of the way that decides and, beside it, those of Welch's test and of the pairs."""
    way = deciding(compared)
    answers = way.answers()
    low, high = answers.interval
    infers = not isinstance(way, CaseByCase)
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
        unseen_failure_ucb95=_unseen(compared) if infers else None,
        welch=_welch(way, compared) if infers else _NOTHING,
        paired=_paired(way, compared) if infers else None,
        pass_fail=_pass_fail(way),
        clusters=_clusters(compared),
        effective_cases=_effective_cases(compared),
    )


_NOTHING = WelchFigures(t=None, df=None, p_two_sided=None, p_greater=None, passed=False)


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
