"""A judged run as lines of text, the same under pytest and from the shell."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from benchgate.aggregate import INCOMPLETE, cost_of, is_capped
from benchgate.errors import counted, excerpt
from benchgate.gates.claim_reasons import spent
from benchgate.gates.unscored import error_count
from benchgate.wire.usage import Usage, usd
from benchgate.wording.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Figures
    from benchgate.gates.judge import Judgement
    from benchgate.models import BenchRunReport
    from benchgate.promotion.verdict import PromotionVerdict


ABLE: Final = frozenset({"not_run", "unavailable"})
"""Outcomes of trials that another session may run."""

LONG: Final = 1.0
"""Median duration of a trial, in seconds, from which on it is said."""


LEAST: Final = 5e-7
"""Dollars below which nothing was spent."""


def moving(counts: Mapping[str, int], seconds_left: float | None) -> str:
    """Return how many trials passed, failed and so on, and how long the others will take."""
    parts = [f"{name} {count}" for name, count in counts.items() if count]
    if seconds_left:
        parts.append(f"about {_span(seconds_left)} left")
    return ", ".join(parts)


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def details(judgement: Judgement) -> Iterator[str]:
    """Yield the figures of a run that :mod:`.block` leaves out."""
    report = judgement.report
    before = judgement.run.before
    if before is not None:
        yield f"baseline  {before.system}, run {before.run_id[:16]}"
    bound = report.score_lower_bound_95
    if bound is not None and report.complete:
        yield f"at least  mean score {bound:.3f} on such cases (95% lower bound)"
    if report.held_out is not None and report.complete:
        held_out = report.held_out
        yield f"held out  {held_out.passed_count} of {held_out.case_count}, mean score {held_out.mean_score:.3f}"
    state = "incomplete"
    if all(one.complete for one in judgement.run.reports.values()):
        state = "complete"
    yield f"run       {report.run_id[:16]}, {report.scope}, {state}"


def run_rows(
    reports: Sequence[BenchRunReport],
    figures: Figures | None,
    prefix: str = "--",
    *,
    is_recorded: bool = True,
) -> Iterator[Line]:
    """
    Yield what a run cost, how long it took, and which of its trials have no result or no score.

    :param reports: of the candidate, and of a baseline that ran beside it.
    :param prefix: of the options that a reader can type.
    """
    yield from spending(reports[0], figures)
    yield from lacking(reports, prefix, is_recorded=is_recorded)


def spending(report: BenchRunReport, figures: Figures | None) -> Iterator[Line]:
    """Yield what a run cost, and how long it took."""
    yield from costs(report, figures)
    yield from pace(report)


def lacking(
    reports: Sequence[BenchRunReport], prefix: str = "--", *, is_recorded: bool = True
) -> Iterator[Line]:
    """Yield which trials of a run have no result or no score, and how to run them."""
    yield from unscored(reports, prefix)
    yield from capped(reports, prefix, is_recorded=is_recorded)


def costs(report: BenchRunReport, figures: Figures | None) -> Iterator[Line]:
    """Yield what a run cost, how much more or less a case, and what it used, if anything was reported."""
    unknown = sum(cost_of(result) is None for result in report.per_case)
    if unknown < len(report.per_case):
        text = usd(report.total_cost_usd)
        if unknown:
            text += f", without {counted(unknown, 'trial')} that reported none"
        if figures is not None and figures.cost is not None:
            text += f"; a case {spent(figures.cost)}"
        yield Line("cost", text)
    if report.usage is not None:
        yield Line("usage", _usage(report, report.usage), is_detail=True)


def _usage(report: BenchRunReport, used: Usage) -> str:
    shown = []
    if used.cost_usd is not None:
        shown.append(usd(used.cost_usd))
    if used.tokens_in is not None:
        shown.append(f"{used.tokens_in} tokens in")
    if used.tokens_out is not None:
        shown.append(f"{used.tokens_out} out")
    if used.calls is not None:
        shown.append(counted(used.calls, "call"))
    text = ", ".join(shown) or "nothing"
    if used.model:
        text += f" ({used.model})"
    judging = report.total_cost_usd - (used.cost_usd or 0.0)
    if judging >= LEAST:
        text += f"; judging {usd(judging)}"
    return text


def pace(report: BenchRunReport) -> Iterator[Line]:
    """Yield how long trials took, if anybody waited for them, and how many were tried again."""
    ran = [result for result in report.per_case if result.outcome not in INCOMPLETE]
    if not ran:
        return
    # It takes fractions and decimals with it, which a session may do without.
    from statistics import median

    parts = []
    seconds = median(result.duration_seconds for result in ran)
    if seconds >= LONG:
        parts.append(f"{seconds:.1f} s in the median")
    again = sum(result.retries for result in report.per_case)
    if again:
        tried = sum(bool(result.retries) for result in report.per_case)
        parts.append(f"{tried} of {len(report.per_case)} tried again, {counted(again, 'time')}")
    if parts:
        yield Line("trials", "; ".join(parts))


def unscored(reports: Sequence[BenchRunReport], prefix: str) -> Iterator[Line]:
    """Yield how many trials have no result, or no score, and how to run them; the decision says which."""
    yield from _missing(reports, prefix)
    yield from _counted_as_0(reports[0])


def _missing(reports: Sequence[BenchRunReport], prefix: str) -> Iterator[Line]:
    """Yield how many trials have no result, with the most frequent reasons."""
    report = reports[0]
    results = [result for one in reports for result in one.per_case]
    missing = [result for result in results if result.outcome in INCOMPLETE]
    if not missing:
        return
    text = f"{len(missing)} of {len(results)} trials have no result"
    is_run = report.source is None and report.scope == "full"
    if is_run and any(result.outcome in ABLE for result in missing):
        text += f"; {prefix}resume runs only them"
    yield Line("missing", text, "caution")
    # What the cap on costs kept from running has a line of its own.
    why = Counter(result.detail for result in missing if result.detail and not is_capped(result))
    for detail, count in why.most_common(2):
        yield Line("", f"{counted(count, 'time')}: {excerpt(detail, 160)}", "caution")


def _counted_as_0(report: BenchRunReport) -> Iterator[Line]:
    """Yield how many trials of the candidate ended in an error or at the time limit."""
    whats = []
    errors = error_count(report)
    if errors is not None:
        whats.append(errors.text)
    late = sum(result.outcome == "timeout" for result in report.per_case)
    if late:
        whats.append(counted(late, "timeout"))
    if whats:
        yield Line("unscored", f"{', '.join(whats)}: counted as score 0", "caution")


def capped(reports: Sequence[BenchRunReport], prefix: str, *, is_recorded: bool) -> Iterator[Line]:
    """Yield that the cap ended a run, what was spent and how to go on; nothing if it did not."""
    reasons = [r.detail for report in reports for r in report.per_case if is_capped(r)]
    if not reasons:
        return
    yield Line("cap", f"{counted(len(reasons), 'trial')} not run: {reasons[0]}", "caution")
    resume = ""
    if is_recorded and reports[0].scope == "full":
        resume = f"{prefix}resume "
    total = usd(math.fsum(report.total_cost_usd for report in reports))
    yield Line("", f"{total} in all; go on: {resume}{prefix}max-cost-usd=USD", "caution")


def stopped(reports: Iterable[BenchRunReport]) -> Iterator[Line]:
    """Yield how the rubric broke its contract, which ended the run; nothing if it did not."""
    details = [
        mode.detail
        for report in reports
        for result in report.per_case
        if result.violation
        for mode in result.failure_modes
        if mode.code == "rubric_error"
    ]
    if details:
        yield Line("stopped", f"{details[0]}; no other trial was begun", "bad")


def tier(
    verdict: PromotionVerdict | Literal["not_evaluated"],
    decision: CheckpointPromotionDecision | None,
) -> Iterator[str]:
    """Yield which trust tier a run is evidence for, or what is missing; nothing for a run that was not judged."""
    if verdict == "not_evaluated" or decision is None:
        return
    current = verdict.current_tier
    target = verdict.target_tier
    if verdict.invites(decision.outcome):
        yield f"tier      {current}; evidence suffices for {target}: a person promotes, see promotion.toml"
    elif verdict.sufficient and verdict.recommendation != "promote":
        yield f"tier      {current}; the evidence still suffices for it"
    elif verdict.sufficient:
        yield f"tier      {current}"
    else:
        yield f"tier      {current}; not enough for {target}:"
        yield from (f"  {reason}" for reason in verdict.reasons)


def recommendation(verdict: PromotionVerdict, outcome: str) -> str:
    """Return what a verdict recommends; a run that was held or rejected is none to promote a class on."""
    if verdict.recommendation != "promote" or verdict.invites(outcome):
        return verdict.recommendation
    return f"conditions met, but the decision is {outcome}"
