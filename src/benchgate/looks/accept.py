"""The gate as a function: for loops that look for something better, and decide at each step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchgate.aggregate import mean
from benchgate.errors import EvalError, counted, excerpt
from benchgate.gates.baseline import BaselineChoice, baseline_beside
from benchgate.gates.certificate import Partial, certificate, obstacle
from benchgate.gates.figures import Arm
from benchgate.gates.judge import RunFacts, judge
from benchgate.gates.looks import declared_looks, judged_at
from benchgate.gates.policy import VECTOR_DEFAULTS, GatePolicy, make_policy
from benchgate.gates.vectors import compare_vectors
from benchgate.ids import run_id
from benchgate.looks.chain import looked_at
from benchgate.looks.ledger import LookLedger
from benchgate.looks.tally import Looked, digest_of_look
from benchgate.models import BenchRunReport
from benchgate.wire.canonical import digest

if TYPE_CHECKING:
    from benchgate.gates.decision import Certificate, CheckpointPromotionDecision
    from benchgate.gates.judge import Counter
    from benchgate.gates.looks import LookNumber


Samples = Mapping[str, float | Sequence[float]] | Sequence[float]
Side = Samples | BenchRunReport


def accept(
    baseline: Side,
    candidate: Side,
    *,
    policy: Mapping[str, Any] | None = None,
    ledger: LookLedger | None = None,
    incumbent: str | None = None,
) -> CheckpointPromotionDecision:
    """
    Decide whether a candidate may replace the baseline, as ``benchgate proof`` and a run of a bench do.

    A side is what was measured on it: ``{case_id: score}`` with one score for each case, or one for each of its
    trials; a plain sequence of scores; or a report of :func:`benchgate.run_eval`. Both sides are samples, or both are
    reports.

    :param policy: thresholds by key; those left out have the defaults of vectors for samples, and those of a bench for
        reports.
    :param ledger: counts the looks. Required by ``looks = "spend"`` and ``"spend:K"``: without it nobody knows which
        look this is.
    :param incumbent: a name of what the baseline is: looks at it are counted together, however often it is measured.
        By default those at the same scores are. Required by both: measured anew at each step, the same
        incumbent would be at its first look for ever.
    :raises EvalError: a side or a threshold cannot be used, or the ledger cannot be written.
    """
    if ledger is not None and not isinstance(ledger, LookLedger):
        raise EvalError(f"ledger is a {type(ledger).__name__}; expected a benchgate.LookLedger")
    before, after = _side(baseline, "baseline"), _side(candidate, "candidate")
    looks = (policy or {}).get("looks", "count")
    if ledger is not None and incumbent is None and looks != "count":
        why = "needs incumbent=NAME: looks at that name are counted together"
        raise EvalError(f"looks = {looks!r} {why}")
    if isinstance(before, Arm) and isinstance(after, Arm):
        thresholds = make_policy({**VECTOR_DEFAULTS, **(policy or {})})
        try:
            look = number_of_arms(before, after, thresholds, ledger, incumbent)
            return compare_vectors(before, after, thresholds, look=look).decision
        except ValueError as error:  # differences beyond all numbers, ids that are no Unicode
            raise EvalError(str(error)) from error
    if isinstance(before, Arm) or isinstance(after, Arm):
        raise EvalError("one side is a run and the other is samples; expected two of a kind")
    thresholds = make_policy(policy or {})
    return _accept_run(before, after, thresholds, _counter(thresholds, ledger, incumbent))


def decided(
    baseline: Samples, partial: Samples, policy: Mapping[str, Any] | None = None, *, look: int = 1
) -> Certificate | None:
    """
    Return why no score of the cases that ``partial`` lacks can lead :func:`accept` to promote; ``None`` if one may.

    Give :func:`accept` the part with the worst score for the rest: it is a look all the same.

    :param baseline: scores by case id, as ``partial``.
    :param look: number of the look that this is going to be, for ``looks = "spend"``.
    :raises EvalError: a side or a threshold cannot be used, or nobody could know.
    """
    rules = judged_at(make_policy({**VECTOR_DEFAULTS, **(policy or {})}), look)
    before, why = samples_of(baseline, "baseline"), obstacle(rules)
    if rules.claim == "no_regression" or not isinstance(partial, Mapping):
        why = "the scores of cases do not say which passed, or have no ids"
    if why is not None or not isinstance(partial, Mapping):
        raise EvalError(f"decided: {why}")
    best = rules.score_range[1] if rules.score_range else 0.0
    rows = dict(zip(before.case_ids or (), before.rows, strict=False))
    left = {case_id: [best] * len(row) for case_id, row in rows.items() if case_id not in partial}
    filled = samples_of({**left, **partial}, "partial")
    if before.case_ids != filled.case_ids:
        raise EvalError("decided: the baseline has not all of the cases")
    return certificate(before, Partial(filled, dict.fromkeys(left, ())), rules)


def number_of_arms(
    baseline: Arm,
    candidate: Arm,
    policy: GatePolicy,
    ledger: LookLedger | None,
    incumbent: str | None = None,
) -> LookNumber | None:
    """
    Count a look at samples, and return its number; ``None`` if there is no ledger.

    :raises EvalError: looks are to be spent, and nobody counts them.
    """
    _check_counted(policy, ledger)
    if ledger is None:
        return None
    before, after = (
        digest([arm.case_ids, arm.trials or (arm.scores if arm.case_ids else sorted(arm.scores))])
        for arm in (baseline, candidate)
    )
    ids = sorted(baseline.case_ids) if baseline.case_ids else len(baseline.scores)
    at = digest_of_look(ids, None, before if incumbent is None else incumbent)
    declared = policy.looks if declared_looks(policy) else None
    return ledger.add(Looked(at=at, results=(before, after), looks=declared))


def _counter(
    policy: GatePolicy, ledger: LookLedger | None, incumbent: str | None
) -> Counter | None:
    _check_counted(policy, ledger)
    if ledger is None:
        return None

    def count(before: BenchRunReport, after: BenchRunReport) -> LookNumber:
        looked = looked_at(before, after, policy, is_beside=False)
        if incumbent is not None:
            cases, scorer = dict(after.digests.cases), after.digests.scorer
            at = digest_of_look(cases, scorer, incumbent)
            looked = looked.model_copy(update={"at": at})
        return ledger.add(looked)

    return count


def _accept_run(
    before: BenchRunReport, after: BenchRunReport, policy: GatePolicy, count: Counter | None
) -> CheckpointPromotionDecision:
    if run_id(after.task_class, after.per_case) != after.run_id:
        raise EvalError("candidate: its results do not have the run_id that it claims: edited")
    choice = BaselineChoice(path=None, binding=True, requested=True)
    facts = RunFacts(report=after, policy=policy, choice=choice, baseline=baseline_beside(before))
    decision = judge(facts, count=count).decision
    if decision is None:
        raise EvalError("the candidate's run is of a part of the cases, which is not judged")
    return decision


def _check_counted(policy: GatePolicy, ledger: LookLedger | None) -> None:
    if policy.looks != "count" and ledger is None:
        why = "needs a ledger: without one nobody counts the looks"
        raise EvalError(f"looks = {policy.looks!r} {why}")


def _side(side: Side, name: str) -> Arm | BenchRunReport:
    return side if isinstance(side, BenchRunReport) else samples_of(side, name)


def samples_of(side: Samples, name: str) -> Arm:
    """Return samples as a side of a comparison; ``name`` is what errors call it."""
    if isinstance(side, Mapping):
        if (other := next((case for case in side if not isinstance(case, str)), None)) is not None:
            raise EvalError(f"{name}: case id {excerpt(repr(other))} is no text")
        rows = {case: _row(side[case], name, case) for case in sorted(side)}
        return _arm(name, tuple(rows), list(rows.values()))
    if not isinstance(side, Sequence) or isinstance(side, (str, bytes, bytearray)):
        # A set loses equal scores, and a table the ids of its rows.
        what = "scores by case id, a list of scores, or a run's report"
        raise EvalError(f"{name} is a {type(side).__name__}; expected {what}")
    return _arm(
        name, None, [(_number(value, name, str(place)),) for place, value in enumerate(side)]
    )


def _arm(name: str, ids: tuple[str, ...] | None, rows: list[tuple[float, ...]]) -> Arm:
    if len(rows) < 2:
        raise EvalError(f"{name}: {counted(len(rows), 'case')}; at least 2 are needed")
    has_trials = any(len(row) > 1 for row in rows)
    return Arm(
        scores=tuple(mean(row) for row in rows),
        case_ids=ids,
        trials=tuple(rows) if has_trials else None,
    )


def _row(value: Any, name: str, case: str) -> tuple[float, ...]:
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and len(value):
        return tuple(_number(one, name, case) for one in value)
    return (_number(value, name, case),)


def _number(value: Any, name: str, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, (bool, str)) or not math.isfinite(number):
        raise EvalError(f"{name}: [{where}] is {excerpt(repr(value))}; expected a finite number")
    return number
