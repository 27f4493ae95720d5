"""Trials without a score that count as 0: an outage would speak against the candidate, or, as a baseline, for it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchgate.aggregate import INCOMPLETE, UNSCORED, is_capped
from benchgate.errors import listed
from benchgate.sentences.says import Listing, clauses, names, says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm
    from benchgate.models import BenchRunReport, TrialResult
    from benchgate.sentences.says import Says


def error_count(report: BenchRunReport) -> Says | None:
    """Return how many trials ended in ``harness_error``, with the types of their errors; ``None`` if none did."""
    errors = _errors(report)
    if not errors:
        return None
    return says("errors.count", count=len(errors), total=len(report.per_case), kinds=_types(errors))


def too_many(side: Arm, limit: float, report: BenchRunReport | None) -> Says | None:
    """
    Return that too many trials of one side ended in ``harness_error``; ``None`` if not.

    :param limit: the policy's ``max_unscored``, a share of all trials. One trial is always allowed.
    :param report: that of the side, which knows the types of the errors; a file of samples does not.
    """
    count = _erred(side)
    total = _trial_count(side)
    if not total or _is_allowed(count, total, limit):
        return None
    if report is None:
        if count == total:
            return says("errors.all", total=total, limit=limit)
        return says("errors.some", count=count, total=total, limit=limit)
    kinds = _types(_errors(report))
    if count == total:
        return says("errors.all_of_kinds", total=total, kinds=kinds, limit=limit)
    return says("errors.some_of_kinds", count=count, total=total, kinds=kinds, limit=limit)


def _is_allowed(count: int, total: int, limit: float) -> bool:
    """Whether so many errors are no outage; that all trials of a run ended in one always is."""
    if count == total:
        return False
    return count <= 1 or count / total <= limit


def unscored_baseline(side: Arm) -> Iterator[Blocker]:
    """Yield that trials of the baseline counted as 0 because of an error or the time limit."""
    late = _late(side)
    count = late + _erred(side)
    total = _trial_count(side)
    if late:
        said = says("unscored_baseline.late", count=count, total=total, late=late)
        yield "unscored_baseline", said
    elif count:
        yield "unscored_baseline", says("unscored_baseline", count=count, total=total)


def unscored_candidate(side: Arm) -> Iterator[Blocker]:
    """Yield the same of the candidate."""
    late = _late(side)
    count = late + _erred(side)
    total = _trial_count(side)
    if late:
        said = says("unscored_candidate.late", count=count, total=total, late=late)
        yield "unscored_candidate", said
    elif count:
        yield "unscored_candidate", says("unscored_candidate", count=count, total=total)


def _late(side: Arm) -> int:
    return sum(len(case.timeouts) for case in side.facts or ())


def _erred(side: Arm) -> int:
    return sum(len(case.errors) for case in side.facts or ())


def _trial_count(side: Arm) -> int:
    return sum(len(row) for row in side.trials or ())


def incompleteness(report: BenchRunReport) -> Listing:
    """Return which trials make a run incomplete, or that the session ended early."""
    if report.stopped:
        return clauses([savings(report)])
    parts = [*_capped(report), *_without_result(report), *_rerun(report)]
    if parts:
        return clauses(parts)
    if report.source is not None:
        return clauses([says("incomplete.log")])
    if not report.per_case:
        return clauses([says("incomplete.no_trial")])
    return clauses([says("incomplete.ended_early")])


def _capped(report: BenchRunReport) -> Iterator[Says]:
    capped = [result for result in report.per_case if is_capped(result)]
    if capped:
        yield says(
            "incomplete.capped",
            count=len(capped),
            total=len(report.per_case),
            cap=capped[0].cap_usd or 0.0,
        )


def _without_result(report: BenchRunReport) -> Iterator[Says]:
    """Yield how many trials have each outcome that is no result of the system."""
    for outcome in sorted(INCOMPLETE):
        left = [r for r in report.per_case if r.outcome == outcome and not is_capped(r)]
        if not left:
            continue
        cases = names([result.case_id for result in left], 3)
        detail = _shared_detail(left)
        if outcome == "unavailable" and detail:
            yield says(
                "incomplete.outcome_because",
                count=len(left),
                outcome=outcome,
                cases=cases,
                detail=detail,
            )
        else:
            yield says("incomplete.outcome", count=len(left), outcome=outcome, cases=cases)


def _shared_detail(results: list[TrialResult]) -> str:
    """Return the detail that some results share; empty if they have several."""
    details = {result.detail for result in results if result.detail is not None}
    if len(details) != 1:
        return ""
    return details.pop().rstrip(": ")


def _rerun(report: BenchRunReport) -> Iterator[Says]:
    rerun = [result.case_id for result in report.per_case if result.reruns]
    if not rerun:
        return
    if report.source is not None:
        yield says("incomplete.several_results", count=len(rerun), cases=names(rerun, 3))
    else:
        yield says("incomplete.run_again", count=len(rerun), cases=names(rerun, 3))


def savings(report: BenchRunReport) -> Says:
    """Return why a run stopped before its end, and what that saved."""
    ran = report.shown
    saved = sum(result.why == "stopped" for result in report.per_case)
    cases = len(report.stopped) - ran.case_count
    trials = len(report.per_case) - len(ran.per_case)
    if not report.total_cost_usd:
        return says("stopped", cases=cases, saved=saved, trials=trials)
    each = report.total_cost_usd / (len(report.per_case) - saved)
    return says("stopped.paid", cases=cases, saved=saved, trials=trials, cost=each * saved)


def _errors(report: BenchRunReport) -> list[TrialResult]:
    return [result for result in report.per_case if result.outcome == "harness_error"]


def _types(errors: list[TrialResult]) -> Listing:
    """Return the three most frequent types of errors with their counts."""
    counted = [
        (count, says("errors.kind", kind=_named(kind), count=count))
        for kind, count in Counter(map(_type, errors)).items()
    ]
    counted.sort(key=lambda pair: (-pair[0], pair[1].text))
    kinds = tuple(said for _, said in counted)
    return Listing(first=kinds[:3], more=len(kinds[3:]))


def _named(kind: str) -> str | Says:
    if kind == UNSCORED:
        return says("errors.no_score")
    return listed(kind)


def _type(result: TrialResult) -> str:
    """Return the type of the exception that ended a trial; its outcome if none did."""
    mode = next((m for m in result.failure_modes if m.code == "harness_error"), None)
    if mode is None or mode.error is None:
        return result.outcome
    return mode.error
