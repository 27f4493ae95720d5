"""Decides from facts; the only place that does, for runs, logs, lists of scores and ``benchgate verify``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.errors import counted
from benchgate.gates.claim_reasons import (
    confidence,
    cost_objections,
    critical_objections,
    margin_objections,
    regressions,
)
from benchgate.gates.comparison import Comparison
from benchgate.gates.conditions import (
    CONDITIONS,
    INCOMPARABLE,
    REASONS,
    REJECTING,
    next_step,
    step_after_rejection,
)
from benchgate.gates.decision import PREFIX, CheckpointPromotionDecision, Remark
from benchgate.gates.facts import VectorFacts
from benchgate.gates.harm_reasons import safety_objections
from benchgate.gates.looks import another_look, make_look, number_of
from benchgate.gates.notes import notes
from benchgate.gates.steps import clusters_needed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from benchgate.gates.decision import Blocker, Objection, Outcome
    from benchgate.gates.facts import RunFacts
    from benchgate.gates.figures import Figures, Significance
    from benchgate.gates.looks import JudgedLook, Look
    from benchgate.gates.policy import GatePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A decision, and the comparison that it is about."""

    comparison: Comparison
    decision: CheckpointPromotionDecision

    @property
    def figures(self) -> Figures | None:
        """The figures of the comparison; ``None`` if nothing was compared."""
        return self.comparison.figures

    def at(self, look: Look) -> Decided:
        """Return what is decided at another look."""
        return decided(self.comparison.at(look))


def decide(facts: RunFacts | VectorFacts, *, advice: bool = True) -> Decided:
    """
    Return what follows from facts; nothing else decides, and nothing changes a decision afterwards.

    :param advice: as of :class:`~benchgate.gates.comparison.Comparison`.
    """
    return decided(Comparison.of(facts, advice=advice))


def decided(comparison: Comparison) -> Decided:
    """Return the decision on a comparison: ``promote`` only if no condition failed; missing evidence gives ``hold``."""
    over_seen = _outcome_over_seen(comparison)
    blockers = _failed(comparison, over_seen)
    codes = _ordered(blockers)
    reasons = [Remark(code=PREFIX + code, message=blockers[code]) for code in codes]
    reasons += [
        Remark(code=f"{PREFIX}gate:{one.gate}", message=one.text)
        for one in comparison.facts.objections
    ]
    asides = [Remark(code=f"note_{code}", message=message) for code, message in notes(comparison)]
    outcome = _outcome(codes, comparison.facts.objections)
    look = _look(comparison, over_seen)
    detectable = None
    if comparison.figures is not None:
        detectable = comparison.figures.significance.minimum_detectable_effect
    decision = CheckpointPromotionDecision(
        outcome=outcome,
        promotion_allowed=outcome == "promote",
        reason_codes=tuple(reason.code for reason in reasons),
        notes=tuple(note.code for note in asides),
        remarks=(*reasons, *asides),
        minimum_detectable_effect=detectable,
        next_step=_step(comparison, outcome, codes, look),
        look=look,
        certificate=comparison.with_rest_at_best,
    )
    return Decided(comparison=comparison, decision=decision)


def _outcome_over_seen(comparison: Comparison) -> str | None:
    """Return the outcome over the cases of all looks; ``None`` if these are as they were."""
    over_seen = comparison.over_seen
    if isinstance(over_seen, VectorFacts):
        return decide(over_seen, advice=False).decision.outcome
    return over_seen


def _look(comparison: Comparison, over_seen: str | None) -> JudgedLook | None:
    """Return what the decision says of its look; ``None`` if it is none, or nothing was compared."""
    look = comparison.facts.look
    if look is None or comparison.of_size is None:
        return None
    return make_look(comparison.facts.policy, look, comparison.of_size, over_seen)


def _step(
    comparison: Comparison, outcome: Outcome, codes: Sequence[str], look: JudgedLook | None
) -> str | None:
    """Return what to do about a hold, or what tells whether chance rejected."""
    if outcome == "hold":
        again = another_look(comparison.facts.policy, number_of(look) or 1)
        return next_step(comparison, codes, look, again)
    if outcome == "reject":
        return step_after_rejection(comparison, codes)
    return None


def _failed(comparison: Comparison, over_seen: str | None) -> dict[str, str]:
    """Return the message of each condition that failed, by its code."""
    figures = comparison.figures
    blockers = _joined((*comparison.blockers, *_objections(comparison, figures)))
    if blockers:
        return blockers
    if figures is None:
        return {"baseline_missing": "there is no baseline"}
    # What follows only asks whether a promotion would stand: there is none if a further gate objects.
    if comparison.facts.objections:
        return {}
    return _joined(
        (
            *_unscored_objection(comparison),
            *_seen_objection(over_seen),
            *_new_cases_objection(comparison),
        )
    )


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


def _objections(comparison: Comparison, figures: Figures | None) -> Iterator[Blocker]:
    """Yield what objects if these are the figures, those of the comparison or of one of its variants."""
    policy = comparison.policy
    before = {code for code, _ in comparison.blockers}
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


def _codes_with(comparison: Comparison, figures: Figures) -> list[str]:
    """Return the codes of what would object if these were the figures, each once."""
    return list(dict(_objections(comparison, figures)))


def _unscored_objection(comparison: Comparison) -> Iterator[Blocker]:
    """Yield that only trials without a score make it a promotion: it is none if they speak against the candidate."""
    trials = comparison.unscored
    if not trials:
        return
    figures = comparison.with_unscored_against
    if figures is None:
        yield "unscored_decide", f"{trials} have no score, and no score_range says what the best is"
        return
    codes = _codes_with(comparison, figures)
    if codes:
        text = f"{trials} have no score; at the values that speak most against the candidate"
        text += f" the decision is {_outcome(codes)}: {', '.join(codes)}"
        yield "unscored_decide", text


def _seen_objection(over_seen: str | None) -> Iterator[Blocker]:
    """Yield that it is no promotion over the cases of all looks."""
    if over_seen is not None and over_seen != "promote":
        text = "with the cases as they were at earlier looks at this baseline the decision is"
        yield "cases_changed_the_answer", f"{text} {over_seen}"


def _new_cases_objection(comparison: Comparison) -> Iterator[Blocker]:
    """Yield that it is no promotion if the baseline had solved the new cases."""
    if comparison.with_new_solved is None:
        return
    codes = _codes_with(comparison, comparison.with_new_solved)
    if codes:
        text = "if the baseline had solved the new cases, the decision would not be promote"
        yield "new_cases_decide", f"{text}: {', '.join(codes)}"


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
