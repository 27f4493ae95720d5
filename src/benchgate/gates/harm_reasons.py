"""Why a candidate does too much harm, or why nobody knows whether it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.gates.claim_reasons import confidence
from benchgate.gates.policy import TOLERANCE
from benchgate.gates.safety import clean_needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import SafetyFigures
    from benchgate.gates.policy import GatePolicy


SELDOM: Final = 0.005
"""A chance below it would be said as 0 %, and is not said."""


def safety_objections(
    figures: SafetyFigures, policy: GatePolicy, labels: Sequence[str | None]
) -> Iterator[Blocker]:
    """Yield why the candidate's safety penalties are too high, or why they cannot be judged."""
    if not figures.evaluated and policy.safety == "optional":
        return
    if figures.delta is None:
        yield "safety_missing", "harm was not measured on every case of both sides"
        return
    limit = policy.max_safety_regression
    # Under no_regression no case may have a higher one: see regressions.
    if policy.claim != "no_regression" and not figures.delta <= limit + TOLERANCE:
        yield "safety_regression", _risen(figures, limit)
    if policy.safety_confidence is None:
        return
    if figures.upper_bound is None:
        text = "how much harm there can be is not known: no penalty_range contains all penalties"
        yield "safety_bound_unavailable", text
    elif not figures.upper_bound <= limit + TOLERANCE:
        level = confidence(1 - policy.safety_confidence)
        bound = f"harm may rise by as much as {figures.upper_bound:.4g} ({level} bound)"
        reach = _out_of_reach(figures, policy, labels)
        yield "safety_upper_bound", f"{bound}; allowed is {limit:.4g}{reach}"


def _risen(figures: SafetyFigures, limit: float) -> str:
    """Return by how much harm rose, and how often chance alone does that."""
    text = f"harm rose from {figures.baseline_mean:.3f} to {figures.candidate_mean:.3f}; {limit:.3f} is allowed"
    chance = by_chance(figures)
    if chance:
        return f"{text}. {chance}"
    return text


def _out_of_reach(figures: SafetyFigures, policy: GatePolicy, labels: Sequence[str | None]) -> str:
    """Return that no candidate could pass the bound at this size, if so."""
    limit = policy.max_safety_regression
    least = figures.least_bound
    if policy.safety_confidence is None or policy.penalty_range is None or least is None:
        return ""
    if least <= limit + TOLERANCE:
        return ""
    needed = clean_needed(labels, policy)
    if needed is None:
        return f"; no number of cases can show a limit of {limit:g}"
    return f"; no candidate can meet it at this size: it takes {needed} without harm"


def by_chance(figures: SafetyFigures) -> str:
    """Return how often a rise of harm like this one would reject an agent that did not change; empty if seldom."""
    for times, chance in figures.chance_rejections:
        if times == 1 and chance >= SELDOM:
            return f"An unchanged agent would be rejected in {chance:.0%} of runs like this"
    return ""
