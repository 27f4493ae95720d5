"""The conditions of a promotion, in the one order in which a decision lists those that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.gates import steps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.gates.comparison import Comparison
    from benchgate.gates.figures import Figures
    from benchgate.gates.looks import JudgedLook
    from benchgate.gates.policy import GatePolicy


NO_STEP: Final = "look at the reasons"
"""What to do about a condition that knows nothing better."""

OFF: Final = (None, "standard", "optional", "any")
"""Values of a policy key that turn a condition off."""


class Condition(NamedTuple):
    """
    What is known of a condition whatever the figures are. The checks are in ``decide`` and in what it calls.

    :param headline: that it failed, where the message has more than a first line can; ``it`` is the candidate.
    :param step: what to do first about a hold because of it, or what says so; options as of ``benchgate run``.
    :param log_step: the same where both sides are logs of another harness, if it is not ``step``.
    :param limit: what it asks for, with the fields of the policy, and the level of its bound.
    :param claims: those that it belongs to; ``switches`` are the policy keys that may turn it off.
    :param rejects: it is evidence against the candidate; all others hold, because the evidence is not sufficient.
    :param is_blind: the figures do not speak about the candidate, so that nothing is concluded from them.
    :param looks_again: its step is more evidence, and so another look at the baseline.
    """

    headline: str = ""
    step: str | Callable[[Figures, GatePolicy], str] = NO_STEP
    log_step: str = ""
    limit: str = ""
    claims: tuple[str, ...] = ("better", "not_worse", "no_regression")
    switches: tuple[str, ...] = ()
    rejects: bool = False
    is_blind: bool = False
    looks_again: bool = False

    def applies(self, policy: GatePolicy) -> bool:
        """Return whether a policy asks for it; one of ``safety = "optional"`` does if there are penalties."""
        if policy.claim not in self.claims:
            return False
        return all(getattr(policy, key) not in OFF for key in self.switches)

    def step_for(self, *, is_log: bool) -> str | Callable[[Figures, GatePolicy], str]:
        """Return what to do first, or what says so; ``is_log``: both sides are logs of another harness."""
        if is_log and self.log_step:
            return self.log_step
        return self.step


NEW_SERIES: Final = "begin a new series of looks and say why: --new-series REASON of benchgate pin, or of gate --ledger"

_OF_TESTS: Final = (steps.too_few, steps.no_gain, steps.unsure, steps.no_margin)
"""Steps for reasons that no scores can do away with at a look at which nothing is promoted."""

CONDITIONS: Final[Mapping[str, Condition]] = {
    "incomplete_run": Condition(
        "some cases have no usable result, so that nothing can be compared",
        step="give complete runs, one sample per case and repetition",
        is_blind=True,
    ),
    "stopped": Condition(step="improve the candidate: the rest would not help", is_blind=True),
    "too_many_unscored": Condition(
        "too many trials ended in an error, which says little about it",
        "fix the errors, then run again",
        "run the samples that erred again in their harness, and give the new log",
        is_blind=True,
    ),
    "unscored_decide": Condition(
        "whether it is good enough depends on results that are missing",
        "fix the errors, then run the named trials again; if a crash is the true result of the baseline, say so: "
        "--policy=baseline_errors=zero",
        "run the named samples again in their harness, and give the new log; if a crash is the true result of the "
        "baseline, say so: --policy=baseline_errors=zero",
    ),
    "new_cases_decide": Condition(
        "whether it is good enough depends on cases that the baseline lacks",
        step="run the baseline on the new cases: benchgate pin --extend --task-class CLASS --yes",
    ),
    "cases_changed_the_answer": Condition(
        "whether it is good enough depends on cases that were retired or changed after a look",
        step=f"leave the cases of earlier looks as they were; or {NEW_SERIES}",
    ),
    "baseline_missing": Condition(
        step="pin a complete run as the baseline: benchgate pin RUN --yes"
    ),
    "baseline_mismatch": Condition(
        "the baseline is no complete run of the same cases with the same score",
        "make the baseline again on these cases, or run it too: --baseline=run:SYSTEM",
        "give two complete logs of the same cases and the same score",
    ),
    "observer_mismatch": Condition(
        "the outputs of the baseline were observed by another observer, or more or less often"
    ),
    "observer_not_trusted": Condition(
        "too little is known of how far the observer agrees with people",
        "label outputs, of this run or of others that it observed: benchgate report RUN --labels 40",
        limit="observer and people agree on at least {0.observer_min_agreement:g}",
        switches=("observer_min_agreement",),
    ),
    "looks_mismatch": Condition(
        "looks at this baseline were declared otherwise before the first",
        f"judge it with the looks that were declared, or {NEW_SERIES}",
    ),
    "looks_exhausted": Condition(
        "all looks that were declared before the first are used",
        f"{NEW_SERIES}; with more cases, so that one look is enough",
    ),
    "checkpoint_mismatch": Condition(
        "the results may belong to another checkpoint",
        "fix which checkpoint is played, then run again",
    ),
    "case_mismatch": Condition(
        "the two sides did not do the same cases",
        steps.other_cases,
        "give both logs the same cases and clusters; with --policy missing=worst a case that one side lacks counts "
        "against the candidate",
        is_blind=True,
    ),
    "score_out_of_range": Condition(
        "a score is outside the range that was given", "set score_range to that of the scores"
    ),
    "insufficient_cases": Condition(
        step=steps.too_few, limit="at least {0.min_cases} cases", claims=("better", "not_worse")
    ),
    "zero_variance": Condition(step="set score_range, so that a bound can decide"),
    "block_severity_failure_mode": Condition(
        "something happened that must never happen", rejects=True
    ),
    "critical_case_regressed": Condition(
        "a case that must not fail fails now",
        limit="critical cases fail by the majority of trials",
        switches=("critical_rule",),
        rejects=True,
    ),
    "newly_failing_cases": Condition(
        "cases that passed before fail now",
        limit="at most {0.max_newly_failing} newly failing",
        claims=("no_regression",),
        rejects=True,
    ),
    "case_regressed": Condition(
        "a case became worse",
        limit="no case down by more than {0.tolerance:g}",
        claims=("no_regression",),
        rejects=True,
    ),
    "safety_regression": Condition(
        "harm rose by more than is allowed",
        step=steps.harm_by_chance,
        limit="harm up by at most {0.max_safety_regression:g}",
        switches=("safety",),
        rejects=True,
    ),
    "safety_upper_bound": Condition(
        step=steps.safety_bound,
        limit="its {1} bound too",
        switches=("safety", "safety_confidence"),
        looks_again=True,
    ),
    "safety_missing": Condition(step=steps.safety_missing),
    "safety_bound_unavailable": Condition(step="set penalty_range"),
    "seed_reproducibility": Condition(
        step="add trials, not cases: those of the candidate behave like different runs",
        looks_again=True,
    ),
    "significant_regression": Condition(rejects=True),
    "worse_than_margin": Condition(rejects=True),
    "delta_below_minimum": Condition(step=steps.no_gain),
    "gain_excluded": Condition(step=steps.no_gain),
    "not_significant": Condition(step=steps.unsure, looks_again=True),
    "inconclusive_underpowered": Condition(step=steps.unsure, looks_again=True),
    "margin_not_shown": Condition(step=steps.no_margin, looks_again=True),
    "exact_evidence_required": Condition(
        step=steps.unsure, limit="exact evidence", switches=("evidence",), looks_again=True
    ),
    "cost_increase": Condition(
        step=steps.cost,
        limit="cost up by at most {0.max_cost_increase:.1%}",
        switches=("max_cost_increase",),
    ),
}

CURED: Final = frozenset({"incomplete_run", "baseline_mismatch"})
"""Conditions that an incomplete run of either side fails; its cause says what to do."""

REASONS: Final = tuple(CONDITIONS)
REJECTING: Final = frozenset(code for code, one in CONDITIONS.items() if one.rejects)
INCOMPARABLE: Final = frozenset(code for code, one in CONDITIONS.items() if one.is_blind)


def next_step(
    comparison: Comparison, codes: Sequence[str], look: JudgedLook | None = None, again: str = ""
) -> str:
    """
    Return one thing to do: add cases or trials, choose a margin, or fix errors.

    :param look: at the baseline, if somebody counts.
    :param codes: the reasons of the decision without their prefix, in order; none if only further gates object.
    :param again: what another look at the baseline costs.
    """
    if not codes:
        return f"do what the gate {comparison.facts.objections[0].gate} asks for"
    first = codes[0]
    if first in CURED and comparison.cure is not None:
        return comparison.cure
    if first == "observer_mismatch":  # which ends with that
        return dict(comparison.blockers)[first].rpartition("; ")[2]
    code = _telling(codes)
    text = _step_for(code, comparison, look)
    if again and _looks_again(code, comparison):
        return f"{text}; {again}"
    return text


def _looks_again(code: str, comparison: Comparison) -> bool:
    """Return whether what to do leads to another look, at results that more evidence may change."""
    condition = CONDITIONS.get(code, Condition())
    if not condition.looks_again or comparison.figures is None:
        return False
    return not comparison.figures.significance.is_without_change


def step_after_rejection(comparison: Comparison, codes: Sequence[str]) -> str | None:
    """Return what tells harm from chance, if nothing but the rise of the mean penalty rejects; else nothing helps."""
    rejecting = REJECTING.intersection(codes)
    if rejecting != {"safety_regression"} or comparison.figures is None:
        return None
    if not comparison.figures.safety.chance_rejections:
        return None
    return steps.harm_by_chance(comparison.figures, comparison.policy)


def _telling(codes: Sequence[str]) -> str:
    """Return the code that says best what to do: the first, unless a later one explains it."""
    first = codes[0]
    # More cases are of no use where a gain is excluded.
    if first in ("insufficient_cases", "delta_below_minimum") and "gain_excluded" in codes:
        return "gain_excluded"
    if first == "delta_below_minimum" and len(codes) > 1:
        return codes[1]
    return first


def _step_for(code: str, comparison: Comparison, look: JudgedLook | None) -> str:
    step = CONDITIONS.get(code, Condition()).step_for(is_log=comparison.is_log)
    if isinstance(step, str):
        return step
    if step in _OF_TESTS and _is_lost(look):
        return "add cases: after so many candidates so few cannot promote"
    if comparison.figures is None:
        return NO_STEP
    return step(comparison.figures, comparison.policy)


def _is_lost(look: JudgedLook | None) -> bool:
    """Whether earlier looks left this one so little of alpha that no scores would be promoted."""
    return look is not None and look.number > 1 and not look.can_promote
