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
from benchgate.errors import few

if TYPE_CHECKING:
    from benchgate.gates.figures import Arm, CaseFacts, Figures
    from benchgate.gates.policy import GatePolicy


def unscored(figures: Figures, policy: GatePolicy) -> str:
    """Return the trials that :func:`against_candidate` gives other values, by side; empty if there are none."""
    is_measured = figures.safety.delta is not None
    texts = []
    for name, arm in (("baseline", figures.baseline), ("candidate", figures.candidate)):
        is_filled = name == "baseline" and policy.baseline_errors == "both"
        names = arm.case_ids or tuple(f"case {n}" for n in range(1, len(arm.scores) + 1))
        ids: list[str] = []
        for case_id, row, facts in zip(names, arm.rows, arm.facts or (), strict=False):
            places: tuple[int, ...] = ()
            if is_measured:
                places = facts.errors + facts.timeouts
            elif is_filled:
                places = facts.errors
            if places and len(row) == 1:
                ids.append(case_id)
            else:
                ids.extend(f"{case_id}-t{place}" for place in places)
        if ids:
            texts.append(f"{name}: {few(ids)}")
    return "; ".join(texts)


def against_candidate(figures: Figures, policy: GatePolicy) -> tuple[Arm, Arm] | None:
    """Return both sides with these values; ``None`` if there are errors, and no ``score_range`` says the best score."""
    before, after = figures.baseline, figures.candidate
    if policy.baseline_errors == "both" and any(facts.errors for facts in before.facts or ()):
        if policy.score_range is None:
            return None
        before = _scored(before, policy.score_range[1])
    least, largest = policy.penalty_range or (0.0, 0.0)
    return _harmed(before, least), _harmed(after, largest)


def _scored(arm: Arm, best: float) -> Arm:
    rows = [
        (tuple(best if n in facts.errors else score for n, score in enumerate(row)), facts)
        for row, facts in zip(arm.rows, arm.facts or (), strict=True)
    ]
    return replace(
        arm,
        scores=tuple(mean(row) for row, _ in rows),
        trials=tuple(row for row, _ in rows),
        facts=tuple(_free(facts) if facts.errors else facts for _, facts in rows),
    )


def _free(facts: CaseFacts) -> CaseFacts:
    """Return the facts of a case whose errors passed and cost nothing: a provider that hangs makes none look cheap."""
    passed = True if facts.passed is None else facts.passed
    cost = None if facts.cost_usd is None else 0.0
    return facts.model_copy(update={"passed": passed, "cost_usd": cost})


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
