"""The conditions of a promotion, in the one order in which a decision lists those that failed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.errors import counted
from benchgate.gates.claim_reasons import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.gates.decision import GateInput
    from benchgate.gates.figures import Arm, Figures
    from benchgate.gates.looks import Look
    from benchgate.gates.policy import GatePolicy


NO_STEP: Final = "look at the reasons"
"""What to do about a condition that knows nothing better."""

OFF: Final = (None, "standard", "optional", "any")
"""Values of a policy key that turn a condition off."""


class Condition(NamedTuple):
    """
    What is known of a condition whatever the figures are; its check is in ``decide``.

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


def clusters_needed(policy: GatePolicy) -> int:
    """Return how many clusters a comparison needs: with fewer, the sign-flip p of no data is <= alpha / 2."""
    return max(policy.min_cases, math.ceil(1.0 - math.log2(policy.alpha)))


def _other_cases(figures: Figures, policy: GatePolicy) -> str:
    before = figures.baseline.case_ids
    after = figures.candidate.case_ids
    if before and after and {*before} != {*after} and policy.missing != "worst":
        keys = "--policy missing=worst --policy 'score_range=[LO, HI]'"
        return f"run the missing cases, or count each as the worst: {keys}"
    return "give both sides the same cases, with the same ids and clusters"


def _too_few(figures: Figures, policy: GatePolicy) -> str:
    clusters = figures.significance.clusters
    if clusters is None:
        return f"add {counted(policy.min_cases - figures.smallest, 'case')}"
    return f"add cases from {counted(clusters_needed(policy) - clusters, 'new source')}"


def _no_gain(figures: Figures, policy: GatePolicy) -> str:
    instead = "if no worse is enough, --policy=claim=not_worse --policy=margin=X"
    high = figures.significance.delta_ci_high
    if not _is_identical(figures) and high is not None and high > policy.min_delta:
        return f"improve it; or add cases and --policy=target_effect=X; or {instead}"
    return f"more cases will not help: improve the candidate; {instead}"


def _unsure(figures: Figures, policy: GatePolicy) -> str:
    if _is_identical(figures):
        return _no_gain(figures, policy)
    return _more_cases(figures) or "add cases, or add trials to each if one case varies much"


def _more_cases(figures: Figures) -> str | None:
    there = figures.compared
    needed = figures.significance.cases_needed
    if needed is None or needed <= there:
        return None
    what = "cases"
    if figures.significance.clusters is not None:
        what = "cases from new sources"
    return f"add {what}: about {needed - there} more to the {there} there are"


def _is_identical(figures: Figures) -> bool:
    pairs = figures.baseline.paired_with(figures.candidate) or ()
    return bool(pairs) and all(abs(p.before - p.after) <= TOLERANCE for p in pairs)


def _no_margin(figures: Figures, policy: GatePolicy) -> str:
    if figures.significance.delta_ci_low is None:
        return "set score_range, so that the difference can be bounded"
    if policy.test == "welch" and figures.baseline.paired_with(figures.candidate):
        return "--policy=test=auto: both sides have the same cases, and pairs show a smaller margin"
    return _more_cases(figures) or (
        "improve the candidate; or plan a new comparison with a margin that this size can show"
    )


MEASURE_HARM: Final = (
    "measure the penalty on every case: in the rubric; of a log, --map harm=FIELD or safety=FIELD"
)


def _safety_missing(figures: Figures, policy: GatePolicy) -> str:
    before = _unscored(figures.baseline)
    after = _unscored(figures.candidate)
    if before is None or after is None:
        return "give the penalties of both sides, or --policy=safety=optional"
    if figures.baseline.penalties is None and figures.candidate.penalties is None:
        return f"if nothing here can do harm, say so: --policy=safety=optional; else {MEASURE_HARM}"
    if after and policy.penalty_range is None:
        return "run what has no score again; or set penalty_range, so that it counts as the largest penalty"
    if before or after:
        return f"run what has no score again: {before} trials of the baseline, {after} of the candidate"
    return MEASURE_HARM


def _unscored(arm: Arm) -> int | None:
    """Return how many trials of a side have no score; ``None`` of plain scores, which do not say."""
    if arm.facts is None:
        return None
    return sum(facts.unscored for facts in arm.facts)


def _safety_bound(_: Figures, policy: GatePolicy) -> str:
    if not policy.max_safety_regression:
        return "no number of cases can show that nothing rises: set max_safety_regression above 0"
    return "add cases: the bound on the penalty narrows with their number"


