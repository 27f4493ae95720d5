"""The conditions of a promotion, in the one order in which a decision lists those that failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.gates import steps
from benchgate.sentences.says import says

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.gates.comparison import Comparison
    from benchgate.gates.figures import Figures
    from benchgate.gates.looks import JudgedLook
    from benchgate.gates.policy import GatePolicy
    from benchgate.sentences.says import Says


Step = Callable[["Figures", "GatePolicy"], "Says"]
"""Says what to do first about a condition, by the figures and the policy."""

NO_STEP: Final = says("step.look_at_reasons")
"""What to do about a condition that knows nothing better."""

OFF: Final = (None, "standard", "optional", "any")
"""Values of a policy key that turn a condition off."""


class Condition(NamedTuple):
    """
    What is known of a condition whatever the figures are. The checks are in ``decide`` and in what it calls.

    Its words are in :mod:`benchgate.sentences.conditions`.

    :param step: what to do first about a hold because of it, or what says so; options as of ``benchgate run``.
    :param log_step: the same where both sides are logs of another harness, if it is not ``step``.
    :param claims: those that it belongs to; ``switches`` are the policy keys that may turn it off.
    :param rejects: it is evidence against the candidate; all others hold, because the evidence is not sufficient.
    :param is_blind: the figures do not speak about the candidate, so that nothing is concluded from them.
    :param looks_again: its step is more evidence, and so another look at the baseline.
    :param is_of_run: it follows from a run, and no scores of its two sides tell it.
    """

    step: Says | Step = NO_STEP
    log_step: Says | None = None
    claims: tuple[str, ...] = ("better", "not_worse", "no_regression")
    switches: tuple[str, ...] = ()
    rejects: bool = False
    is_blind: bool = False
    looks_again: bool = False
    is_of_run: bool = False

    def applies(self, policy: GatePolicy) -> bool:
        """Return whether a policy asks for it; one of ``safety = "optional"`` does if there are penalties."""
        if policy.claim not in self.claims:
            return False
        return all(getattr(policy, key) not in OFF for key in self.switches)

    def step_for(self, *, is_log: bool) -> Says | Step:
        """Return what to do first, or what says so; ``is_log``: both sides are logs of another harness."""
        if is_log and self.log_step is not None:
            return self.log_step
        return self.step


_OF_TESTS: Final = (steps.too_few, steps.no_gain, steps.unsure, steps.no_margin)
"""Steps that ask for better results or for more of them: in vain at a look at which no scores can be promoted."""

CONDITIONS: Final[Mapping[str, Condition]] = {
    "incomplete_run": Condition(says("step.complete_runs"), is_blind=True, is_of_run=True),
    "stopped": Condition(says("step.improve"), is_blind=True, is_of_run=True),
    "too_many_unscored": Condition(
        says("step.fix_errors"), log_step=says("step.rerun_samples"), is_blind=True, is_of_run=True
    ),
    "unscored_decide": Condition(
        says("step.rerun_trials"), log_step=says("step.rerun_named_samples")
    ),
    "new_cases_decide": Condition(says("step.extend"), is_of_run=True),
    "cases_changed_the_answer": Condition(says("step.keep_cases")),
    "baseline_missing": Condition(says("step.pin")),
    "baseline_mismatch": Condition(says("step.new_baseline"), log_step=says("step.two_logs")),
    "observer_mismatch": Condition(),
    "observer_not_trusted": Condition(
        says("step.label"), switches=("observer_min_agreement",), is_of_run=True
    ),
    "looks_mismatch": Condition(says("step.declared_looks")),
    "looks_exhausted": Condition(says("step.new_series")),
    "checkpoint_mismatch": Condition(says("step.one_checkpoint"), is_of_run=True),
    "case_mismatch": Condition(
        steps.other_cases, log_step=says("step.same_cases_in_logs"), is_blind=True
    ),
    "score_out_of_range": Condition(says("step.wider_range")),
    "insufficient_cases": Condition(steps.too_few, claims=("better", "not_worse")),
    "zero_variance": Condition(says("step.range_for_bound")),
    "block_severity_failure_mode": Condition(rejects=True, is_of_run=True),
    "critical_case_regressed": Condition(switches=("critical_rule",), rejects=True),
    "newly_failing_cases": Condition(claims=("no_regression",), rejects=True),
    "case_regressed": Condition(claims=("no_regression",), rejects=True),
    "safety_regression": Condition(steps.harm_by_chance, switches=("safety",), rejects=True),
    "safety_upper_bound": Condition(
        steps.safety_bound, switches=("safety", "safety_confidence"), looks_again=True
    ),
    "safety_missing": Condition(steps.safety_missing),
    "safety_bound_unavailable": Condition(says("step.penalty_range")),
    "seed_reproducibility": Condition(says("step.trials"), looks_again=True),
    "significant_regression": Condition(rejects=True),
    "worse_than_margin": Condition(rejects=True),
    "delta_below_minimum": Condition(steps.no_gain),
    "gain_excluded": Condition(steps.no_gain),
    "not_significant": Condition(steps.unsure, looks_again=True),
    "inconclusive_underpowered": Condition(steps.unsure, looks_again=True),
    "margin_not_shown": Condition(steps.no_margin, looks_again=True),
    "exact_evidence_required": Condition(steps.unsure, switches=("evidence",), looks_again=True),
    "cost_increase": Condition(steps.cost, switches=("max_cost_increase",)),
}

CURED: Final = frozenset({"incomplete_run", "baseline_mismatch"})
"""Conditions that an incomplete run of either side fails; its cause says what to do."""

REASONS: Final = tuple(CONDITIONS)
OF_RUN: Final = frozenset(code for code, one in CONDITIONS.items() if one.is_of_run)
REJECTING: Final = frozenset(code for code, one in CONDITIONS.items() if one.rejects)
INCOMPARABLE: Final = frozenset(code for code, one in CONDITIONS.items() if one.is_blind)


def next_step(
    comparison: Comparison, codes: Sequence[str], look: JudgedLook | None, again: Says
) -> tuple[Says, ...]:
    """
    Return one thing to do: add cases or trials, choose a margin, or fix errors.

    :param look: at the baseline, if somebody counts.
    :param codes: the reasons of the decision without their prefix, in order; none if only further gates object.
    :param again: what another look at the baseline costs.
    """
    if not codes:
        return (says("step.ask_gate", gate=comparison.facts.objections[0].gate),)
    first = codes[0]
    if first in CURED and comparison.cure is not None:
        return (comparison.cure,)
    if first == "observer_mismatch" and comparison.how_to_observe is not None:
        return (comparison.how_to_observe,)
    code = _telling(codes)
    step = _step_for(code, comparison, look)
    if _looks_again(code, comparison):
        return step, again
    return (step,)


def _looks_again(code: str, comparison: Comparison) -> bool:
    """Return whether what to do leads to another look, at results that more evidence may change."""
    condition = CONDITIONS.get(code, Condition())
    if not condition.looks_again or comparison.figures is None:
        return False
    return not comparison.figures.significance.is_without_change


def step_after_rejection(comparison: Comparison, codes: Sequence[str]) -> tuple[Says, ...]:
    """Return what tells harm from chance, if nothing but the rise of the mean penalty rejects; else nothing helps."""
    rejecting = REJECTING.intersection(codes)
    if rejecting != {"safety_regression"} or comparison.figures is None:
        return ()
    if not comparison.figures.safety.chance_rejections:
        return ()
    return (steps.harm_by_chance(comparison.figures, comparison.judged),)


def _telling(codes: Sequence[str]) -> str:
    """Return the code that says best what to do: the first, unless a later one explains it."""
    first = codes[0]
    # More cases are of no use where a gain is excluded.
    if first in ("insufficient_cases", "delta_below_minimum") and "gain_excluded" in codes:
        return "gain_excluded"
    if first == "delta_below_minimum" and len(codes) > 1:
        return codes[1]
    return first


def _step_for(code: str, comparison: Comparison, look: JudgedLook | None) -> Says:
    step = CONDITIONS.get(code, Condition()).step_for(is_log=comparison.is_log)
    if not callable(step):
        return step
    if step in _OF_TESTS and _is_lost(look):
        return says("step.too_late")
    if comparison.figures is None:
        return NO_STEP
    return step(comparison.figures, comparison.judged)


def _is_lost(look: JudgedLook | None) -> bool:
    """Whether earlier looks left this one so little of alpha that no scores would be promoted."""
    return look is not None and look.number > 1 and not look.can_promote
