"""What to do first about a condition that failed: each function returns one step for the figures of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.gates.policy import TOLERANCE
from benchgate.gates.remedies import more_runs
from benchgate.sentences.says import says

if TYPE_CHECKING:
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says


def clusters_needed(policy: GatePolicy) -> int:
    """Return how many clusters a comparison needs: with fewer, the sign-flip p of no data is <= alpha / 2."""
    return max(policy.min_cases, math.ceil(1.0 - math.log2(policy.alpha)))


def other_cases(figures: Figures, policy: GatePolicy) -> Says:
    """Say how to give both sides the same cases."""
    before = figures.baseline.case_ids
    after = figures.candidate.case_ids
    if before and after and {*before} != {*after} and policy.missing != "worst":
        return says("step.missing_cases")
    return says("step.same_cases")


def too_few(figures: Figures, policy: GatePolicy) -> Says:
    """
    Say how many cases or clusters are lacking to be judged at all.

    How many would find a gain is no advice yet: so few cases do not say how scores vary. Only where all gained alike it
    is known how many show that.
    """
    clusters = figures.significance.clusters
    if clusters is not None:
        return says("step.add_clusters", clusters=clusters_needed(policy) - clusters)
    needed = figures.significance.cases_needed
    if figures.significance.p_value is None and needed is not None and needed > policy.min_cases:
        return _more_of_the_same(figures)
    return says("step.add_cases", cases=policy.min_cases - figures.smallest)


def no_gain(figures: Figures, policy: GatePolicy) -> Says:
    """Say what to do where no gain was seen, or none that is worth finding."""
    if figures.significance.is_without_change:
        return _unchanged(figures)
    high = figures.significance.delta_ci_high
    if high is None or high <= policy.min_delta:
        return says("step.no_gain")
    if figures.significance.clusters is not None:
        return says("step.no_gain.clusters")
    return says("step.no_gain.cases")


def _unchanged(figures: Figures) -> Says:
    """Say which margin results without a change show, rounded so that it is enough."""
    bound = figures.significance.exact_lower_bound
    if bound is None:
        return says("step.no_gain.unchanged")
    return says("step.no_gain.margin", margin=math.ceil(-bound * 1000.0 + TOLERANCE) / 1000.0)


def unsure(figures: Figures, policy: GatePolicy) -> Says:
    """Say how to find out whether a gain is chance."""
    if figures.significance.is_without_change:
        return no_gain(figures, policy)
    if figures.significance.p_value is None:
        return _more_of_the_same(figures)
    return more_runs(figures) or says("step.cases_or_trials")


def _more_of_the_same(figures: Figures) -> Says:
    """Return how many cases show a gain that is the same in every case."""
    needed = figures.significance.cases_needed
    if needed is None:
        return says("step.too_small_a_gain")
    return says("step.more_of_the_same", more=max(1, needed - figures.compared), needed=needed)


def no_margin(figures: Figures, policy: GatePolicy) -> Says:
    """Say how to exclude a loss of the margin."""
    if figures.significance.delta_ci_low is None:
        return says("step.range_for_difference")
    if policy.test == "welch" and figures.baseline.paired_with(figures.candidate):
        return says("step.paired_test")
    return more_runs(figures) or says("step.other_margin")


def safety_missing(figures: Figures, policy: GatePolicy) -> Says:
    """Say how to measure harm on every case."""
    before = _unscored(figures.baseline)
    after = _unscored(figures.candidate)
    if before is None or after is None:
        return says("step.harm_of_both")
    if figures.baseline.penalties is None and figures.candidate.penalties is None:
        return says("step.say_no_harm")
    if after and policy.penalty_range is None:
        return says("step.most_harm")
    if before or after:
        return says("step.score_all", before=before, after=after)
    return says("step.measure_harm")


def _unscored(arm: Arm) -> int | None:
    """Return how many trials of a side have no score; ``None`` of plain scores, which do not say."""
    if arm.facts is None:
        return None
    return sum(facts.unscored for facts in arm.facts)


def harm_by_chance(figures: Figures, _: GatePolicy) -> Says:
    """Say what tells a candidate that does more harm from one that had bad luck."""
    chances = dict(figures.safety.chance_rejections)
    times = max(chances, default=1)
    return says("step.harm_by_chance", times=times, chance=chances.get(times, 0.0))


def safety_bound(_: Figures, policy: GatePolicy) -> Says:
    """Say what narrows the bound on the rise of harm."""
    if not policy.max_safety_regression:
        return says("step.allow_some_harm")
    return says("step.cases_for_harm")


def cost(figures: Figures, _: GatePolicy) -> Says:
    """Say what to do about a cost that rose, or is not known."""
    if figures.cost is None:
        return says("step.report_costs")
    return says("step.lower_cost")
