"""
Trials without a score at the values that speak most against the candidate.

An error of the baseline counts as score 0, in the candidate's favour; here it has the best score, and cost nothing.
Errors and timeouts leave no penalty behind: here those of the baseline did no harm, and those of the candidate the
largest that there is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.aggregate import mean
from benchgate.sentences.says import names, says

if TYPE_CHECKING:
    from benchgate.gates.figures import Arm, CaseFacts, Figures
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says


def unscored(figures: Figures, policy: GatePolicy) -> Says | None:
    """Return the trials that :func:`against_candidate` gives other values, by side; ``None`` if there are none."""
    is_measured = figures.safety.delta is not None
    is_scored = policy.baseline_errors == "both"
    before = _changed(figures.baseline, errors=is_measured or is_scored, timeouts=is_measured)
    after = _changed(figures.candidate, errors=is_measured, timeouts=is_measured)
    if before and after:
        return says("unscored_trials.both", before=names(before), after=names(after))
    if before:
        return says("unscored_trials.baseline", trials=names(before))
    if after:
        return says("unscored_trials.candidate", trials=names(after))
    return None


def _changed(arm: Arm, *, errors: bool, timeouts: bool) -> list[str]:
    """Return the ids of a side's trials that ended in one of these ways; of a case with one trial its own id."""
    case_ids = arm.case_ids or tuple(f"case {n}" for n in range(1, len(arm.scores) + 1))
    ids: list[str] = []
    for case_id, row, facts in zip(case_ids, arm.rows, arm.facts or (), strict=False):
        places: tuple[int, ...] = ()
        if errors:
            places += facts.errors
        if timeouts:
            places += facts.timeouts
        if places and len(row) == 1:
            ids.append(case_id)
        else:
            ids.extend(f"{case_id}-t{place}" for place in places)
    return ids


def against_candidate(figures: Figures, policy: GatePolicy) -> tuple[Arm, Arm] | None:
    """Return both sides with these values; ``None`` if there are errors, and no ``score_range`` says the best score."""
    before = figures.baseline
    if policy.baseline_errors == "both" and any(facts.errors for facts in before.facts or ()):
        if policy.score_range is None:
            return None
        before = _scored(before, policy.score_range[1])
    least, largest = policy.penalty_range or (0.0, 0.0)
    return _harmed(before, least), _harmed(figures.candidate, largest)


def _scored(arm: Arm, best: float) -> Arm:
    """Return the arm with the best score for its errors."""
    trials: list[tuple[float, ...]] = []
    for row, facts in zip(arm.rows, arm.facts or (), strict=True):
        scored = (best if n in facts.errors else score for n, score in enumerate(row))
        trials.append(tuple(scored))
    return replace(
        arm,
        scores=tuple(map(mean, trials)),
        trials=tuple(trials),
        facts=tuple(map(_free, arm.facts or ())),
    )


def _free(facts: CaseFacts) -> CaseFacts:
    """
    Return the facts of a case as if its errors had passed and cost nothing.

    Otherwise what they cost the baseline could make the candidate look cheap.
    """
    if not facts.errors:
        return facts
    known: dict[str, bool | float] = {}
    if facts.passed is None:
        known["passed"] = True
    if facts.cost_usd is not None:
        known["cost_usd"] = 0.0
    return facts.model_copy(update=known)


def _harmed(arm: Arm, harm: float) -> Arm:
    if arm.penalties is None or arm.facts is None:
        return arm
    rows = zip(arm.penalties, arm.rows, arm.facts, strict=True)
    return replace(
        arm, penalties=tuple(_mean_harm(p, len(row), f.unscored, harm) for p, row, f in rows)
    )


def _mean_harm(penalty: float | None, trials: int, unscored: int, harm: float) -> float | None:
    if penalty is None and unscored < trials:
        return None
    return ((penalty or 0.0) * (trials - unscored) + harm * unscored) / trials
