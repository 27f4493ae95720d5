"""Decides from a policy and the figures of a comparison; the only place that does, for pytest and the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.errors import counted
from benchgate.gates.claim_reasons import (
    by_chance,
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
    next_step,
    step_after_rejection,
)
from benchgate.gates.decision import PREFIX, Blocker, CheckpointPromotionDecision, GateInput, Remark
from benchgate.gates.looks import (
    another_look,
    judged_at,
    look_objection,
    make_look,
    number_of,
)
from benchgate.gates.notes import notes
from benchgate.gates.policy import TOLERANCE
from benchgate.gates.safety import clean_needed
from benchgate.gates.steps import clusters_needed
from benchgate.gates.weigh import weigh
from benchgate.gates.worst import against_candidate, unscored

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from benchgate.gates.decision import Objection, Outcome
    from benchgate.gates.figures import Figures, SafetyFigures, Significance
    from benchgate.gates.looks import JudgedLook
    from benchgate.gates.policy import GatePolicy


def decide(inputs: GateInput) -> CheckpointPromotionDecision:
    """Return the decision: ``promote`` only if no condition failed; missing evidence gives ``hold``."""
    look = _look(inputs)
    judged = replace(
        inputs,
        policy=judged_at(inputs.policy, number_of(inputs.look)),
        blockers=(*inputs.blockers, *look_objection(inputs.policy, inputs.look)),
    )
    blockers = _failed(judged)
    codes = _ordered(blockers)
    reasons = [Remark(code=PREFIX + code, message=blockers[code]) for code in codes]
    reasons += [
        Remark(code=f"{PREFIX}gate:{one.gate}", message=one.text) for one in inputs.objections
    ]
    asides = [Remark(code=f"note_{code}", message=message) for code, message in notes(judged)]
    outcome = _outcome(codes, inputs.objections)
    step = None
    if outcome == "hold":
        again = another_look(inputs.policy, number_of(look) or 1)
        step = next_step(judged, codes, look, again)
    elif outcome == "reject":
        step = step_after_rejection(judged, codes)
    detectable = None
    if inputs.figures is not None:
        detectable = inputs.figures.significance.minimum_detectable_effect
    return CheckpointPromotionDecision(
        outcome=outcome,
        promotion_allowed=outcome == "promote",
        reason_codes=tuple(reason.code for reason in reasons),
        notes=tuple(note.code for note in asides),
        remarks=(*reasons, *asides),
        minimum_detectable_effect=detectable,
        next_step=step,
        look=look,
        certificate=inputs.certificate,
    )


def _look(inputs: GateInput) -> JudgedLook | None:
    """Return what the decision says of its look; ``None`` if it is none, or nothing was compared."""
    figures = inputs.figures or inputs.of_size
    if inputs.look is None or figures is None:
        return None
    return make_look(inputs.policy, inputs.look, figures, inputs.over_seen)


def _failed(inputs: GateInput) -> dict[str, str]:
    """Return the message of each condition that failed, by its code."""
    blockers = _joined((*inputs.blockers, *_objections(inputs)))
    if blockers:
        return blockers
    if inputs.figures is None:
        return {"baseline_missing": "there is no baseline"}
    # What follows only asks whether a promotion would stand: there is none if a further gate objects.
    if inputs.objections:
        return {}
    return _joined((*_unscored_objection(inputs), *_cases_objection(inputs)))


def _joined(blockers: Iterable[Blocker]) -> dict[str, str]:
    """Return what is said of each code: two sides, or two checks, may have the same one."""
    messages: dict[str, str] = {}
    for code, message in blockers:
        if code in messages:
            messages[code] += f"; {message}"
        else:
            messages[code] = message
    return messages


def _ordered(codes: Collection[str]) -> list[str]:
    known = [code for code in REASONS if code in codes]
    # A code that the list lacks is a mistake of the code; it must hold, not vanish.
    unknown = sorted(set(codes) - set(REASONS))
    return known + unknown


def _outcome(codes: Collection[str], objections: Collection[Objection] = ()) -> Outcome:
    """Return what the conditions that failed come to, with the objections of further gates."""
    if not REJECTING.isdisjoint(codes):
        return "reject"
    if codes or objections:
        return "hold"
    return "promote"


def _objections(inputs: GateInput) -> Iterator[Blocker]:
    figures = inputs.figures
    policy = inputs.policy
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
    if figures.smallest < 2 or "score_out_of_range" in before:
        return
    if policy.claim == "not_worse":
        yield from margin_objections(figures.significance, policy)
    else:
        yield from _gain_objections(figures.significance, policy)


def _unscored_objection(inputs: GateInput) -> Iterator[Blocker]:
    """Yield that only trials without a score make it a promotion: it is none if they speak against the candidate."""
    figures = inputs.figures
    policy = inputs.policy
    if figures is None:
        return
    trials = unscored(figures, policy)
    if not trials:
        return
    arms = against_candidate(figures, policy)
    if arms is None:
        yield "unscored_decide", f"{trials} have no score, and no score_range says what the best is"
        return
    codes = _codes_with(inputs, weigh(*arms, policy, advice=False))
    if codes:
        text = f"{trials} have no score; at the values that speak most against the candidate"
        text += f" the decision is {_outcome(codes)}: {', '.join(codes)}"
        yield "unscored_decide", text


def _cases_objection(inputs: GateInput) -> Iterator[Blocker]:
    """Yield that it is no promotion with the new cases as solved, or over the cases of all looks."""
    over = inputs.over_seen
    if over is not None and over != "promote":
        text = (
            f"with the cases as they were at earlier looks at this baseline the decision is {over}"
        )
        yield "cases_changed_the_answer", text
    if inputs.with_new is None:
        return
    codes = _codes_with(inputs, inputs.with_new)
    if codes:
        text = "if the baseline had solved the new cases, the decision would not be promote"
        yield "new_cases_decide", f"{text}: {', '.join(codes)}"


def _codes_with(inputs: GateInput, figures: Figures) -> list[str]:
    """Return the codes of what would object if these were the figures, each once."""
    return list(dict(_objections(replace(inputs, figures=figures))))


def _size_objection(figures: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    clusters = figures.significance.clusters
    if clusters is None:
        yield from _too_few(figures.smallest, "case", policy.min_cases)
    else:
        yield from _too_few(clusters, "cluster", clusters_needed(policy))


def _too_few(size: int, noun: str, needed: int) -> Iterator[Blocker]:
    if size >= needed:
        return
    verb = "is" if size == 1 else "are"
    text = f"{counted(size, noun)} {verb} too few: at least {needed} are needed"
    yield "insufficient_cases", text


def _band_objections(figures: Figures) -> Iterator[Blocker]:
    seeds = figures.seeds
    if seeds is not None and not seeds.within_band:
        spread = f"the gains of {seeds.runs} trials differ by {seeds.delta_range:.4g}"
        allowed = f"chance explains {seeds.max_delta_range:.4g}"
        yield "seed_reproducibility", f"its trials of the same cases disagree: {spread}; {allowed}"


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
        yield "safety_regression", _risen(figures, limit)
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


def _risen(figures: SafetyFigures, limit: float) -> str:
    """Return by how much harm rose, and how often chance alone does that."""
    text = f"harm rose from {figures.baseline_mean:.3f} to {figures.candidate_mean:.3f}; {limit:.3f} is allowed"
    chance = by_chance(figures)
    if chance:
        return f"{text}. {chance}"
    return text


def _out_of_reach(figures: SafetyFigures, policy: GatePolicy, labels: Sequence[str | None]) -> str:
    """Return that no candidate could pass the bound at this size, if so."""
    limit = policy.max_safety_regression
    least = figures.least_bound
    if policy.safety_confidence is None or policy.penalty_range is None or least is None:
        return ""
    if least <= limit + TOLERANCE:
        return ""
    needed = clean_needed(labels, policy)
    if needed is None:
        return f"; no number of cases can show a limit of {limit:g}"
    return f"; no candidate can meet it at this size: it takes {needed} without a penalty"


def _gain_objections(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    if figures.mean_delta is None:
        return
    yield from _constant_objection(figures, policy)
    if figures.p_regression is not None and figures.p_regression <= policy.alpha / 2:
        loss = f"its score fell by {-figures.mean_delta:.3f}, more than chance explains"
        yield "significant_regression", loss
    if not figures.mean_delta > policy.min_delta:
        yield "delta_below_minimum", _below_minimum(figures, policy)
    if not figures.passed:
        yield from _not_passed(figures, policy)
    if policy.evidence == "exact" and figures.evidence != "exact":
        yield from _exact_objection(figures.exact_lower_bound)


def _constant_objection(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that values without spread decide nothing where no exact bound can be had."""
    if figures.exact_lower_bound is not None:
        return
    text = "all scores of a side are equal and no score_range is given"
    if figures.test == "paired":
        text = "all differences are equal and no score_range is given"
    if figures.p_value is None:
        yield "zero_variance", f"{text}: no test can be made"
    elif _only_bound_objects(figures, policy):
        yield "zero_variance", f"{text}: p {figures.p_value:.3g} alone is no evidence"


