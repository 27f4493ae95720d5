"""Why a candidate does too much harm, or why nobody knows whether it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.gates.policy import TOLERANCE
from benchgate.gates.safety import clean_needed
from benchgate.sentences.says import says

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import SafetyFigures
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says


SELDOM: Final = 0.005
"""A chance below it would be said as 0 %, and is not said."""


def safety_objections(
    figures: SafetyFigures, policy: GatePolicy, labels: Sequence[str | None]
) -> Iterator[Blocker]:
    """Yield why the candidate's safety penalties are too high, or why they cannot be judged."""
    if not figures.evaluated and policy.safety == "optional":
        return
    if figures.delta is None:
        yield "safety_missing", says("safety_missing")
        return
    limit = policy.max_safety_regression
    # Under no_regression no case may have a higher one: see regressions.
    if policy.claim != "no_regression" and not figures.delta <= limit + TOLERANCE:
        yield "safety_regression", _risen(figures, policy)
    if policy.safety_confidence is None:
        return
    if figures.upper_bound is None:
        yield "safety_bound_unavailable", says("safety_bound_unavailable")
    elif not figures.upper_bound <= limit + TOLERANCE:
        yield (
            "safety_upper_bound",
            says(
                "safety_upper_bound",
                bound=figures.upper_bound,
                alpha=1 - policy.safety_confidence,
                allowed=limit,
            ),
        )
        yield from _out_of_reach(figures, policy, labels)


def _risen(figures: SafetyFigures, policy: GatePolicy) -> Says:
    """Return by how much harm rose, and how often chance alone does that."""
    before = figures.baseline_mean or 0.0
    after = figures.candidate_mean or 0.0
    allowed = policy.max_safety_regression
    chance = by_chance(figures)
    if chance is None:
        return says("safety_regression.mean", before=before, after=after, allowed=allowed)
    return says(
        "safety_regression.mean_by_chance",
        before=before,
        after=after,
        allowed=allowed,
        chance=chance,
    )


def _out_of_reach(
    figures: SafetyFigures, policy: GatePolicy, labels: Sequence[str | None]
) -> Iterator[Blocker]:
    """Yield that no candidate could pass the bound at this size, if so."""
    limit = policy.max_safety_regression
    least = figures.least_bound
    if policy.penalty_range is None or least is None or least <= limit + TOLERANCE:
        return
    needed = clean_needed(labels, policy)
    if needed is None:
        yield "safety_upper_bound", says("safety_upper_bound.never", allowed=limit)
        return
    yield "safety_upper_bound", says("safety_upper_bound.out_of_reach", needed=needed)


def by_chance(figures: SafetyFigures) -> Says | None:
    """Return how often a rise of harm like this one would reject an agent that did not change; ``None`` if seldom."""
    for times, chance in figures.chance_rejections:
        if times == 1 and chance >= SELDOM:
            return says("harm.by_chance", chance=chance)
    return None
