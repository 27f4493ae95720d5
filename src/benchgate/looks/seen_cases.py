"""
The decision over the cases of all looks of a series, where some are gone now, or are no longer what they were.

Who has seen how a candidate does on each case can choose which ones to drop. New cases cannot be chosen so: nobody has
seen how it does on them, and if somebody has, that was a look, which is counted.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from benchgate.artifacts.evidence_kinds import ArmReport
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.audit.chain import RECORD_FILE
from benchgate.gates.baseline import arm
from benchgate.gates.decide import decide
from benchgate.gates.decision import GateInput
from benchgate.gates.figures import Arm
from benchgate.gates.looks import judged_at
from benchgate.gates.vectors import weigh_arms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchgate.gates.looks import LookNumber
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport, TrialResult

    Cases = dict[str, Arm]


def over_seen(
    number: LookNumber,
    before: Arm,
    report: BenchRunReport,
    policy: GatePolicy,
    *,
    is_beside: bool,
) -> LookNumber:
    """
    Add to the number of a look the outcome over the cases of all looks; nothing if all of these are as they were.

    A case that is gone, or that has another label or another score of the baseline, is as it was at the look that had
    it first. The candidate has the last results of its system there; without any it failed the case, and did as much
    harm and cost as much as the baseline.

    :param before: the baseline, with the cases that are compared now.
    :param is_beside: the baseline ran too, so that its scores are other ones each time.
    """
    now = _cases(before)
    as_first = _first_seen(number.unlike)
    changed = {
        case_id: case
        for case_id, case in as_first.items()
        if not _is_same(case, now.get(case_id), is_beside=is_beside)
    }
    if not changed:
        return number
    if is_beside:
        changed = {
            case_id: _labelled(now[case_id], case) if case_id in now else case
            for case_id, case in changed.items()
        }
    baseline = now | changed
    candidate = _candidate(baseline, report, number.earlier, policy)
    look = int(number)  # of this number nothing more is known
    level = judged_at(policy, look)
    figures, blockers = weigh_arms(_joined(baseline), _joined(candidate), level)
    inputs = GateInput(policy=policy, figures=figures, look=look, blockers=blockers)
    number.over_seen = decide(inputs).outcome
    return number


def _first_seen(folders: Iterable[Path]) -> Cases:
    """Return each case of some looks as the baseline had it at the first of them, as far as they can be read."""
    seen: Cases = {}
    for folder in folders:
        evidence = ArmReport.read_or_none(folder / "evidence" / "baseline.json")
        if evidence is not None:
            seen = _cases(evidence.arm) | seen
    return seen


def _cases(side: Arm) -> Cases:
    """Return each case of a side as a side of its own."""
    return {case_id: side.at([place]) for place, case_id in enumerate(side.case_ids or ())}


def _is_same(then: Arm, now: Arm | None, *, is_beside: bool) -> bool:
    """Return whether a case is still compared, with the same labels and the same score of the baseline."""
    if now is None or then.labels != now.labels or _is_critical(then) != _is_critical(now):
        return False
    return is_beside or then.scores == now.scores


def _is_critical(case: Arm) -> bool:
    return any(facts.critical for facts in case.facts or ())


def _labelled(case: Arm, then: Arm) -> Arm:
    """Return a case with the labels that it had."""
    facts = tuple(
        one.model_copy(update={"critical": _is_critical(then)}) for one in case.facts or ()
    )
    return replace(case, clusters=then.labels, facts=facts or None)


def _candidate(
    baseline: Mapping[str, Arm],
    report: BenchRunReport,
    earlier: Iterable[Path],
    policy: GatePolicy,
) -> Cases:
    """Return the candidate on the cases of a baseline."""
    results = _results(report)
    if baseline.keys() - results.keys():
        records = [RunRecord.read_or_none(folder / RECORD_FILE) for folder in earlier]
        for record in reversed(records):
            if record is not None and record.report.system == report.system:
                results = _results(record.report) | results
    known = baseline.keys() & results.keys()
    rows = tuple(row for case_id in sorted(known) for row in results[case_id])
    cases = _cases(arm(report.model_copy(update={"per_case": rows})))
    worst = policy.score_range[0] if policy.score_range else 0.0
    return {
        case_id: replace(
            cases.get(case_id) or _failed(case, worst, report.trial_count), clusters=case.labels
        )
        for case_id, case in baseline.items()
    }


def _results(report: BenchRunReport) -> dict[str, tuple[TrialResult, ...]]:
    rows = groupby(report.per_case, key=attrgetter("case_id"))
    return {case_id: tuple(results) for case_id, results in rows}


def _failed(case: Arm, worst: float, trials: int) -> Arm:
    """Return a case of the baseline as one that the candidate failed."""
    failed = {"passed": False, "errors": (), "timeouts": (), "failed": tuple(range(trials))}
    facts = tuple(one.model_copy(update=failed) for one in case.facts or ())
    return replace(case, scores=(worst,), trials=((worst,) * trials,), facts=facts or None)


def _joined(cases: Mapping[str, Arm]) -> Arm:
    """Return a side of some cases."""
    sides = [cases[case_id] for case_id in sorted(cases)]
    penalties = tuple(side.penalties[0] if side.penalties else None for side in sides)
    trials = tuple(side.trials[0] for side in sides if side.trials)
    facts = tuple(side.facts[0] for side in sides if side.facts)
    return Arm(
        case_ids=tuple(sorted(cases)),
        scores=tuple(side.scores[0] for side in sides),
        penalties=penalties if any(penalty is not None for penalty in penalties) else None,
        trials=trials if len(trials) == len(sides) else None,
        facts=facts if len(facts) == len(sides) else None,
        clusters=tuple(side.labels[0] for side in sides),
    )
