"""What to do first about a decision that holds: one step, that of its first reason."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from benchgate.errors import counted
from benchgate.gates.claim_reasons import clusters_needed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.gates.decision import GateInput
    from benchgate.gates.figures import Figures
    from benchgate.gates.looks import Look
    from benchgate.gates.policy import GatePolicy


STEPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "incomplete_run": "fix what kept trials from a result, then run them: resume the run",
        "too_many_unscored": "fix the errors, then run again",
        "baseline_missing": "pin a complete run as the baseline: benchgate pin",
        "baseline_mismatch": "make the baseline again on these cases, or run it beside: baseline=run:SYSTEM",
        "plan_mismatch": "run what was planned, or seal a new plan before a new run: benchgate plan",
        "checkpoint_mismatch": "fix which checkpoint is played, then run again",
        "case_mismatch": "give both sides the same cases, with ids",
        "non_finite_value": "fix the scores, then compare again",
        "score_out_of_range": "set score_range to that of the scores",
        "zero_variance": "set score_range, so that a bound can decide",
        "safety_upper_bound": "add cases: the bound on the penalty narrows with their number",
        "safety_missing": "have the rubric measure the penalty on every case",
        "safety_bound_unavailable": "set penalty_range",
        "seed_reproducibility": "add trials: those of the candidate disagree",
        "sample_sensitivity": "look at the cases along which the difference drifts; add cases of both kinds",
        "cost_increase": "lower the cost, or raise max_cost_increase; if it is not known, report it in case.usage",
        "duration_increase": "make it faster, or raise max_duration_increase",
    }
)
"""By reason code; those that depend on the figures are in :func:`next_step`."""

_CASES: Final = frozenset(
    {
        "insufficient_cases",
        "not_significant",
        "inconclusive_underpowered",
        "margin_not_shown",
        "exact_evidence_required",
    }
)
_LOOK: Final = "look at the reasons"
_GAIN: Final = ("gain_excluded", "delta_below_minimum")
_NOT_WORSE: Final = (
    "more cases will not help: improve the candidate, "
    "or, if it is enough to be no worse, claim not_worse with a margin"
)


def next_step(given: GateInput, codes: Sequence[str], look: Look | None = None) -> str:
    """
    Return one thing to do: add cases or trials, choose a margin, or fix errors.

    :param look: at the baseline, if somebody counts.
    :param codes: the reasons of the decision without their prefix, in order; none if only further gates object.
    """
    if not codes:
        return f"do what the gate {given.further[0][0]} asks for"
    # Further cases are of no use where a gain is excluded.
    first = "gain_excluded" if "gain_excluded" in codes else codes[0]
    if first == "delta_below_minimum" and len(codes) > 1:
        first = codes[1]
    if first in STEPS:
        return STEPS[first]
    if look is not None and not look.can_promote:
        return "add cases: at this look so few cannot promote; new cases begin a new count"
    if first in _GAIN:
        return _NOT_WORSE
    return _more_cases(given, first) if first in _CASES else _LOOK


def _more_cases(given: GateInput, first: str) -> str:
    figures, policy = given.figures, given.policy
    if figures is None:
        return _LOOK
    if first == "insufficient_cases":
        return _too_few(figures, policy)
    there, needed = figures.smallest, figures.significance.cases_needed
    if needed is not None and needed > there:
        of = "" if figures.significance.clusters is None else " of further clusters"
        return f"add cases{of}: about {needed - there} more to the {there} there are"
    if first == "margin_not_shown":
        return "choose a larger margin, or improve the candidate"
    return "add cases, or add trials to each if one case varies much"


def _too_few(figures: Figures, policy: GatePolicy) -> str:
    clusters = figures.significance.clusters
    if clusters is None:
        return f"add {counted(policy.min_cases - figures.smallest, 'case')}"
    lacking = counted(clusters_needed(policy) - clusters, "further cluster")
    return f"add cases of {lacking}: of sources that no case has yet"
