"""Compares the safety penalties of two arms: the rise, its bound, and how often a true rise would have passed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import mean
from benchgate.gates.figures import SafetyFigures
from benchgate.statistics.bounds import constant_cases_needed, gaffke_upper, mover_gaffke
from benchgate.statistics.paired import paired_differences
from benchgate.statistics.safety import safety_pass_chance
from benchgate.statistics.summary import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy


RISES: Final = (0.05, 0.10, 0.20)


def safety(
    baseline: Arm, candidate: Arm, policy: GatePolicy, *, advice: bool = True
) -> SafetyFigures:
    """Compare mean safety penalties; with an upper bound if the policy sets a level and a range for it."""
    evaluated = bool(_measured(baseline) or _measured(candidate))
    baseline, candidate = _measured_on_both(baseline, candidate, policy)
    b, c = mean_penalty(baseline), mean_penalty(candidate)
    delta = None if b is None or c is None else c - b
    low, high = policy.penalty_range or (0.0, 1.0)
    penalties = [*_measured(baseline), *_measured(candidate)]
    upper = least = None
    inside = delta is not None and all(low <= penalty <= high for penalty in penalties)
    if inside and policy.safety_confidence and policy.penalty_range:
        clean = replace(candidate, penalties=(low,) * len(candidate.scores))
        level = policy.safety_confidence
        upper, least = (
            _rise_upper(baseline, arm, level, (low, high)) for arm in (candidate, clean)
        )
    return SafetyFigures(
        evaluated=evaluated,
        baseline_mean=b,
        candidate_mean=c,
        delta=delta,
        upper_bound=upper,
        least_bound=least,
        pass_chances=_pass_chances(baseline, candidate, policy)
        if advice and delta is not None
        else (),
    )


def clean_needed(labels: Sequence[str | None], policy: GatePolicy) -> str | None:
    """
    Return how many cases without a penalty on either side the bound takes; ``None`` if no number shows the limit.

    :param labels: the clusters of the cases there are; further ones have their sizes.
    """
    (low, high), limit = policy.penalty_range or (0.0, 1.0), policy.max_safety_regression
    level, room = policy.safety_confidence or 0.95, high - low - limit
    cases = constant_cases_needed(limit, labels, room=room, confidence=level)
    clusters = len(grouped(labels, labels))
    if cases is None or clusters == len(labels):
        return None if cases is None else f"{cases} cases"
    return f"about {cases} cases in {math.ceil(cases * clusters / len(labels))} clusters"


def _rise_upper(baseline: Arm, candidate: Arm, level: float, ends: tuple[float, float]) -> float:
    """Bound the rise, case by case if the arms can be paired."""
    before, after, (low, high) = _measured(baseline), _measured(candidate), ends
    if not baseline.paired_with(candidate):
        labels = baseline.labels, candidate.labels
        bounds = mover_gaffke(before, after, labels, confidence=level, low=low, high=high)
        return bounds[1]
    by_case = dict(zip(baseline.case_ids or (), before, strict=True))
    rises = paired_differences([by_case[case_id] for case_id in candidate.case_ids or ()], after)
    width = high - low
    return gaffke_upper(rises, candidate.labels, confidence=level, low=-width, high=width)


def _pass_chances(
    baseline: Arm, candidate: Arm, policy: GatePolicy
) -> tuple[tuple[float, float | None], ...]:
    low, high = policy.penalty_range or (0.0, 1.0)
    level = policy.safety_confidence if policy.penalty_range else None
    before, limit = _measured(baseline), policy.max_safety_regression
    inside = all(low <= penalty <= high for penalty in before)
    if not inside or not baseline.paired_with(candidate):
        return ()
    chances = (
        safety_pass_chance(
            rise, before, baseline.labels, limit=limit, confidence=level, low=low, high=high
        )
        for rise in RISES
    )
    return tuple(zip(RISES, chances, strict=True))


def _measured(arm: Arm) -> list[float]:
    return [penalty for penalty in arm.penalties or () if penalty is not None]


def mean_penalty(arm: Arm) -> float | None:
    """Return the mean penalty of a side; ``None`` if that of a case was not measured."""
    penalties = [penalty for penalty in _measured(arm) if math.isfinite(penalty)]
    return mean(penalties) if penalties and len(penalties) == len(arm.scores) else None


def _measured_on_both(baseline: Arm, candidate: Arm, policy: GatePolicy) -> tuple[Arm, Arm]:
    """
    Leave out the cases of which a side has no penalty, if only because none of their trials has a score.

    A side with too many trials without a score is left as it is, without its penalties: they say too little. So is a
    candidate with one where nobody says how large a penalty can be: its crash may have done any harm.
    """
    sides = [
        _trusted(baseline, policy),
        _trusted(candidate, policy, is_open=policy.penalty_range is None),
    ]
    lacking = {
        case_id
        for arm in sides
        for case_id, penalty, facts, row in zip(
            arm.case_ids or (), arm.penalties or (), arm.facts or (), arm.trials or (), strict=False
        )
        if penalty is None and facts.unscored == len(row)
    }
    before, after = (
        arm.at([n for n, c in enumerate(arm.case_ids) if c not in lacking])
        if lacking and arm.case_ids
        else arm
        for arm in sides
    )
    return before, after


def _trusted(arm: Arm, policy: GatePolicy, *, is_open: bool = False) -> Arm:
    unscored = sum(facts.unscored for facts in arm.facts or ())
    trials = sum(map(len, arm.trials or ()))
    too_many = unscored > 1 and unscored > policy.max_unscored * trials
    return (
        replace(arm, penalties=(None,) * len(arm.scores))
        if unscored and (too_many or is_open)
        else arm
    )
