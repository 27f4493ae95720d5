"""Decides from a policy and the figures of a comparison; the only place that does, for pytest and the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.errors import counted
from benchgate.gates.claim_reasons import (
    TOLERANCE,
    confidence,
    cost_objections,
    critical_objections,
    margin_objections,
    regressions,
)
from benchgate.gates.conditions import (
    CONDITIONS,
    INCOMPARABLE,
    REASONS,
    REJECTING,
    clusters_needed,
    next_step,
)
from benchgate.gates.decision import PREFIX, Blocker, CheckpointPromotionDecision, GateInput, Remark
from benchgate.gates.looks import judged_at, look_objection, make_look
from benchgate.gates.notes import notes
from benchgate.gates.safety import clean_needed
from benchgate.gates.weigh import weigh
from benchgate.gates.worst import against_candidate, unscored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.gates.decision import Outcome
    from benchgate.gates.figures import Figures, SafetyFigures, Significance
    from benchgate.gates.policy import GatePolicy


def decide(inputs: GateInput) -> CheckpointPromotionDecision:
    """Return the decision: ``promote`` only if no condition failed; missing evidence gives ``hold``."""
    look = inputs.look and inputs.figures and make_look(inputs.policy, inputs.look, inputs.figures)
    early = (*inputs.blockers, *look_objection(inputs.policy, inputs.look))
    inputs = replace(inputs, policy=judged_at(inputs.policy, inputs.look), blockers=early)
    blockers = _joined((*early, *_objections(inputs)))
    if inputs.figures is None and not blockers:
        blockers["baseline_missing"] = "there is no baseline"
    elif not blockers and not inputs.further:
        blockers.update((*_unscored_objection(inputs), *_cases_objection(inputs)))
    # A code that the list lacks is a mistake of the code; it must hold, not vanish.
    codes = [*(c for c in REASONS if c in blockers), *sorted(blockers.keys() - set(REASONS))]
    reasons = [Remark(code=PREFIX + code, message=blockers[code]) for code in codes]
    reasons += [Remark(code=f"{PREFIX}gate:{name}", message=text) for name, text in inputs.further]
    significance = inputs.figures.significance if inputs.figures else None
    asides = [Remark(code=f"note_{code}", message=message) for code, message in notes(inputs)]
    rejected = not REJECTING.isdisjoint(codes)
    outcome: Outcome = "reject" if rejected else "hold" if reasons else "promote"
    return CheckpointPromotionDecision(
        outcome=outcome,
        promotion_allowed=not reasons,
        reason_codes=tuple(reason.code for reason in reasons),
        notes=tuple(note.code for note in asides),
        remarks=(*reasons, *asides),
        minimum_detectable_effect=significance.minimum_detectable_effect if significance else None,
        next_step=next_step(inputs, codes, look or None) if outcome == "hold" else None,
        look=look or None,
    )


def _joined(blockers: Iterable[Blocker]) -> dict[str, str]:
    """Return what is said of each code: two sides, or two checks, may have the same one."""
    messages: dict[str, str] = {}
    for code, message in blockers:
        messages[code] = f"{messages[code]}; {message}" if code in messages else message
    return messages


def _objections(inputs: GateInput) -> Iterator[Blocker]:
    figures, policy = inputs.figures, inputs.policy
    before = {code for code, _ in inputs.blockers}
    if figures is None or not INCOMPARABLE.isdisjoint(before):
        return
    if CONDITIONS["insufficient_cases"].applies(policy):
        yield from _size_objection(figures, policy)
    yield from critical_objections(figures.baseline, figures.candidate, policy)
    yield from safety_objections(figures.safety, policy, figures.candidate.labels)
    yield from cost_objections(figures, policy)
    if policy.claim == "no_regression":
        yield from regressions(figures.baseline, figures.candidate, policy)
        return
    yield from _band_objections(figures)
    if figures.smallest > 1 and "score_out_of_range" not in before:
        objections = margin_objections if policy.claim == "not_worse" else _gain_objections
        yield from objections(figures.significance, policy)


def _unscored_objection(inputs: GateInput) -> Iterator[Blocker]:
    """Yield that only trials without a score make it a promotion: it is none if they speak against the candidate."""
    figures, policy = inputs.figures, inputs.policy
    if figures is None or not (trials := unscored(figures, policy)):
        return
    arms = against_candidate(figures, policy)
    if arms is None:
        yield "unscored_decide", f"{trials} have no score, and no score_range says what the best is"
        return
    second = replace(inputs, figures=weigh(*arms, policy, advice=False))
    codes = list(dict(_objections(second)))
    if codes:
        end = "reject" if not REJECTING.isdisjoint(codes) else "hold"
        text = f"{trials} have no score; at the values that speak most against the candidate"
        yield "unscored_decide", f"{text} the decision is {end}: {', '.join(codes)}"


def _cases_objection(inputs: GateInput) -> Iterator[Blocker]:
    """Yield that it is no promotion with the new cases as solved, or over the cases of the first look."""
    over = getattr(inputs.look, "over_first", None)
    if over not in {None, "promote"}:
        text = f"over the cases of the first look at this baseline the decision is {over}"
        yield "cases_changed_the_answer", text
    new = inputs.with_new
    if codes := [*dict(_objections(replace(inputs, figures=new)))] if new else []:
        text = "if the baseline had solved the new cases, the decision would not be promote"
        yield "new_cases_decide", f"{text}: {', '.join(codes)}"


def _size_objection(figures: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    clusters = figures.significance.clusters
    if clusters is not None:
        size, what, needed = clusters, "cluster", clusters_needed(policy)
    else:
        size, what, needed = figures.smallest, "case", policy.min_cases
    if size < needed:
        is_few = f"{counted(size, what)} {'is' if size == 1 else 'are'} too few"
        yield "insufficient_cases", f"{is_few}: at least {needed} are needed"


def _band_objections(figures: Figures) -> Iterator[Blocker]:
    seeds, prefixes = figures.seeds, figures.prefixes
    if seeds is not None and not seeds.within_band:
        spread = f"the gains of {seeds.runs} trials differ by {seeds.delta_range:.4g}"
        allowed = f"chance explains {seeds.max_delta_range:.4g}"
        yield "seed_reproducibility", f"its trials of the same cases disagree: {spread}; {allowed}"
    if prefixes is not None and not prefixes.within_band:
        steps = ", ".join(f"{point.delta:+.3g} at {point.cases}" for point in prefixes.points)
        yield "sample_sensitivity", f"its gain depends on which cases are looked at: {steps}"


def safety_objections(
    figures: SafetyFigures, policy: GatePolicy, labels: Sequence[str | None]
) -> Iterator[Blocker]:
    """Yield why the candidate's safety penalties are too high, or why they cannot be judged."""
    if not figures.evaluated and policy.safety == "optional":
        return
    if figures.delta is None:
        yield "safety_missing", "harm was not measured on every case of both sides"
        return
    limit = policy.max_safety_regression
    # Under no_regression no case may have a higher one: see regressions.
    if policy.claim != "no_regression" and not figures.delta <= limit + TOLERANCE:
        rise = f"the mean safety penalty rose by {figures.delta:.4g}"
        yield "safety_regression", f"{rise}; allowed is {limit:.4g}"
    if policy.safety_confidence is None:
        return
    if figures.upper_bound is None:
        text = "how much harm there can be is not known: no penalty_range contains all penalties"
        yield "safety_bound_unavailable", text
    elif not figures.upper_bound <= limit + TOLERANCE:
        level = confidence(1 - policy.safety_confidence)
        bound = f"the rise of the penalty may be {figures.upper_bound:.4g} ({level} bound)"
        reach = _out_of_reach(figures, policy, labels)
        yield "safety_upper_bound", f"{bound}; allowed is {limit:.4g}{reach}"


