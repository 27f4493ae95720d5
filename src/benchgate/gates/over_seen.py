"""
The facts over the cases of all looks of a series, where some are gone now, or are no longer what they were.

Who has seen how a candidate does on each case can choose which ones to drop. New cases cannot be chosen so: nobody has
seen how it does on them, and if somebody has, that was a look, which is counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.aggregate import mean
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm, CaseFacts
from benchgate.gates.looks import Look, SeenCase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.gates.facts import RunFacts

    Cases = dict[str, Arm]


def over_seen(facts: RunFacts, baseline: Arm, candidate: Arm) -> VectorFacts | None:
    """
    Return the facts over the cases of all looks; ``None`` if all of these are as they were.

    A case that is gone, or that has another label or another score of the baseline, is as it was at the look that had
    it first. The candidate has the last results of its system there; without any it failed the case, and did as much
    harm and cost as much as the baseline.

    :param baseline: with the cases that are compared now.
    :param candidate: all cases of the run.
    """
    look = facts.look
    if look is None or not look.seen:
        return None
    now = cases_of(baseline)
    seen = _as_seen(look.seen)
    if facts.beside is not None:
        # It has other scores each time that it runs, so of these cases the labels alone are as they were.
        seen = {
            case_id: _labelled(now[case_id], case) if case_id in now else case
            for case_id, case in seen.items()
        }
    before = now | seen
    results = _as_seen(look.known) | cases_of(candidate)
    worst = 0.0
    if facts.policy.score_range is not None:
        worst = facts.policy.score_range[0]
    judged = {
        case_id: _judged(results.get(case_id), case, worst, facts.report.trial_count)
        for case_id, case in before.items()
    }
    return VectorFacts(
        policy=facts.policy,
        sides=(_joined(before), _joined(judged)),
        look=Look(number=look.number, declared=facts.policy.looks),
    )


def cases_of(side: Arm) -> Cases:
    """Return each case of a side as a side of its own."""
    return {case_id: side.at([place]) for place, case_id in enumerate(side.case_ids or ())}


def is_critical(case: Arm) -> bool:
    """Whether a case may not newly fail."""
    return any(facts.critical for facts in case.facts or ())


def seen_case(case_id: str, case: Arm) -> SeenCase:
    """Return a case of a run as a record keeps it."""
    assert case.facts is not None  # noqa: S101 - a run knows them
    (facts,) = case.facts
    return SeenCase(
        case_id=case_id,
        scores=case.rows[0],
        penalty=_penalty(case),
        cluster=case.labels[0],
        **dict(facts),
    )


def _penalty(case: Arm) -> float | None:
    if case.penalties is None:
        return None
    return case.penalties[0]


def _as_seen(cases: Iterable[SeenCase]) -> Cases:
    """Return cases that a record keeps as sides of their own."""
    return {case.case_id: _side_of(case) for case in cases}


def _side_of(case: SeenCase) -> Arm:
    facts = CaseFacts(
        passed=case.passed,
        critical=case.critical,
        cost_usd=case.cost_usd,
        duration_seconds=case.duration_seconds,
        errors=case.errors,
        timeouts=case.timeouts,
        failed=case.failed,
    )
    return Arm(
        case_ids=(case.case_id,),
        scores=(mean(case.scores),),
        penalties=(case.penalty,),
        trials=(case.scores,),
        facts=(facts,),
        clusters=(case.cluster,),
    )


def _labelled(case: Arm, then: Arm) -> Arm:
    """Return a case with the labels that it had."""
    facts = tuple(
        one.model_copy(update={"critical": is_critical(then)}) for one in case.facts or ()
    )
    return replace(case, clusters=then.labels, facts=facts or None)


def _judged(result: Arm | None, case: Arm, worst: float, trials: int) -> Arm:
    """Return the candidate on a case of the baseline; without a result it failed."""
    if result is None:
        result = _failed(case, worst, trials)
    return replace(result, clusters=case.labels)


def _failed(case: Arm, worst: float, trials: int) -> Arm:
    """Return a case of the baseline as one that the candidate failed."""
    failed = {"passed": False, "errors": (), "timeouts": (), "failed": tuple(range(trials))}
    facts = tuple(one.model_copy(update=failed) for one in case.facts or ())
    return replace(case, scores=(worst,), trials=((worst,) * trials,), facts=facts or None)


def _joined(cases: Mapping[str, Arm]) -> Arm:
    """Return a side of some cases."""
    sides = [cases[case_id] for case_id in sorted(cases)]
    penalties: tuple[float | None, ...] | None = tuple(map(_penalty, sides))
    if all(penalty is None for penalty in penalties or ()):
        penalties = None
    # Trials and facts are known of all cases of a side, or of none.
    trials: tuple[tuple[float, ...], ...] | None = None
    if all(side.trials for side in sides):
        trials = tuple(row for side in sides for row in side.trials or ())
    facts: tuple[CaseFacts, ...] | None = None
    if all(side.facts for side in sides):
        facts = tuple(one for side in sides for one in side.facts or ())
    return Arm(
        case_ids=tuple(sorted(cases)),
        scores=tuple(side.scores[0] for side in sides),
        penalties=penalties,
        trials=trials,
        facts=facts,
        clusters=tuple(side.labels[0] for side in sides),
    )
