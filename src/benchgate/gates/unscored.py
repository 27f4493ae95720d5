"""Trials without a score that count as 0: an outage would speak against the candidate, or, as a baseline, for it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchgate.aggregate import INCOMPLETE, UNSCORED, is_capped
from benchgate.errors import counted, few, listed
from benchgate.wire.usage import usd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm
    from benchgate.models import BenchRunReport, TrialResult


def error_count(report: BenchRunReport) -> str | None:
    """Return how many trials ended in ``harness_error``, with the types of their errors; ``None`` if none did."""
    errors = _errors(report)
    if not errors:
        return None
    return f"{len(errors)} of {len(report.per_case)} ({_types(errors)})"


def too_many(side: Arm, limit: float, report: BenchRunReport | None) -> str | None:
    """
    Return that too many trials of one side ended in ``harness_error``, as a text; ``None`` if not.

    :param limit: the policy's ``max_unscored``, a share of all trials. One trial is always allowed.
    :param report: that of the side, which knows the types of the errors; a file of samples does not.
    """
    count = sum(len(facts.errors) for facts in side.facts or ())
    total = _trial_count(side)
    if not total or _is_allowed(count, total, limit):
        return None
    text = f"{count} of {total} trials ended in harness_error"
    if count == total:
        text = f"all {total} trials ended in harness_error"
    if report is not None:
        text += f" ({_types(_errors(report))})"
    return f"{text}; allowed is a share of {limit:g}, or one"


def _is_allowed(count: int, total: int, limit: float) -> bool:
    """Whether so many errors are no outage; that all trials of a run ended in one always is."""
    if count == total:
        return False
    return count <= 1 or count / total <= limit


def unscored_note(side: Arm, name: str) -> Iterator[Blocker]:
    """Yield the note for one side whose trials counted as 0 because of an error or the time limit."""
    facts = side.facts or ()
    late = sum(len(case.timeouts) for case in facts)
    count = late + sum(len(case.errors) for case in facts)
    if not count:
        return
    text = f"{count} of {_trial_count(side)} trials of the {name} have no score"
    if late:
        text += f", {late} for want of time,"
    text += " and count as 0"
    if name == "baseline":
        text += ", in the candidate's favour"
    yield f"unscored_{name}", text


def _trial_count(side: Arm) -> int:
    return sum(len(row) for row in side.trials or ())


def incompleteness(report: BenchRunReport) -> str:
    """Return which trials make a run incomplete, or that the session ended early, as a text."""
    if report.stopped:
        return _savings(report)
    parts = [*_capped(report), *_without_result(report), *_rerun(report)]
    if parts:
        return "; ".join(parts)
    if report.source is not None:
        return "its log says that it did not end"
    if not report.per_case:
        return "no trial of the candidate was selected"
    return "the session ended early"


def _capped(report: BenchRunReport) -> Iterator[str]:
    capped = [result for result in report.per_case if is_capped(result)]
    if capped:
        cap = capped[0].cap_usd or 0.0
        yield f"{len(capped)} of {len(report.per_case)} not run: the cap of ${cap:g}"


def _without_result(report: BenchRunReport) -> Iterator[str]:
    """Yield how many trials have each outcome that is no result of the system."""
    for outcome in sorted(INCOMPLETE):
        left = [r for r in report.per_case if r.outcome == outcome and not is_capped(r)]
        if not left:
            continue
        text = f"{len(left)} {outcome} ({few([result.case_id for result in left], 3)})"
        if outcome == "unavailable":
            text += _shared_detail(left)
        yield text


def _shared_detail(results: list[TrialResult]) -> str:
    """Return the detail that some results share, after a colon; nothing if they have several."""
    details = {result.detail for result in results if result.detail is not None}
    if len(details) != 1:
        return ""
    return f": {details.pop()}".rstrip(": ")


def _rerun(report: BenchRunReport) -> Iterator[str]:
    rerun = [result.case_id for result in report.per_case if result.reruns]
    if not rerun:
        return
    what = "run again"
    if report.source is not None:
        what = "with several results"
    yield f"{len(rerun)} {what} ({few(rerun, 3)})"


def _savings(report: BenchRunReport) -> str:
    """Return why a run stopped before its end, and what that saved."""
    ran = report.shown
    saved = sum(result.why == "stopped" for result in report.per_case)
    rest = counted(len(report.stopped) - ran.case_count, "case")
    trials = counted(len(report.per_case) - len(ran.per_case), "trial")
    text = f"no result of the remaining {rest} could have promoted it; saved: {saved} of their {trials}"
    if report.total_cost_usd:
        each = report.total_cost_usd / (len(report.per_case) - saved)
        text += f", about {usd(each * saved)}"
    return text


def _errors(report: BenchRunReport) -> list[TrialResult]:
    return [result for result in report.per_case if result.outcome == "harness_error"]


def _types(errors: list[TrialResult]) -> str:
    """Return the three most frequent types of errors with their counts."""
    counts = Counter(_type(result) for result in errors).most_common()
    counts.sort(key=lambda pair: (-pair[1], pair[0]))
    listed = [f"{name} {count}" for name, count in counts[:3]]
    if len(counts) > 3:
        listed.append("...")
    return ", ".join(listed)


def _type(result: TrialResult) -> str:
    """Return the type of the exception that ended a trial; its outcome if none did."""
    mode = next((m for m in result.failure_modes if m.code == "harness_error"), None)
    if mode is None or mode.error is None:
        return result.outcome
    if mode.error == UNSCORED:
        return "no score"
    return listed(mode.error)