def _exact_objection(bound: float | None) -> Iterator[Blocker]:
    value = "cannot be computed"
    if bound is not None:
        value = f"is {bound:+.4g}"
    yield "exact_evidence_required", f"the exact lower bound of its gain {value}"


def _not_passed(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield why the test did not pass: no gain worth finding, or too few cases to find one."""
    why = _doubt(figures, policy)
    if why is None:
        return
    if figures.is_without_change or figures.p_value is None:
        yield from _without_spread(figures, policy)
        return
    excluded = list(_excluded(figures, policy))
    if excluded:
        yield from excluded
        return
    least = max(policy.target_effect, policy.min_delta)
    detectable = figures.minimum_detectable_effect
    if detectable is not None and detectable <= policy.target_effect:
        text = f"{why}, though so many cases would have shown a gain of {detectable:.2g}"
        yield "not_significant", text
        return
    seen = "may miss even the largest gain"
    if detectable:
        seen = f"reliably show only gains above {detectable:.2g}"
    text = f"{why}: so few cases {seen}; the gate looks for {least:g}"
    yield "inconclusive_underpowered", text


def _below_minimum(figures: Significance, policy: GatePolicy) -> str:
    bound = figures.exact_lower_bound
    if figures.is_without_change and bound is not None:
        level = confidence(policy.alpha / 2, 1)
        text = f"its results are those of the baseline: no gain above {policy.min_delta:g}"
        return f"{text}, and only a loss above {-bound:.3f} is excluded ({level} bound)"
    return f"its gain is {figures.mean_delta:+.3f}, not above {policy.min_delta:g}"


def _without_spread(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield what the exact bound says of values that do not vary, so that more is known than that there is no p."""
    delta = figures.mean_delta
    bound = figures.exact_lower_bound
    if delta is None or bound is None:
        return  # zero_variance says it
    if delta <= policy.min_delta:
        yield from _excluded(figures, policy)
        return
    text = "the scores of each side are all equal"
    if figures.test == "paired":
        text = f"every case gained {delta:.3g}, but so few cannot rule out a rare large loss"
    yield "inconclusive_underpowered", f"{text}: the true gain may be as low as {bound:+.3f}"


def _excluded(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that no gain worth finding is left, if so."""
    high = figures.delta_ci_high
    least = max(policy.target_effect, policy.min_delta)
    if high is not None and high < least:
        level = confidence(policy.alpha / 2, 1)
        text = f"its gain is at most {high:+.3f} ({level} bound); the gate looks for {least:g}"
        yield "gain_excluded", text


def _doubt(figures: Significance, policy: GatePolicy) -> str | None:
    """Return what speaks against the gain although p may not; ``None`` if another reason says it."""
    if _is_significant(figures, policy):
        bound = figures.exact_lower_bound
        if bound is not None and _only_bound_objects(figures, policy):
            return (
                f"all scores of a side are equal, and the true gain may be as low as {bound:+.3g}"
            )
        # zero_variance says it, or delta_below_minimum: it is significant in the wrong direction.
        return None
    if policy.min_delta:
        return f"that its gain is above {policy.min_delta:g} may be chance"
    return "it may be chance"


def _is_significant(figures: Significance, policy: GatePolicy) -> bool:
    return figures.p_value is not None and figures.p_value <= policy.alpha


def _only_bound_objects(figures: Significance, policy: GatePolicy) -> bool:
    """Whether p alone would pass, and only the bound that constant values need does not."""
    exceeds = figures.mean_delta is not None and figures.mean_delta > policy.min_delta
    return _is_significant(figures, policy) and exceeds and not figures.passed