def _cost(figures: Figures, _: GatePolicy) -> str:
    if figures.cost is None:
        return (
            "have both systems report what a case costs: case.usage, on runs, not on sample files"
        )
    return "lower the cost, or raise max_cost_increase"


NEW_SERIES: Final = "begin a new series of looks and say why: --new-series REASON of benchgate pin, or of gate --ledger"

_OF_TESTS: Final = (_too_few, _no_gain, _unsure, _no_margin)
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
        _other_cases,
        "give both logs the same cases and clusters; with --policy missing=worst a case that one side lacks counts "
        "against the candidate",
        is_blind=True,
    ),
    "score_out_of_range": Condition(
        "a score is outside the range that was given", "set score_range to that of the scores"
    ),
    "insufficient_cases": Condition(
        step=_too_few, limit="at least {0.min_cases} cases", claims=("better", "not_worse")
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
        "it does more harm",
        limit="safety penalty up by at most {0.max_safety_regression:g}",
        switches=("safety",),
        rejects=True,
    ),
    "safety_upper_bound": Condition(
        step=_safety_bound,
        limit="its {1} bound too",
        switches=("safety", "safety_confidence"),
        looks_again=True,
    ),
    "safety_missing": Condition(step=_safety_missing),
    "safety_bound_unavailable": Condition(step="set penalty_range"),
    "seed_reproducibility": Condition(
        step="add trials: those of the candidate disagree", looks_again=True
    ),
    "sample_sensitivity": Condition(
        "the result depends on which of the cases are looked at",
        "look at the cases along which the difference drifts; add cases of both kinds",
    ),
    "significant_regression": Condition(rejects=True),
    "worse_than_margin": Condition(rejects=True),
    "delta_below_minimum": Condition(step=_no_gain),
    "gain_excluded": Condition(step=_no_gain),
    "not_significant": Condition(step=_unsure, looks_again=True),
    "inconclusive_underpowered": Condition(step=_unsure, looks_again=True),
    "margin_not_shown": Condition(step=_no_margin, looks_again=True),
    "exact_evidence_required": Condition(
        step=_unsure, limit="exact evidence", switches=("evidence",), looks_again=True
    ),
    "cost_increase": Condition(
        step=_cost,
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
    inputs: GateInput, codes: Sequence[str], look: Look | None = None, again: str = ""
) -> str:
    """
    Return one thing to do: add cases or trials, choose a margin, or fix errors.

    :param look: at the baseline, if somebody counts.
    :param codes: the reasons of the decision without their prefix, in order; none if only further gates object.
    :param again: what another look at the baseline costs.
    """
    if not codes:
        return f"do what the gate {inputs.further[0][0]} asks for"
    first = codes[0]
    if first in CURED and inputs.cure is not None:
        return inputs.cure
    if first == "observer_mismatch":  # which ends with that
        return dict(inputs.blockers)[first].rpartition("; ")[2]
    code = _telling(codes)
    text = _step_for(code, inputs, look)
    if again and _looks_again(code, inputs):
        return f"{text}; {again}"
    return text


def _looks_again(code: str, inputs: GateInput) -> bool:
    """Return whether what to do leads to another look, at results that more evidence may change."""
    condition = CONDITIONS.get(code, Condition())
    if not condition.looks_again or inputs.figures is None:
        return False
    return not _is_identical(inputs.figures)


def _telling(codes: Sequence[str]) -> str:
    """Return the code that says best what to do: the first, unless a later one explains it."""
    first = codes[0]
    # More cases are of no use where a gain is excluded.
    if first in ("insufficient_cases", "delta_below_minimum") and "gain_excluded" in codes:
        return "gain_excluded"
    if first == "delta_below_minimum" and len(codes) > 1:
        return codes[1]
    return first


def _step_for(code: str, inputs: GateInput, look: Look | None) -> str:
    step = CONDITIONS.get(code, Condition()).step_for(is_log=inputs.is_log)
    if isinstance(step, str):
        return step
    if step in _OF_TESTS and _is_lost(look):
        return "add cases: after so many candidates so few cannot promote"
    if inputs.figures is None:
        return NO_STEP
    return step(inputs.figures, inputs.policy)


def _is_lost(look: Look | None) -> bool:
    """Whether earlier looks left this one so little of alpha that no scores would be promoted."""
    return look is not None and look.number > 1 and not look.can_promote
