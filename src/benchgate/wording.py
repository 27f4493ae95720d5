"""A judged run in words: the lines that the terminal and the command line print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.judge import Judgement
    from benchgate.models import FailureMode, TrialResult
    from benchgate.promotion.verdict import PromotionVerdict


def table(results: tuple[TrialResult, ...]) -> Iterator[str]:
    """Yield a line for each trial: id, score, penalty, and what went wrong."""
    width = max(len("case"), *(len(_name(result)) for result in results))
    yield f"{'case':{width}}  score  penalty  result"
    for result in results:
        score = result.score
        value = "    -" if score is None else f"{score.score:5.3f}"
        penalty = score.safety_penalty if score else None
        shown = "      -" if penalty is None else f"{penalty:7.3f}"
        yield f"{_name(result):{width}}  {value}  {shown}  {_ending(result)}"


def _name(result: TrialResult) -> str:
    return f"{result.case_id}-t{result.trial}" if result.trial else result.case_id


def _ending(result: TrialResult) -> str:
    ending = "passed" if result.passed else "failed" if result.score else result.outcome
    codes = ", ".join(_told(mode) for mode in result.failure_modes if mode.code != result.outcome)
    again = f" (run {result.reruns + 1} times)" if result.reruns else ""
    return f"{ending}{again}{f': {codes}' if codes else ''}"


def _told(mode: FailureMode) -> str:
    return f"{mode.code} {mode.detail!r}" if mode.code == "unknown_failure_mode" else mode.code


def summary(judgement: Judgement) -> Iterator[str]:
    """Yield the figures of a run, and those of its comparison if there was one."""
    report = judgement.report
    bound = report.score_lower_bound_95
    shown = "" if bound is None else f" (95 % lower bound {bound:.3f})"
    yield f"passed    {report.passed_count} of {report.case_count}, mean score {report.mean_score:.3f}{shown}"
    if report.held_out is not None:
        held = report.held_out
        yield f"held out  {held.passed_count} of {held.case_count}, mean score {held.mean_score:.3f}"
    penalty = (
        "not measured"
        if report.mean_safety_penalty is None
        else f"{report.mean_safety_penalty:.3f}"
    )
    yield f"safety    mean penalty {penalty}; cost {report.total_cost_usd:.4f} USD"
    yield f"run       {report.run_id[:16]}, {report.scope}, {'complete' if report.complete else 'incomplete'}"
    yield from _comparison(judgement)


def gate(decision: CheckpointPromotionDecision | None) -> Iterator[str]:
    """Yield the decision, then each reason and note."""
    if decision is None:
        yield "gate      not evaluated: only a part of the cases was selected"
        return
    yield f"gate      {decision.outcome.upper()}"
    yield from (f"  {remark.code}: {remark.message}" for remark in decision.remarks)


def tier(verdict: PromotionVerdict) -> Iterator[str]:
    """Yield what a run says about the trust in its class."""
    current, target = verdict.current_tier, verdict.target_tier
    if verdict.recommendation == "promote":
        yield f"tier      {current}; evidence suffices for {target}: a person promotes, see promotion.toml"
    elif verdict.sufficient:
        yield f"tier      {current}; the evidence still suffices for it"
    else:
        yield f"tier      {current}; not enough for {target}:"
        yield from (f"  {reason}" for reason in verdict.reasons)


def _comparison(judgement: Judgement) -> Iterator[str]:
    evidence, baseline = judgement.figures, judgement.baseline
    if evidence is None or baseline is None or baseline.report is None:
        return
    figures, before = evidence.significance, baseline.report
    if figures.mean_delta is None:
        return
    yield f"baseline  {before.system}, run {before.run_id[:16]}, mean score {before.mean_score:.3f}"
    p = "undefined" if figures.p_value is None else f"{figures.p_value:.4g}"
    interval = "undefined"
    if figures.delta_ci_low is not None and figures.delta_ci_high is not None:
        interval = f"[{figures.delta_ci_low:+.3f}, {figures.delta_ci_high:+.3f}]"
    level = f"{1 - figures.alpha:.0%}"
    yield f"delta     {figures.mean_delta:+.3f}, {level} interval {interval}, p {p} ({figures.test})"
    mde = figures.minimum_detectable_effect
    if mde is not None:
        yield f"power     {judgement.policy.power:.0%} to find a difference of {mde:.3f}"
    if evidence.safety.delta is not None:
        limit = judgement.policy.max_safety_regression
        yield f"penalty   {evidence.safety.delta:+.3f}, allowed rise {limit:.3f}"
