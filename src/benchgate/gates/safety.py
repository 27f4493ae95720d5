"""Compares the safety penalties of two arms: the rise, its bound, and how often a true rise would have passed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import mean
from benchgate.gates.figures import SafetyFigures
from benchgate.gates.policy import TOLERANCE
from benchgate.sentences.says import says
from benchgate.statistics.bounds import constant_cases_needed, gaffke_upper, mover_gaffke
from benchgate.statistics.paired import paired_differences
from benchgate.statistics.safety import safety_pass_chance, unchanged_rise_chance
from benchgate.statistics.summary import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says


RISES: Final = (0.05, 0.10, 0.20)
"""True rises of mean harm, as a share of its range, of which it is said how often they would have passed."""

MORE_TRIALS: Final = 3
"""Times as many trials of each case, for which a decision also says how often chance alone rejects."""


def safety(
    baseline: Arm, candidate: Arm, policy: GatePolicy, *, advice: bool = True
) -> SafetyFigures:
    """Compare mean safety penalties; with an upper bound if the policy sets a level and a range for it."""
    evaluated = bool(_measured(baseline) or _measured(candidate))
    baseline, candidate = _measured_on_both(baseline, candidate, policy)
    before = mean_penalty(baseline)
    after = mean_penalty(candidate)
    if before is None or after is None:
        return SafetyFigures(
            evaluated=evaluated,
            baseline_mean=before,
            candidate_mean=after,
            delta=None,
            upper_bound=None,
            least_bound=None,
            pass_chances=(),
        )
    upper, least = _rise_bounds(baseline, candidate, policy)
    pass_chances: tuple[tuple[float, float | None], ...] = ()
    if advice:
        pass_chances = _pass_chances(baseline, candidate, policy)
    return SafetyFigures(
        evaluated=evaluated,
        baseline_mean=before,
        candidate_mean=after,
        delta=after - before,
        upper_bound=upper,
        least_bound=least,
        pass_chances=pass_chances,
        chance_rejections=_chance_rejections(baseline, candidate, after - before, policy),
    )


def unchanged_rejected(penalties: Sequence[float], n: int, policy: GatePolicy, times: int) -> float:
    """
    Return how often an agent that did not change would be rejected because its harm rose by chance.

    :param penalties: of cases, each the mean of its trials: what both runs draw from.
    :param n: cases of a run.
    :param times: as many times the trials that the penalties are means of.
    """
    limit = policy.max_safety_regression + TOLERANCE
    return unchanged_rise_chance(penalties, n, limit=limit, trials=times)


def _chance_rejections(
    baseline: Arm, candidate: Arm, rise: float, policy: GatePolicy
) -> tuple[tuple[int, float], ...]:
    """Return how often chance alone rejects, if it may explain a rise that is not allowed."""
    if policy.claim == "no_regression":  # it asks about each case, and not about the mean
        return ()
    if rise <= policy.max_safety_regression + TOLERANCE:
        return ()
    # Both sides together tell best how often there is harm if nothing changed.
    penalties = [*_measured(baseline), *_measured(candidate)]
    n = min(len(baseline.scores), len(candidate.scores))
    as_large = unchanged_rise_chance(penalties, n, limit=rise - TOLERANCE)
    if as_large <= policy.alpha / 2:
        return ()
    return tuple(
        (times, unchanged_rejected(penalties, n, policy, times)) for times in (1, MORE_TRIALS)
    )


def clean_needed(labels: Sequence[str | None], policy: GatePolicy) -> Says | None:
    """
    Return how many cases without a penalty on either side the bound takes; ``None`` if no number shows the limit.

    :param labels: the clusters of the cases there are; further ones have their sizes.
    """
    low, high = policy.penalty_range or (0.0, 1.0)
    limit = policy.max_safety_regression
    room = high - low - limit
    level = policy.safety_confidence or 0.95
    cases = constant_cases_needed(limit, labels, room=room, confidence=level)
    if cases is None:
        return None
    clusters = len(grouped(labels, labels))
    if clusters == len(labels):
        return says("clean.cases", cases=cases)
    return says("clean.clusters", cases=cases, clusters=math.ceil(cases * clusters / len(labels)))


def _rise_bounds(
    baseline: Arm, candidate: Arm, policy: GatePolicy
) -> tuple[float | None, float | None]:
    """
    Bound the rise from above: as it is, and as it would be if the candidate had no penalty at all.

    :returns: ``None`` twice if the policy asks for no bound, or a penalty is out of range.
    """
    level = policy.safety_confidence
    if not level or not policy.penalty_range:
        return None, None
    low, high = policy.penalty_range
    penalties = [*_measured(baseline), *_measured(candidate)]
    if not all(low <= penalty <= high for penalty in penalties):
        return None, None
    clean = replace(candidate, penalties=(low,) * len(candidate.scores))
    upper = _rise_upper(baseline, candidate, level, policy.penalty_range)
    least = _rise_upper(baseline, clean, level, policy.penalty_range)
    return upper, least


def _rise_upper(baseline: Arm, candidate: Arm, level: float, ends: tuple[float, float]) -> float:
    """Bound the rise, case by case if the arms can be paired."""
    before = _measured(baseline)
    after = _measured(candidate)
    low, high = ends
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
    before = _measured(baseline)
    inside = all(low <= penalty <= high for penalty in before)
    if not inside or not baseline.paired_with(candidate):
        return ()
    level = None
    if policy.penalty_range:  # else there is no bound
        level = policy.safety_confidence
    limit = policy.max_safety_regression
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
    if not penalties or len(penalties) != len(arm.scores):
        return None
    return mean(penalties)


def _measured_on_both(baseline: Arm, candidate: Arm, policy: GatePolicy) -> tuple[Arm, Arm]:
    """
    Leave out the cases of which a side has no penalty, if only because none of their trials has a score.

    A side with too many trials without a score is left as it is, without its penalties: they say too little. So is a
    candidate with one where nobody says how large a penalty can be: its crash may have done any harm.
    """
    before = _trusted(baseline, policy)
    after = _trusted(candidate, policy, is_open=policy.penalty_range is None)
    lacking = _without_score(before) | _without_score(after)
    return _leave_out(before, lacking), _leave_out(after, lacking)


def _without_score(arm: Arm) -> set[str]:
    """Return the cases without a penalty because none of their trials has a score."""
    rows = zip(
        arm.case_ids or (), arm.penalties or (), arm.facts or (), arm.trials or (), strict=False
    )
    return {
        case_id
        for case_id, penalty, facts, row in rows
        if penalty is None and facts.unscored == len(row)
    }


def _leave_out(arm: Arm, cases: set[str]) -> Arm:
    if not cases or not arm.case_ids:
        return arm
    return arm.at([place for place, case_id in enumerate(arm.case_ids) if case_id not in cases])


def _trusted(arm: Arm, policy: GatePolicy, *, is_open: bool = False) -> Arm:
    """
    Return a side, without its penalties if they say too little because of trials without a score.

    :param is_open: nobody says how large a penalty can be, so that one such trial is enough.
    """
    unscored = sum(facts.unscored for facts in arm.facts or ())
    trials = sum(map(len, arm.trials or ()))
    too_many = unscored > 1 and unscored > policy.max_unscored * trials
    if too_many or (unscored and is_open):
        return replace(arm, penalties=(None,) * len(arm.scores))
    return arm
