"""Cases that only one side of a comparison has: leaving them out would let a candidate choose its own cases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.gates.figures import CaseFacts
from benchgate.sentences.says import names, says

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says


def mismatch(baseline: Arm, candidate: Arm) -> Says | None:
    """Return which cases only one side has; ``None`` if they are the same, or neither side has ids."""
    if baseline.case_ids is None and candidate.case_ids is None:
        return None
    if baseline.case_ids is None:
        return says("cases_differ.ids", side="candidate")
    if candidate.case_ids is None:
        return says("cases_differ.ids", side="baseline")
    before = _clusters(baseline)
    after = _clusters(candidate)
    if before.keys() != after.keys():
        return _of_one_side(before.keys() - after.keys(), after.keys() - before.keys())
    differ = {case_id for case_id in before if before[case_id] != after[case_id]}
    if differ:
        return says("cases_differ.clusters", cases=names(differ))
    return None


def _of_one_side(gone: AbstractSet[str], new: AbstractSet[str]) -> Says:
    if gone and new:
        return says(
            "cases_differ.both", gone=len(gone), old=names(gone), new=len(new), added=names(new)
        )
    if gone:
        return says("cases_differ.one", count=len(gone), side="baseline", cases=names(gone))
    return says("cases_differ.one", count=len(new), side="candidate", cases=names(new))


def _clusters(arm: Arm) -> dict[str, str | None]:
    return dict(zip(arm.case_ids or (), arm.labels, strict=True))


def counted_as_worst(
    baseline: Arm, candidate: Arm, score_range: tuple[float, float]
) -> tuple[Arm, Arm]:
    """
    Give both sides the same cases, sorted by id.

    A case that the candidate lacks gets the lowest score there, one that the baseline lacks the highest. Their safety
    penalties stay unknown.
    """
    lowest, highest = score_range
    before = _clusters(baseline)
    after = _clusters(candidate)
    return (
        _completed(baseline, {**after, **before}, highest, None, passed=True),
        _completed(candidate, {**before, **after}, lowest, None, passed=False),
    )


def without_new(baseline: Arm, candidate: Arm) -> Arm:
    """Return the candidate with the cases that the baseline has too."""
    known = {*(baseline.case_ids or ())}
    ids = candidate.case_ids or ()
    places = [place for place, case_id in enumerate(ids) if case_id in known]
    if len(places) == len(ids):
        return candidate
    return candidate.at(places)


def counted_as_best(baseline: Arm, candidate: Arm, policy: GatePolicy) -> Arm:
    """Return a candidate that passes the cases that it lacks, with the highest score and no harm."""
    harm = None
    if baseline.penalties:
        harm = 0.0
        if policy.safety_confidence and policy.penalty_range:
            # A penalty below the range would leave its rise without a bound.
            harm = max(0.0, policy.penalty_range[0])
    highest = 1.0
    if policy.score_range:
        highest = policy.score_range[1]
    return _completed(candidate, _clusters(baseline), highest, harm, passed=True)


def _completed(
    arm: Arm, clusters: Mapping[str, str | None], score: float, penalty: float | None, passed: bool
) -> Arm:
    """Return an arm with all of the cases, sorted by id; ``clusters`` has the cluster of each."""
    lacked = CaseFacts(passed=passed, critical=False, cost_usd=None, duration_seconds=None)
    measured = arm.case_ids or ()
    lacking = tuple(sorted(clusters.keys() - set(measured)))
    count = len(lacking)
    everything = measured + lacking
    order = sorted(range(len(everything)), key=everything.__getitem__)
    scores = arm.scores + (score,) * count
    penalties = (arm.penalties or (None,) * len(measured)) + (penalty,) * count
    facts = arm.facts
    if facts:
        facts += (lacked,) * count
    trials = arm.trials
    if trials:
        # As many trials as the others have, so that the trials can still be compared with each other.
        trials += ((score,) * len(trials[0]),) * count
    return replace(
        arm,
        case_ids=everything,
        scores=scores,
        penalties=penalties,
        trials=trials,
        facts=facts,
        imputed=(*arm.imputed, *lacking),
        clusters=tuple(clusters[case_id] for case_id in everything),
    ).at(order)
