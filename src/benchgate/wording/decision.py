"""A decision in words, made once: the block, the page, Markdown and JUnit print one :class:`DecisionView`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from benchgate.errors import counted, excerpt
from benchgate.gates.claim_reasons import confidence, spent
from benchgate.gates.conditions import CONDITIONS, INCOMPARABLE, clusters_needed
from benchgate.gates.decide import UNDETECTABLE
from benchgate.gates.decision import PREFIX
from benchgate.gates.policy import POWER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import CheckpointPromotionDecision, Outcome, Remark
    from benchgate.gates.figures import Figures, Significance
    from benchgate.gates.judge import Judgement
    from benchgate.gates.looks import Look
    from benchgate.gates.policy import GatePolicy

NOTE: Final = "note_"
OF_PROMOTIONS: Final = frozenset({"note_safety_power", "note_unseen_failure_bound"})
"""Notes on what a promotion may have overlooked; where there is none they are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRemark:
    """
    A reason or a note.

    :param code: without its prefix.
    :param message: with the numbers of this run.
    :param plain: a reason for readers who never trained anything; empty where it is not to be said.
    """

    code: str
    message: str
    plain: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionView:
    """
    What readers get of a decision.

    :param outcome: ``none`` for a part of the cases, which is not judged; all else is empty then.
    :param question: what the policy asks, as ``limits`` its other conditions; empty if the policy is not known.
    :param looks: how often the baseline was looked at; empty at a first look.
    :param can_promote: a candidate could be promoted at this look.
    :param figures: name and value of each figure of the comparison; empty if they say nothing of the candidate.
    :param reasons: why it is not ``promote``; ``notes`` never block.
    """

    outcome: Outcome | Literal["none"] = "none"
    question: str = ""
    limits: str = ""
    looks: str = ""
    can_promote: bool = True
    answer: str = ""
    reasons: tuple[ShownRemark, ...] = ()
    next_step: str | None = None
    figures: tuple[tuple[str, str], ...] = ()
    notes: tuple[ShownRemark, ...] = ()

    @classmethod
    def of(
        cls,
        decision: CheckpointPromotionDecision | None,
        policy: GatePolicy | None,
        names: tuple[str, str],
        figures: Figures | None = None,
        *,
        is_log: bool = False,
        evidence: tuple[Significance | None, bool] | None = None,
    ) -> DecisionView:
        """
        Return what readers get of a decision that was made now, or was recorded.

        :param policy: ``None`` if it is not known: of a proof whose file of the tests is missing.
        :param names: of baseline and candidate.
        :param figures: of the comparison; of a record, ``evidence`` has its tests and whether penalties were compared.
        :param is_log: the results were read from the log of another harness.
        """
        if decision is None:
            return cls()
        if figures is not None:
            evidence = figures.significance, figures.safety.evaluated
        count = len(decision.reason_codes)
        hidden = frozenset() if decision.promotion_allowed else OF_PROMOTIONS
        reasons = tuple(_shown(one, in_plain=is_log) for one in decision.remarks[:count])
        is_comparable = INCOMPARABLE.isdisjoint(reason.code for reason in reasons)
        look = decision.look
        return cls(
            outcome=decision.outcome,
            question=_question(policy, names) if policy else "",
            limits="; ".join(_limits(policy, *(evidence or (None, False)))) if policy else "",
            looks=looks(look, policy) if policy else "",
            can_promote=look is None or look.can_promote,
            answer=_answer(decision),
            reasons=reasons,
            next_step=decision.next_step,
            figures=tuple(_figures(policy, decision, figures))
            if policy and figures is not None and is_comparable
            else (),
            notes=tuple(_shown(one) for one in decision.remarks[count:] if one.code not in hidden),
        )

    @classmethod
    def of_run(cls, judgement: Judgement) -> DecisionView:
        """Return what readers get of the decision on a run."""
        before = judgement.baseline.report if judgement.baseline else None
        names = (before.system if before else "its baseline", judgement.report.system)
        is_log = judgement.report.source is not None
        return cls.of(judgement.decision, judgement.policy, names, judgement.figures, is_log=is_log)


def _shown(remark: Remark, *, in_plain: bool = False) -> ShownRemark:
    code = remark.code.removeprefix(PREFIX).removeprefix(NOTE)
    plain = CONDITIONS[code].plain if in_plain and code in CONDITIONS else ""
    return ShownRemark(code=code, message=remark.message, plain=plain)


