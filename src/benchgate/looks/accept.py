"""The gate as a function: for loops that look for something better, and decide at each step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchgate.aggregate import mean
from benchgate.errors import EvalError, counted, excerpt
from benchgate.gates.baseline import baseline_beside
from benchgate.gates.choice import BaselineChoice
from benchgate.gates.decide import decide
from benchgate.gates.facts import RunFacts, VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.judge import FinishedRun, judge
from benchgate.gates.policy import VECTOR_DEFAULTS, GatePolicy, make_policy
from benchgate.ids import run_id
from benchgate.looks.chain import at_file, looked_at
from benchgate.looks.ledger import LookLedger
from benchgate.looks.tally import LookDecision, Looked
from benchgate.models import BenchRunReport
from benchgate.wire.canonical import digest

if TYPE_CHECKING:
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.decide import Decided
    from benchgate.gates.decision import Blocker
    from benchgate.gates.judge import Counter
    from benchgate.gates.looks import RecordedLook


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBy:
    """
    By what a baseline is known whose looks a ledger counts.

    :param name: of it; ``None`` for a file.
    :param place: where its file is, by a path from the folder of the ledger.
    :param new_series: why a person begins a new series of looks at it.
    """

    name: str | None = None
    place: str = ""
    new_series: str | None = None

    @property
    def at(self) -> dict[str, Any]:
        """The fields of a look that say it."""
        found = at_file(self.place)
        if self.name is not None:
            found = {"at": digest(["name", self.name]), "by": "name"}
        return {**found, "new_series": self.new_series}


Samples = Mapping[str, float | Sequence[float]] | Sequence[float]
Side = Samples | BenchRunReport


def accept(
    baseline: Side,
    candidate: Side,
    *,
    policy: Mapping[str, Any] | None = None,
    ledger: LookLedger | None = None,
    incumbent: str | None = None,
    new_series: str | None = None,
) -> LookDecision:
    """
    Decide whether a candidate may replace the baseline, as ``benchgate proof`` and a run of a bench do.

    A side is what was measured on it: ``{case_id: score}`` with one score for each case, or one for each of its
    trials; a plain sequence of scores; or a report of :func:`benchgate.run_eval`. Both sides are samples, or both are
    reports.

    :param policy: thresholds by key; those left out have the defaults of vectors for samples, and those of a bench for
        reports.
    :param ledger: counts the looks. Required by ``looks = "spend"`` and ``"spend:K"``: without it nobody knows which
        look this is.
    :param incumbent: a name for the baseline, which a ledger needs: looks at it are counted together, however often it
        is measured, and on whatever cases. By its scores it would be at its first look for ever, if each step measures
        it anew.
    :param new_series: why the looks at this baseline are counted anew, which each decision of the series shows. Given
        again it continues that series.
    :raises EvalError: a side or a threshold cannot be used, or the ledger cannot be written.
    """
    if ledger is not None and not isinstance(ledger, LookLedger):
        raise EvalError(f"ledger is a {type(ledger).__name__}; expected a benchgate.LookLedger")
    before = _side_of(baseline, "baseline")
    after = _side_of(candidate, "candidate")
    if ledger is not None and incumbent is None:
        raise EvalError(
            "a ledger counts looks at a name: give incumbent=NAME, that of the baseline"
        )
    if new_series is not None:
        _check_reason(new_series, ledger)
    known = KnownBy(name=incumbent, new_series=new_series)
    if isinstance(before, Arm) and isinstance(after, Arm):
        thresholds = {**VECTOR_DEFAULTS}
        if policy is not None:
            thresholds.update(policy)
        decided = judge_samples((before, after), make_policy(thresholds), ledger, known)
        return LookDecision.of(decided, sum(map(len, after.rows)))
    if isinstance(before, Arm) or isinstance(after, Arm):
        raise EvalError("one side is a run and the other is samples; expected two of a kind")
    return _accept_run(before, after, make_policy(policy or {}), ledger, known)


def _side_of(side: Side, name: str) -> Arm | BenchRunReport:
    if isinstance(side, BenchRunReport):
        return side
    return samples_of(side, name)


def _check_reason(new_series: object, ledger: LookLedger | None) -> None:
    is_reason = isinstance(new_series, str) and new_series.strip()
    if ledger is None or not is_reason:
        raise EvalError("new_series: expected a text that says why, and a ledger to count in")


def judge_samples(
    sides: tuple[Arm, Arm],
    policy: GatePolicy,
    ledger: LookLedger | None,
    known: KnownBy | None = None,
    *,
    noted: tuple[Blocker, ...] = (),
) -> Decided:
    """
    Count a look at samples if there is a ledger, and judge them.

    :param known: by what the baseline is known, where there is one.
    :param noted: notes on the files that they were read from.
    :raises EvalError: looks are to be spent and nobody counts them; or differences beyond all numbers.
    """
    _check_counted(policy, ledger)
    looked = None
    look = None
    try:
        if ledger is not None and known is not None:
            looked = looked_at_arms(*sides, policy, known)
            look = ledger.add(looked).look
        decided = decide(VectorFacts(policy=policy, sides=sides, look=look, noted=noted))
    except ValueError as error:
        raise EvalError(str(error)) from error
    if ledger is not None and looked is not None:
        ledger.note(looked, decided.decision)
    return decided


def looked_at_arms(baseline: Arm, candidate: Arm, policy: GatePolicy, known: KnownBy) -> Looked:
    """Return what a comparison of samples looks at."""
    before = _digest_of(baseline)
    after = _digest_of(candidate)
    looked = Looked(**known.at, results=(before, after), looks=policy.looks)
    if known.name is not None:
        return looked
    # A file is known by its scores too: a candidate that becomes the baseline is found again by them.
    own = {"alike": digest(["scores", before]), "becomes": digest(["scores", after])}
    return looked.model_copy(update=own)


def _digest_of(arm: Arm) -> str:
    """Return the digest of a side; the order of scores without ids plays no part."""
    scores: Sequence[Any] = sorted(arm.scores)
    if arm.case_ids:
        scores = arm.scores
    return digest([arm.case_ids, arm.trials or scores])


def _accept_run(
    before: BenchRunReport,
    after: BenchRunReport,
    policy: GatePolicy,
    ledger: LookLedger | None,
    known: KnownBy,
) -> LookDecision:
    _check_counted(policy, ledger)
    # That of the baseline is checked as a problem of it.
    if run_id(after.task_class, after.per_case) != after.run_id:
        raise EvalError("candidate: its results do not have the run_id that it claims: edited")
    choice = BaselineChoice(path=None, binding=True, requested=True)
    baseline = baseline_beside(before)
    facts = RunFacts(policy=policy, report=after, baseline=baseline.facts)
    run = FinishedRun(facts=facts, choice=choice, baseline=baseline)
    count = None
    if ledger is not None:
        count = _counter(ledger, known, baseline, policy)
    decided = judge(run, count=count).decided
    if decided is None:
        raise EvalError("the candidate's run is of a part of the cases, which is not judged")
    return LookDecision.of(decided, len(after.per_case))


def _counter(ledger: LookLedger, known: KnownBy, baseline: Baseline, policy: GatePolicy) -> Counter:
    """Return what counts a look of a run at the name of its baseline."""

    def count(_: BenchRunReport, after: BenchRunReport) -> RecordedLook:
        looked = looked_at(baseline, after, policy, is_beside=False)
        by_name = {**known.at, "alike": None, "becomes": None}
        return ledger.add(looked.model_copy(update=by_name)).look

    return count


def _check_counted(policy: GatePolicy, ledger: LookLedger | None) -> None:
    if policy.looks != "count" and ledger is None:
        why = "needs a ledger: without one nobody counts the looks"
        raise EvalError(f"looks = {policy.looks!r} {why}")


def samples_of(side: Samples, name: str) -> Arm:
    """Return samples as a side of a comparison; ``name`` is what errors call it."""
    ids: tuple[str, ...] | None = None
    if isinstance(side, Mapping):
        for case in side:
            if not isinstance(case, str):
                raise EvalError(f"{name}: case id {excerpt(repr(case))} is no text")
        ids = tuple(sorted(side))
        rows = [_row(side[case], name, case) for case in ids]
    elif not isinstance(side, Sequence) or isinstance(side, (str, bytes, bytearray)):
        # A set loses equal scores, and a table the ids of its rows.
        what = "scores by case id, a list of scores, or a run's report"
        raise EvalError(f"{name} is a {type(side).__name__}; expected {what}")
    else:
        rows = [(_number(one, name, str(place)),) for place, one in enumerate(side)]
    if len(rows) < 2:
        raise EvalError(f"{name}: {counted(len(rows), 'case')}; at least 2 are needed")
    trials = None
    if any(len(row) > 1 for row in rows):
        trials = tuple(rows)
    return Arm(scores=tuple(mean(row) for row in rows), case_ids=ids, trials=trials)


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
