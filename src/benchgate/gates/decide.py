"""Decides from facts; the only place that does, for runs, logs, lists of scores and ``benchgate verify``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.gates.claim_reasons import (
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
from benchgate.gates.decision import PREFIX, CheckpointPromotionDecision, Remark, by_code
from benchgate.gates.facts import VectorFacts
from benchgate.gates.harm_reasons import safety_objections
from benchgate.gates.looks import another_look, make_look, number_of
from benchgate.gates.notes import notes
from benchgate.gates.policy import TARGET_EFFECT
from benchgate.gates.steps import clusters_needed
from benchgate.sentences.says import every, joined, says

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from benchgate.gates.decision import Blocker, Objection, Outcome
    from benchgate.gates.facts import RunFacts
    from benchgate.gates.figures import Figures, Significance
    from benchgate.gates.looks import JudgedLook, Look
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says


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
    reasons = [Remark.of(PREFIX + code, blockers[code]) for code in codes]
    reasons += [
        Remark.of(f"{PREFIX}gate:{one.gate}", [says("gate", text=one.text)])
        for one in comparison.facts.objections
    ]
    asides = [Remark.of(f"note_{code}", said) for code, said in by_code(notes(comparison)).items()]
    outcome = _outcome(codes, comparison.facts.objections)
    look = _look(comparison, over_seen)
    detectable = None
    if comparison.figures is not None:
        detectable = comparison.figures.significance.minimum_detectable_effect
    step = _step(comparison, outcome, codes, look)
    decision = CheckpointPromotionDecision(
        outcome=outcome,
        promotion_allowed=outcome == "promote",
        reason_codes=tuple(reason.code for reason in reasons),
        notes=tuple(note.code for note in asides),
        remarks=(*reasons, *asides),
        minimum_detectable_effect=detectable,
        next_step=joined(step) or None,
        step=step,
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
) -> tuple[Says, ...]:
    """Return what to do about a hold, or what tells whether chance rejected."""
    if outcome == "hold":
        again = another_look(comparison.facts.policy, number_of(look) or 1)
        return next_step(comparison, codes, look, again)
    if outcome == "reject":
        return step_after_rejection(comparison, codes)
    return ()


def _failed(comparison: Comparison, over_seen: str | None) -> Mapping[str, Sequence[Says]]:
    """Return what is said of each condition that failed, by its code."""
    figures = comparison.figures
    blockers = by_code((*comparison.blockers, *_objections(comparison, figures)))
    if blockers:
        return blockers
    if figures is None:
        return {"baseline_missing": [says("baseline_missing")]}
    # What follows only asks whether a promotion would stand: there is none if a further gate objects.
    if comparison.facts.objections:
        return {}
    return by_code(
        (
            *_unscored_objection(comparison),
            *_seen_objection(over_seen),
            *_new_cases_objection(comparison),
        )
    )


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
    policy = comparison.judged
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
    if trials is None:
        return
    figures = comparison.with_unscored_against
    if figures is None:
        yield "unscored_decide", says("unscored_decide.no_best", trials=trials)
        return
    codes = _codes_with(comparison, figures)
    if codes:
        yield (
            "unscored_decide",
            says(
                "unscored_decide.against",
                trials=trials,
                outcome=_outcome(codes),
                codes=every(codes),
            ),
        )


def _seen_objection(over_seen: str | None) -> Iterator[Blocker]:
    """Yield that it is no promotion over the cases of all looks."""
    if over_seen is not None and over_seen != "promote":
        said = says("cases_changed_the_answer", outcome=over_seen)
        yield "cases_changed_the_answer", said


def _new_cases_objection(comparison: Comparison) -> Iterator[Blocker]:
    """Yield that it is no promotion if the baseline had solved the new cases."""
    yield from comparison.new_cases_said
    if comparison.with_new_solved is None:
        return
    codes = _codes_with(comparison, comparison.with_new_solved)
    if codes:
        yield "new_cases_decide", says("new_cases_decide", codes=every(codes))


def _size_objection(figures: Figures, policy: GatePolicy) -> Iterator[Blocker]:
    clusters = figures.significance.clusters
    cases = figures.smallest
    if clusters is None:
        if cases < policy.min_cases:
            said = says("insufficient_cases.cases", size=cases, needed=policy.min_cases)
            yield "insufficient_cases", said
        return
    needed = clusters_needed(policy)
    if clusters < needed:
        said = says("insufficient_cases.clusters", size=clusters, needed=needed)
        yield "insufficient_cases", said


def _band_objections(figures: Figures) -> Iterator[Blocker]:
    seeds = figures.seeds
    if seeds is None or seeds.max_delta_range is None:
        return
    if not seeds.within_band:
        yield (
            "seed_reproducibility",
            says(
                "seed_reproducibility",
                trials=seeds.runs,
                spread=seeds.delta_range,
                allowed=seeds.max_delta_range,
            ),
        )


def _gain_objections(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    if figures.mean_delta is None:
        return
    yield from _constant_objection(figures, policy)
    if figures.p_regression is not None and figures.p_regression <= policy.alpha / 2:
        said = says("significant_regression", loss=-figures.mean_delta)
        yield "significant_regression", said
    if not figures.mean_delta > policy.min_delta:
        said = _below_minimum(figures, policy, figures.mean_delta)
        yield "delta_below_minimum", said
    if not figures.passed:
        yield from _not_passed(figures, policy)
    if policy.evidence == "exact" and figures.evidence != "exact":
        yield "exact_evidence_required", _not_exact(figures.exact_lower_bound)


def _constant_objection(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that values without spread decide nothing where no exact bound can be had."""
    if figures.exact_lower_bound is not None:
        return
    equal = says("equal.sides")
    if figures.test == "paired":
        equal = says("equal.pairs")
    if figures.p_value is None:
        yield "zero_variance", says("zero_variance.no_test", equal=equal)
    elif _only_bound_objects(figures, policy):
        yield "zero_variance", says("zero_variance.p_alone", equal=equal, p=figures.p_value)