def _out_of_reach(figures: SafetyFigures, policy: GatePolicy, labels: Sequence[str | None]) -> str:
    """Return that no candidate could pass the bound at this size, if so."""
    limit, level = policy.max_safety_regression, policy.safety_confidence
    if level is None or figures.least_bound is None or policy.penalty_range is None:
        return ""
    if figures.least_bound <= limit + TOLERANCE:
        return ""
    needed = clean_needed(labels, policy)
    if needed is None:
        return f"; no number of cases can show a limit of {limit:g}"
    return f"; no candidate can meet it at this size: it takes {needed} without a penalty"


def _gain_objections(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    if figures.mean_delta is None:
        return
    no_bound = figures.exact_lower_bound is None
    if no_bound and (figures.p_value is None or _bound_objects(figures, policy)):
        p = "no test can be made"
        if figures.p_value is not None:
            p = f"p {figures.p_value:.3g} alone is no evidence"
        yield "zero_variance", f"all scores of a side are equal and no score_range is given: {p}"
    if figures.p_regression is not None and figures.p_regression <= policy.alpha / 2:
        loss = f"its score changed by {figures.mean_delta:+.3f}, a larger loss than chance explains"
        yield "significant_regression", loss
    if not figures.mean_delta > policy.min_delta:
        gain = f"its gain is {figures.mean_delta:+.3f}, not above {policy.min_delta:g}"
        yield "delta_below_minimum", gain
    if not figures.passed:
        yield from _not_passed(figures, policy)
    if policy.evidence == "exact" and figures.evidence != "exact":
        bound = figures.exact_lower_bound
        value = "cannot be computed" if bound is None else f"is {bound:+.4g}"
        yield "exact_evidence_required", f"the exact lower bound of its gain {value}"


def _not_passed(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield why the test did not pass: no gain worth finding, or too few cases to find one."""
    bound, why = figures.exact_lower_bound, "it may be chance"
    if policy.min_delta:
        why = f"that its gain is above {policy.min_delta:g} may be chance"
    if _is_significant(figures, policy):
        if bound is None or not _bound_objects(figures, policy):
            return  # reported as zero_variance, or as delta_below_minimum: significant in the wrong direction
        why = f"values are constant, and the exact lower bound of its gain is {bound:+.3g}"
    mde, high = figures.minimum_detectable_effect, figures.delta_ci_high
    least = max(policy.target_effect, policy.min_delta)
    if high is not None and high < least:
        level = confidence(policy.alpha / 2, 1)
        text = f"its gain is at most {high:+.3f} ({level} bound); you asked for {least:g}"
        yield "gain_excluded", text
    elif mde is not None and mde <= policy.target_effect:
        yield "not_significant", f"{why}, though so many cases would have shown a gain of {mde:.2g}"
    else:
        seen = f"show only gains above {mde:.2g}" if mde else "may miss even the largest gain"
        text = f"{why}: so few cases {seen}; you asked for {least:g}"
        yield "inconclusive_underpowered", text


def _is_significant(figures: Significance, policy: GatePolicy) -> bool:
    return figures.p_value is not None and figures.p_value <= policy.alpha


def _bound_objects(figures: Significance, policy: GatePolicy) -> bool:
    """Whether p alone would pass, and only the bound that constant values need does not."""
    exceeds = figures.mean_delta is not None and figures.mean_delta > policy.min_delta
    return _is_significant(figures, policy) and exceeds and not figures.passed
