"""What to do first about a decision that holds: one step, that of its first reason."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from benchgate.errors import counted
from benchgate.gates.claim_reasons import clusters_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.gates.decision import GateInput
    from benchgate.gates.figures import Figures
    from benchgate.gates.looks import Look
    from benchgate.gates.policy import GatePolicy


STEPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "incomplete_run": "fix what kept trials from a result, then run them: resume the run",
        "too_many_unscored": "fix the errors, then run again",
        "unscored_decide": "fix the errors, then run the named trials again; if a crash is the true result of the "
        "baseline, say so in gate.toml: baseline_errors = 'zero'",
        "baseline_missing": "pin a complete run as the baseline: benchgate pin",
        "baseline_mismatch": "make the baseline again on these cases, or run it beside: baseline=run:SYSTEM",
        "plan_mismatch": "run what was planned, or seal a new plan before a new run: benchgate plan",
        "checkpoint_mismatch": "fix which checkpoint is played, then run again",
        "case_mismatch": "give both sides the same cases, with the same ids and clusters",
        "score_out_of_range": "set score_range to that of the scores",
        "zero_variance": "set score_range, so that a bound can decide",
        "safety_bound_unavailable": "set penalty_range",
        "seed_reproducibility": "add trials: those of the candidate disagree",
        "sample_sensitivity": "look at the cases along which the difference drifts; add cases of both kinds",
    }
)
"""By reason code; those that depend on the figures are in :data:`OF_FIGURES`."""

OF_LOGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "incomplete_run": "give whole logs: a sample of each case for each repetition, which --map trial=FIELD numbers",
        "too_many_unscored": "run the samples that erred again in their harness, and give the new log",
        "unscored_decide": "run the named samples again in their harness, and give the new log; if a crash is the true "
        "result of the baseline, say so in a gate.toml: baseline_errors = 'zero'",
        "baseline_mismatch": "give two whole logs of the same cases and the same score",
        "case_mismatch": "give both logs the same cases and clusters; with --policy missing=worst a case that one "
        "side lacks counts against the candidate",
        "safety_missing": "give every sample a harm: --map harm=FIELD, or safety=FIELD where 1 is safe",
    }
)
"""The same where both sides are logs of another harness."""

_LOOK: Final = "look at the reasons"
_TESTED: Final = frozenset(
    {
        "insufficient_cases",
        "delta_below_minimum",
        "gain_excluded",
        "not_significant",
        "inconclusive_underpowered",
        "exact_evidence_required",
        "margin_not_shown",
    }
)
"""Reasons that no scores can do away with at a look at which nothing is promoted."""
_WEAK: Final = frozenset({"insufficient_cases", "delta_below_minimum"})
"""Reasons that a later one explains better: more cases are of no use where a gain is excluded."""


def next_step(given: GateInput, codes: Sequence[str], look: Look | None = None) -> str:
    """
    Return one thing to do: add cases or trials, choose a margin, or fix errors.

    :param look: at the baseline, if somebody counts.
    :param codes: the reasons of the decision without their prefix, in order; none if only further gates object.
    """
    if not codes:
        return f"do what the gate {given.further[0][0]} asks for"
    first = codes[0]
    if first in _WEAK and "gain_excluded" in codes:
        first = "gain_excluded"
    elif first == "delta_below_minimum" and len(codes) > 1:
        first = codes[1]
    steps = {**STEPS, **OF_LOGS} if given.is_log else STEPS
    if first in steps:
        return steps[first]
    if look is not None and not look.can_promote and first in _TESTED:
        return "add cases: at this look so few cannot promote; new cases begin a new count"
    if given.figures is None or first not in OF_FIGURES:
        return _LOOK
    return OF_FIGURES[first](given.figures, given.policy)


def _too_few(figures: Figures, policy: GatePolicy) -> str:
    clusters = figures.significance.clusters
    if clusters is None:
        return f"add {counted(policy.min_cases - figures.smallest, 'case')}"
    lacking = counted(clusters_needed(policy) - clusters, "further cluster")
    return f"add cases of {lacking}: of sources that no case has yet"


def _no_gain(figures: Figures, policy: GatePolicy) -> str:
    instead = "if no worse is enough, claim not_worse with a margin"
    high = figures.significance.delta_ci_high
    if not _is_identical(figures) and high is not None and high > policy.min_delta:
        return f"improve the candidate; for a smaller gain, lower target_effect and add cases; {instead}"
    return f"more cases will not help: improve the candidate; {instead}"


def _unsure(figures: Figures, policy: GatePolicy) -> str:
    if _is_identical(figures):
        return _no_gain(figures, policy)
    return _more_cases(figures) or "add cases, or add trials to each if one case varies much"


def _more_cases(figures: Figures) -> str | None:
    there, needed = figures.compared, figures.significance.cases_needed
    if needed is None or needed <= there:
        return None
    of = "" if figures.significance.clusters is None else " of further clusters"
    return f"add cases{of}: about {needed - there} more to the {there} there are"


def _is_identical(figures: Figures) -> bool:
    pairs = figures.baseline.paired_with(figures.candidate)
    return bool(pairs) and all(pair.before == pair.after for pair in pairs or ())


def _no_margin(figures: Figures, policy: GatePolicy) -> str:
    if figures.significance.delta_ci_low is None:
        return "set score_range, so that the difference can be bounded"
    if policy.test == "welch" and figures.baseline.paired_with(figures.candidate):
        return "set test = 'auto': both sides have the same cases, and pairs show a smaller margin"
    return _more_cases(figures) or (
        "improve the candidate; or plan a new comparison with a margin that this size can show"
    )


def _safety_missing(figures: Figures, _: GatePolicy) -> str:
    facts = (*(figures.baseline.facts or ()), *(figures.candidate.facts or ()))
    if not facts:
        return "give the penalties of both sides, or set safety = 'optional'"
    if any(known.unscored for known in facts):
        return "fix the errors, then run again; or set penalty_range, so that they count as the largest penalty"
    return "have the rubric measure the penalty on every case"


def _safety_bound(_: Figures, policy: GatePolicy) -> str:
    if not policy.max_safety_regression:
        return "no number of cases can show that nothing rises: set max_safety_regression above 0"
    return "add cases: the bound on the penalty narrows with their number"


def _cost(figures: Figures, _: GatePolicy) -> str:
    if figures.cost is None:
        return (
            "have both systems report what a case costs: case.usage, on runs, not on sample files"
        )
    return "lower the cost, or raise max_cost_increase"


OF_FIGURES: Final[Mapping[str, Callable[[Figures, GatePolicy], str]]] = MappingProxyType(
    {
        "insufficient_cases": _too_few,
        "delta_below_minimum": _no_gain,
        "gain_excluded": _no_gain,
        "not_significant": _unsure,
        "inconclusive_underpowered": _unsure,
        "exact_evidence_required": _unsure,
        "margin_not_shown": _no_margin,
        "safety_upper_bound": _safety_bound,
        "safety_missing": _safety_missing,
        "cost_increase": _cost,
    }
)