def _not_exact(bound: float | None) -> Says:
    if bound is None:
        return says("exact_evidence_required.unknown")
    return says("exact_evidence_required.bound", bound=bound)


def _not_passed(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield why the test did not pass: no gain worth finding, or too few cases to find one."""
    doubt = _doubt(figures, policy)
    if doubt is None:
        return
    if figures.is_without_change or figures.p_value is None:
        yield from _without_spread(figures, policy)
        return
    excluded = list(_excluded(figures, policy))
    if excluded:
        yield from excluded
        return
    detectable = figures.minimum_detectable_effect
    if detectable is not None and detectable <= policy.target_effect:
        yield "not_significant", says("not_significant", doubt=doubt, detectable=detectable)
        return
    yield "inconclusive_underpowered", _underpowered(doubt, detectable, policy)


def _underpowered(doubt: Says, detectable: float | None, policy: GatePolicy) -> Says:
    wanted = _wanted(policy)
    if not detectable:
        return says("inconclusive_underpowered.any", doubt=doubt, wanted=wanted)
    return says(
        "inconclusive_underpowered.large", doubt=doubt, detectable=detectable, wanted=wanted
    )


def _least(policy: GatePolicy) -> float:
    """Return the smallest gain that is worth finding."""
    return max(policy.target_effect, policy.min_delta)


def _wanted(policy: GatePolicy) -> Says:
    """Return which gain is worth finding, and whether a person said so: a record has every key of a policy."""
    least = _least(policy)
    if policy.target_effect == TARGET_EFFECT and policy.min_delta < TARGET_EFFECT:
        return says("wanted.by_default", gain=least)
    return says("wanted.by_policy", gain=least)


def _below_minimum(figures: Significance, policy: GatePolicy, gain: float) -> Says:
    bound = figures.exact_lower_bound
    if figures.is_without_change and bound is not None:
        return says(
            "delta_below_minimum.unchanged",
            least=policy.min_delta,
            loss=-bound,
            alpha=policy.alpha / 2,
        )
    return says("delta_below_minimum.gain", gain=gain, least=policy.min_delta)


def _without_spread(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield what the exact bound says of values that do not vary, so that more is known than that there is no p."""
    delta = figures.mean_delta
    bound = figures.exact_lower_bound
    if delta is None or bound is None:
        return  # zero_variance says it
    if delta <= policy.min_delta:
        yield from _excluded(figures, policy)
    elif figures.test == "paired":
        said = says("inconclusive_underpowered.alike", gain=delta, bound=bound)
        yield "inconclusive_underpowered", said
    else:
        yield "inconclusive_underpowered", says("inconclusive_underpowered.equal", bound=bound)


def _excluded(figures: Significance, policy: GatePolicy) -> Iterator[Blocker]:
    """Yield that no gain worth finding is left, if so."""
    high = figures.delta_ci_high
    if high is not None and high < _least(policy):
        said = says("gain_excluded", high=high, alpha=policy.alpha / 2, wanted=_wanted(policy))
        yield "gain_excluded", said


def _doubt(figures: Significance, policy: GatePolicy) -> Says | None:
    """Return what speaks against the gain although p may not; ``None`` if another reason says it."""
    if _is_significant(figures, policy):
        bound = figures.exact_lower_bound
        if bound is not None and _only_bound_objects(figures, policy):
            return says("doubt.equal", bound=bound)
        # zero_variance says it, or delta_below_minimum: it is significant in the wrong direction.
        return None
    if policy.min_delta:
        return says("doubt.above", least=policy.min_delta)
    return says("doubt.chance")


def _is_significant(figures: Significance, policy: GatePolicy) -> bool:
    return figures.p_value is not None and figures.p_value <= policy.alpha


def _only_bound_objects(figures: Significance, policy: GatePolicy) -> bool:
    """Whether p alone would pass, and only the bound that constant values need does not."""
    exceeds = figures.mean_delta is not None and figures.mean_delta > policy.min_delta
    return _is_significant(figures, policy) and exceeds and not figures.passed
