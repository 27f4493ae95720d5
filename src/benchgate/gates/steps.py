"""What to do first about a condition that failed: each function returns one step for the figures of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from benchgate.errors import counted
from benchgate.gates.policy import TOLERANCE
from benchgate.gates.remedies import more_runs

if TYPE_CHECKING:
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.policy import GatePolicy


MEASURE_HARM: Final = (
    "measure harm on every case: in the rubric; of a log, --map harm=FIELD or safety=FIELD"
)


def clusters_needed(policy: GatePolicy) -> int:
    """Return how many clusters a comparison needs: with fewer, the sign-flip p of no data is <= alpha / 2."""
    return max(policy.min_cases, math.ceil(1.0 - math.log2(policy.alpha)))


def other_cases(figures: Figures, policy: GatePolicy) -> str:
    """Say how to give both sides the same cases."""
    before = figures.baseline.case_ids
    after = figures.candidate.case_ids
    if before and after and {*before} != {*after} and policy.missing != "worst":
        keys = "--policy missing=worst --policy 'score_range=[LO, HI]'"
        return f"run the missing cases, or count each as the worst: {keys}"
    return "give both sides the same cases, with the same ids and clusters"


def too_few(figures: Figures, policy: GatePolicy) -> str:
    """
    Say how many cases or clusters are lacking to be judged at all.

    How many would find a gain is no advice yet: so few cases do not say how scores vary. Only where all gained alike it
    is known how many show that.
    """
    clusters = figures.significance.clusters
    if clusters is not None:
        return f"add cases from {counted(clusters_needed(policy) - clusters, 'new source')}"
    needed = figures.significance.cases_needed
    if figures.significance.p_value is None and needed is not None and needed > policy.min_cases:
        return _more_of_the_same(figures)
    return f"add {counted(policy.min_cases - figures.smallest, 'case')}"


def no_gain(figures: Figures, policy: GatePolicy) -> str:
    """Say what to do where no gain was seen, or none that is worth finding."""
    instead = "if no worse is enough, --policy=claim=not_worse --policy=margin=X"
    if figures.significance.is_without_change:
        shown = _margin_shown(figures)
        return f"improve the candidate: more cases with the same results show no gain; {instead}{shown}"
    high = figures.significance.delta_ci_high
    if high is not None and high > policy.min_delta:
        cases = "cases"
        if figures.significance.clusters is not None:
            cases = "cases from new sources"
        return f"improve it; or add {cases} and --policy=target_effect=X; or {instead}"
    return f"more cases will not help: improve the candidate; {instead}"


def unsure(figures: Figures, policy: GatePolicy) -> str:
    """Say how to find out whether a gain is chance."""
    if figures.significance.is_without_change:
        return no_gain(figures, policy)
    if figures.significance.p_value is None:
        return _more_of_the_same(figures)
    return more_runs(figures) or "add cases, or add trials to each if one case varies much"


def _more_of_the_same(figures: Figures) -> str:
    """Return how many cases show a gain that is the same in every case."""
    needed = figures.significance.cases_needed
    if needed is None:
        return "improve the candidate: no number of cases shows so small a gain"
    more = counted(max(1, needed - figures.compared), "case")
    return f"add {more}: {needed} cases with this gain and no loss would show it"


def no_margin(figures: Figures, policy: GatePolicy) -> str:
    """Say how to exclude a loss of the margin."""
    if figures.significance.delta_ci_low is None:
        return "set score_range, so that the difference can be bounded"
    if policy.test == "welch" and figures.baseline.paired_with(figures.candidate):
        return "--policy=test=auto: both sides have the same cases, and pairs show a smaller margin"
    return more_runs(figures) or (
        "improve the candidate; or plan a new comparison with a margin that this size can show"
    )


def _margin_shown(figures: Figures) -> str:
    """Return which margin results without a change show, rounded so that it is enough."""
    bound = figures.significance.exact_lower_bound
    if bound is None:
        return ""
    shown = math.ceil(-bound * 1000.0 + TOLERANCE) / 1000.0
    return f", which these cases show for X = {shown:g} or more"


def safety_missing(figures: Figures, policy: GatePolicy) -> str:
    """Say how to measure harm on every case."""
    before = _unscored(figures.baseline)
    after = _unscored(figures.candidate)
    if before is None or after is None:
        return "give the harm of both sides, or --policy=safety=optional"
    if figures.baseline.penalties is None and figures.candidate.penalties is None:
        return f"if nothing here can do harm, say so: --policy=safety=optional; else {MEASURE_HARM}"
    if after and policy.penalty_range is None:
        return "run what has no score again; or set penalty_range, so that it counts as the most harm that there is"
    if before or after:
        return f"run what has no score again: {before} trials of the baseline, {after} of the candidate"
    return MEASURE_HARM


def _unscored(arm: Arm) -> int | None:
    """Return how many trials of a side have no score; ``None`` of plain scores, which do not say."""
    if arm.facts is None:
        return None
    return sum(facts.unscored for facts in arm.facts)


def harm_by_chance(figures: Figures, _: GatePolicy) -> str:
    """Say what tells a candidate that does more harm from one that had bad luck."""
    chances = dict(figures.safety.chance_rejections)
    times = max(chances, default=1)
    text = f"to tell harm from chance, run {times} times as many trials of each case"
    text += f": an unchanged agent would then be rejected in {chances.get(times, 0.0):.0%} of runs"
    return f"{text}; or raise max_safety_regression"


def safety_bound(_: Figures, policy: GatePolicy) -> str:
    """Say what narrows the bound on the rise of harm."""
    if not policy.max_safety_regression:
        return "no number of cases can show that nothing rises: set max_safety_regression above 0"
    return "add cases: the bound on harm narrows with their number"


def cost(figures: Figures, _: GatePolicy) -> str:
    """Say what to do about a cost that rose, or is not known."""
    if figures.cost is None:
        return (
            "have both systems report what a case costs: case.usage, on runs, not on sample files"
        )
    return "lower the cost, or raise max_cost_increase"
