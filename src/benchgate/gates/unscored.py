"""Trials without a score that count as 0: an outage would speak against the candidate, or, as a baseline, for it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import CAP, INCOMPLETE, STOP, is_capped
from benchgate.errors import counted, few
from benchgate.wire.usage import usd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm
    from benchgate.models import BenchRunReport, TrialResult


_TYPE: Final = re.compile(r"(\w[\w.]*)(?=:|$)")


def error_count(report: BenchRunReport) -> str | None:
    """Return how many trials ended in ``harness_error``, with the types of their errors; ``None`` if none did."""
    errors = _errors(report)
    return f"{len(errors)} of {len(report.per_case)} ({_types(errors)})" if errors else None


def too_many(side: Arm, limit: float, report: BenchRunReport | None) -> str | None:
    """
    Return that too many trials of one side ended in ``harness_error``, as a text; ``None`` if not.

    :param limit: the policy's ``max_unscored``, a share of all trials. One trial is always allowed.
    :param report: that of the side, which knows the types of the errors; a file of samples does not.
    """
    count, total = sum(len(facts.errors) for facts in side.facts or ()), _trial_count(side)
    if not total or (count < total and (count <= 1 or count / total <= limit)):
        return None
    share = "all" if count == total else f"{count} of"
    types = f" ({_types(_errors(report))})" if report else ""
    allowed = f"allowed is a share of {limit:g}, or one"
    return f"{share} {total} trials ended in harness_error{types}; {allowed}"


def unscored_note(side: Arm, name: str) -> Iterator[Blocker]:
    """Yield the note for one side whose trials counted as 0 because of an error or the time limit."""
    facts = side.facts or ()
    counts = {
        "harness_error": sum(len(case.errors) for case in facts),
        "timeout": sum(len(case.timeouts) for case in facts),
    }
    if any(counts.values()):
        text = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
        favour = ", in the candidate's favour" if name == "baseline" else ""
        yield f"unscored_{name}", f"{text} of {_trial_count(side)} trials count as score 0{favour}"


def _trial_count(side: Arm) -> int:
    return sum(len(row) for row in side.trials or ())


def incompleteness(report: BenchRunReport) -> str:
    """Return which trials make a run incomplete, or that the session ended early, as a text."""
    if report.stopped:
        return _savings(report)
    parts = []
    if by_cap := [str(r.detail) for r in report.per_case if is_capped(r)]:
        cap = re.split("[:,]", by_cap[0].removeprefix(CAP))[0]
        parts.append(f"{len(by_cap)} of {len(report.per_case)} not run: the cap of {cap} USD")
    for outcome in sorted(INCOMPLETE):
        if left := [r for r in report.per_case if r.outcome == outcome and not is_capped(r)]:
            why = {r.detail for r in left if outcome == "unavailable"} - {None}
            shared = f": {why.pop()}".rstrip(": ") if len(why) == 1 else ""
            parts.append(f"{len(left)} {outcome} ({few([r.case_id for r in left], 3)}){shared}")
    if rerun := [r.case_id for r in report.per_case if r.reruns]:
        parts.append(f"{len(rerun)} run again ({few(rerun, 3)})")
    ended = (
        "the session ended early" if report.per_case else "no trial of the candidate was selected"
    )
    if report.source is not None:
        ended = "its log says that it did not end"
    return "; ".join(parts) or ended


def _savings(report: BenchRunReport) -> str:
    """Return why a run stopped before its end, and what that saved."""
    ran = report.shown
    saved = [result.detail for result in report.per_case].count(STOP)
    rest = counted(len(report.stopped) - ran.case_count, "case")
    trials = counted(len(report.per_case) - len(ran.per_case), "trial")
    text = f"no result of the remaining {rest} could have promoted it; saved: {saved} of their {trials}"
    if report.total_cost_usd:
        each = report.total_cost_usd / (len(report.per_case) - saved)
        text += f", about {usd(each * saved)} USD"
    return text


def _errors(report: BenchRunReport) -> list[TrialResult]:
    return [result for result in report.per_case if result.outcome == "harness_error"]


def _types(errors: list[TrialResult]) -> str:
    """Return the three most frequent types of errors with their counts; the details begin with ``Type:``."""
    counts = Counter(_type(result) for result in errors).most_common()
    counts.sort(key=lambda pair: (-pair[1], pair[0]))
    listed = [f"{name} {count}" for name, count in counts[:3]]
    if len(counts) > 3:
        listed.append("...")
    return ", ".join(listed)


def _type(result: TrialResult) -> str:
    mode = next((m for m in result.failure_modes if m.code == "harness_error"), None)
    match = _TYPE.match(mode.detail or "") if mode else None
    return match[1] if match else result.outcome
