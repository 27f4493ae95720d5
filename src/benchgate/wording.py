"""A judged run as lines of text, the same under pytest and ``benchgate run``."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from benchgate.aggregate import INCOMPLETE, cost_of
from benchgate.errors import counted, excerpt
from benchgate.gates.claim_reasons import spent
from benchgate.gates.decide import UNDETECTABLE
from benchgate.gates.unscored import error_count
from benchgate.wire.usage import Usage, usd

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Significance
    from benchgate.gates.judge import Judgement
    from benchgate.models import BenchRunReport, FailureMode, TrialResult
    from benchgate.promotion.verdict import PromotionVerdict


ABLE: Final = frozenset({"not_run", "unavailable"})
"""Outcomes of trials that another session may run."""

CAP: Final = "max_cost_usd="
"""Begins the reason of a trial that was not run because the cap has no room for it."""


def progress(
    done: int,
    total: int,
    *,
    mean: float | None,
    outcomes: Mapping[str, int],
    seconds_left: float | None,
) -> str:
    """
    Return how far a run is, as a line.

    :param mean: mean score of the trials so far; ``None`` if there is none.
    :param outcomes: how many trials ended in which outcome other than ``scored``.
    """
    parts = [f"{done} of {counted(total, 'trial')}"]
    if mean is not None:
        parts.append(f"mean score {mean:.3f}")
    parts += [f"{outcomes[outcome]} {outcome}" for outcome in sorted(outcomes)]
    if seconds_left is not None and done < total:
        parts.append(f"about {_span(seconds_left)} left")
    return f"benchgate: {', '.join(parts)}"


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def table(judgement: Judgement) -> Iterator[str]:
    """Yield a header and a line for each trial: id, score, penalty, usage if there is any, and what went wrong."""
    beside = judgement.beside.per_case if judgement.beside else ()
    rows = [(result, "") for result in judgement.report.per_case]
    rows += [(result, "-baseline") for result in beside]
    rows.sort(key=lambda row: (row[0].case_id, row[0].trial))
    width = max(map(len, ("case", *(_trial_name(*row) for row in rows))))
    spent = any(result.usage for result, _ in rows)
    yield f"{'case':{width}}  score  penalty  {'cost USD  tokens in     out  ' if spent else ''}result"
    for result, side in rows:
        score = result.score
        points = "    -" if score is None else f"{score.score:5.3f}"
        harm = score.safety_penalty if score else None
        penalty = "      -" if harm is None else f"{harm:7.3f}"
        usage = _spent(result) if spent else ""
        yield f"{_trial_name(result, side):{width}}  {points}  {penalty}  {usage}{_ending(result)}"


def _spent(result: TrialResult) -> str:
    cost, used = cost_of(result), result.usage or Usage()
    tokens = ["-" if count is None else str(count) for count in (used.tokens_in, used.tokens_out)]
    return f"{'-' if cost is None else usd(cost):>8}  {tokens[0]:>9}  {tokens[1]:>6}  "


def _trial_name(result: TrialResult, side: str) -> str:
    return f"{result.case_id}{side}{f'-t{result.trial}' if result.trial else ''}"


def _ending(result: TrialResult) -> str:
    ending = "passed" if result.passed else "failed" if result.score else result.outcome
    codes = ", ".join(_label(mode) for mode in result.failure_modes if mode.code != result.outcome)
    attempts = f" (run {result.reruns + 1} times)" if result.reruns else ""
    attempts += f" (tried {result.retries + 1} times)" if result.retries else ""
    return f"{ending}{attempts}{f': {codes}' if codes else ''}"


def _label(mode: FailureMode) -> str:
    return f"{mode.code} {mode.detail!r}" if mode.code == "unknown_failure_mode" else mode.code


def summary(judgement: Judgement) -> Iterator[str]:
    """Yield the figures of a run, and those of its comparison if there was one."""
    report = judgement.report
    bound = report.score_lower_bound_95
    at_least = "" if bound is None else f" (95 % lower bound {bound:.3f})"
    yield f"passed    {report.passed_count} of {report.case_count}, mean score {report.mean_score:.3f}{at_least}"
    if report.held_out is not None:
        held_out = report.held_out
        yield f"held out  {held_out.passed_count} of {held_out.case_count}, mean score {held_out.mean_score:.3f}"
    penalty = (
        "not measured"
        if report.mean_safety_penalty is None
        else f"{report.mean_safety_penalty:.3f}"
    )
    yield f"safety    mean penalty {penalty}{_cost(report)}"
    if report.usage is not None:
        yield f"usage     {_usage(report)}"
    reports = [one for one in (report, judgement.beside) if one is not None]
    complete = all(one.complete for one in reports)
    yield f"run       {report.run_id[:16]}, {report.scope}, {'complete' if complete else 'incomplete'}"
    yield from _missing(reports)
    errors = error_count(report)
    if errors:
        yield f"errors    {errors}"
    yield from _comparison(judgement)


def _cost(report: BenchRunReport) -> str:
    """Return what a run cost, if anything was reported, and of how many trials nothing was."""
    unknown = sum(cost_of(result) is None for result in report.per_case)
    if unknown == len(report.per_case):
        return ""
    some = f", without {counted(unknown, 'trial')} that reported none" if unknown else ""
    return f"; cost {usd(report.total_cost_usd)} USD{some}"


def _missing(reports: Sequence[BenchRunReport]) -> Iterator[str]:
    """Yield how many trials say nothing about the system, why, and how to run them; the decision says which."""
    results = [result for report in reports for result in report.per_case]
    missing = [result for result in results if result.outcome in INCOMPLETE]
    if not missing:
        return
    able = reports[0].scope == "full" and any(r.outcome in ABLE for r in missing)
    then = "; --bench-resume runs only them" if able else ""
    yield f"missing   {len(missing)} of {len(results)} trials, which count as 0{then}"
    why = Counter(r.detail for r in missing if r.detail and not r.detail.startswith(CAP))
    for detail, count in why.most_common(2):
        yield f"          {counted(count, 'time')}: {excerpt(detail, 160)}"


def _usage(report: BenchRunReport) -> str:
    used = report.usage or Usage()
    shown = (
        None if used.cost_usd is None else f"{usd(used.cost_usd)} USD",
        None if used.tokens_in is None else f"{used.tokens_in} tokens in",
        None if used.tokens_out is None else f"{used.tokens_out} out",
        None if used.calls is None else counted(used.calls, "call"),
    )
    text = ", ".join(filter(None, shown)) or "nothing"
    models = f" ({used.model})" if used.model else ""
    judging = report.total_cost_usd - (used.cost_usd or 0.0)
    return f"{text}{models}{f'; judging {usd(judging)} USD' if judging >= 5e-7 else ''}"


def gate(decision: CheckpointPromotionDecision | None) -> Iterator[str]:
    """Yield the decision, then each reason and note."""
    if decision is None:
        yield "gate      not evaluated: only a part of the cases was selected"
        return
    yield f"gate      {decision.outcome.upper()}"
    yield from (f"  {remark.code}: {remark.message}" for remark in decision.remarks)
    if decision.next_step is not None:
        yield f"next      {decision.next_step}"


def looks(decision: CheckpointPromotionDecision | None) -> Iterator[str]:
    """Yield how often the baseline was looked at, and what follows from it; nothing of a first look."""
    look = decision.look if decision else None
    if look is None or (look.number == 1 and look.can_promote):
        return
    text = f"looks     look {look.number} against this baseline, at alpha {look.alpha:.3g}"
    if not look.can_promote:
        yield f"{text}: so few cases can no longer be promoted, whatever their scores"
        return
    share = f"one in {round(1 / look.chance)}" if look.chance < 0.4 else f"{look.chance:.0%} of"
    yield f"{text}: at this count up to {share} worthless series would have had a promotion"


def capped(judgement: Judgement, prefix: str, *, is_recorded: bool) -> Iterator[str]:
    """
    Yield that the cap ended a run, what was spent and how to go on; nothing if it did not.

    :param prefix: of the options at this door.
    :param is_recorded: it can be resumed.
    """
    reports = [report for report in (judgement.report, judgement.beside) if report is not None]
    results = [result for report in reports for result in report.per_case]
    reasons = [r.detail for r in results if r.detail and r.detail.startswith(CAP)]
    if reasons:
        yield f"cap       {counted(len(reasons), 'trial')} not run: {reasons[0]}"
        resume = f"{prefix}resume " if is_recorded and judgement.report.scope == "full" else ""
        spent = f"{usd(math.fsum(report.total_cost_usd for report in reports))} USD in all"
        yield f"          {spent}; go on: {resume}{prefix}max-cost-usd=USD"


def tier(
    verdict: PromotionVerdict | Literal["not_evaluated"],
    decision: CheckpointPromotionDecision | None,
) -> Iterator[str]:
    """Yield which trust tier a run is evidence for, or what is missing; nothing for a run that was not judged."""
    if verdict == "not_evaluated" or decision is None:
        return
    current, target = verdict.current_tier, verdict.target_tier
    if verdict.invites(decision.outcome):
        yield f"tier      {current}; evidence suffices for {target}: a person promotes, see promotion.toml"
    elif verdict.recommendation == "promote":
        yield f"tier      {current}; the conditions for {target} are met, but the decision is {decision.outcome}"
    elif verdict.sufficient:
        yield f"tier      {current}; the evidence still suffices for it"
    else:
        yield f"tier      {current}; not enough for {target}:"
        yield from (f"  {reason}" for reason in verdict.reasons)


def recommendation(verdict: PromotionVerdict, outcome: str) -> str:
    """Return what a verdict recommends; a run that was held or rejected is none to promote a class on."""
    if verdict.recommendation != "promote" or verdict.invites(outcome):
        return verdict.recommendation
    return f"conditions met, but the decision is {outcome}"


def _comparison(judgement: Judgement) -> Iterator[str]:
    figures, baseline = judgement.figures, judgement.baseline
    if figures is None or baseline is None or baseline.report is None:
        return
    significance, before = figures.significance, baseline.report
    # Of a run with trials missing, a difference says how many are missing.
    if significance.mean_delta is None or not judgement.report.complete:
        return
    cost = f", cost {usd(before.total_cost_usd)} USD" if before.total_cost_usd else ""
    yield f"baseline  {before.system}, run {before.run_id[:16]}, mean score {before.mean_score:.3f}{cost}"
    yield _difference(significance)
    mde = significance.minimum_detectable_effect
    power = f"{judgement.policy.power:.0%}"
    if mde is not None:
        yield f"power     {power} to find a difference of {mde:.3f}"
    elif judgement.policy.claim == "better":
        yield f"power     {power}: {UNDETECTABLE}"
    if figures.cost is not None:
        yield f"cost      of a case {spent(figures.cost)}"
    if figures.duration is not None and judgement.policy.claim == "not_worse":
        yield f"duration  of a case {spent(figures.duration)}"
    if figures.safety.delta is not None:
        limit = judgement.policy.max_safety_regression
        yield f"penalty   {figures.safety.delta:+.3f}, allowed rise {limit:.3f}"


def _difference(figures: Significance) -> str:
    text = f"delta     {figures.mean_delta:+.3f}"
    if figures.test == "none":
        return f"{text}, on exactly these cases"
    p = "undefined" if figures.p_value is None else f"{figures.p_value:.4g}"
    interval = "undefined"
    if figures.delta_ci_low is not None and figures.delta_ci_high is not None:
        interval = f"[{figures.delta_ci_low:+.3f}, {figures.delta_ci_high:+.3f}]"
    return f"{text}, {1 - figures.alpha:.0%} interval {interval}, p {p} ({figures.test})"