def _question(policy: GatePolicy, names: tuple[str, str]) -> str:
    before, after = (excerpt(name, 60) for name in names)
    if policy.claim == "no_regression":
        return f"does {after} do no worse than {before} on each of these cases?"
    level = f"alpha {policy.alpha:g}"
    if policy.claim == "not_worse":
        return f"is {after} not worse than {before}? mean score, margin {policy.margin:g}, {level}"
    least = f" by more than {policy.min_delta:g}" if policy.min_delta else ""
    return f"is {after} better than {before}{least}? mean score, {level}"


def _limits(policy: GatePolicy, tests: Significance | None, has_penalties: bool) -> Iterator[str]:
    if has_penalties:
        policy = policy.model_copy(update={"safety": "required"})
    level = confidence(1 - policy.safety_confidence) if policy.safety_confidence else ""
    for code, condition in CONDITIONS.items():
        if not condition.limit or not condition.applies(policy):
            continue
        if code == "safety_regression" and policy.claim == "no_regression":
            yield "no case's safety penalty up"
        elif code == "insufficient_cases" and tests and tests.clusters is not None:
            yield f"at least {clusters_needed(policy)} clusters"
        else:
            yield condition.limit.format(policy, level)
    if policy.baseline_errors == "zero":
        yield "an error of the baseline is taken for a true score of 0"


def looks(look: Look | None, policy: GatePolicy) -> str:
    """Return how often the baseline was looked at; nothing of a first look at the whole of alpha."""
    if look is None or (look.number == 1 and look.can_promote and look.alpha == policy.alpha):
        return ""
    text = f"look {look.number} against this baseline, at alpha {look.alpha:.3g}"
    if not look.can_promote:
        return f"{text}: so few cases can no longer be promoted, whatever their scores"
    share = f"one in {int(1 / look.chance)}" if look.chance < 0.4 else f"{look.chance:.0%} of"
    return f"{text}: at this count up to {share} worthless series would have had a promotion"


def _answer(decision: CheckpointPromotionDecision) -> str:
    if decision.outcome == "promote":
        return "yes: every condition is met"
    if decision.outcome == "reject":
        return "no: there is evidence against it"
    if all(code.startswith(f"{PREFIX}gate:") for code in decision.reason_codes):
        return "yes by these figures, but a further gate objects"
    return "not shown: the evidence is not enough"


def _figures(
    policy: GatePolicy, decision: CheckpointPromotionDecision, figures: Figures
) -> Iterator[tuple[str, str]]:
    significance, limit = figures.significance, policy.max_safety_regression
    if significance.mean_delta is not None:
        yield "delta", ", ".join(_delta(policy, figures))
    effect = significance.minimum_detectable_effect
    if (
        policy.claim == "better"
        and decision.outcome == "hold"
        and significance.mean_delta is not None
    ):
        text = UNDETECTABLE if effect is None else f"to find a difference of {effect:.3f}"
        yield "power", f"{POWER:.0%}{':' * (effect is None)} {text}"
    if figures.cost is not None:
        yield "cost", f"of a case {spent(figures.cost)}"
    if figures.safety.delta is not None:
        allowed = "" if policy.claim == "no_regression" else f", allowed rise {limit:.3f}"
        yield "penalty", f"{figures.safety.delta:+.3f}{allowed}"


def _delta(policy: GatePolicy, figures: Figures) -> Iterator[str]:
    tests = figures.significance
    yield f"{tests.mean_delta:+.3f}"
    clusters = "" if tests.clusters is None else f" in {counted(tests.clusters, 'cluster')}"
    size = f"n={figures.compared}{clusters}"
    if tests.test == "none":
        yield f"on exactly these {counted(figures.compared, 'case')}"
        return
    interval = "undefined"
    if tests.delta_ci_low is not None and tests.delta_ci_high is not None:
        interval = f"[{tests.delta_ci_low:+.3f}, {tests.delta_ci_high:+.3f}]"
    yield f"{confidence(tests.alpha)} interval {interval}"
    if tests.p_value is None and policy.claim == "not_worse":  # its bound decides
        yield f"({tests.test}, {size})"
        return
    p = "undefined" if tests.p_value is None else f"{tests.p_value:.4g}"
    yield f"p {p} ({tests.test}, {size})"
