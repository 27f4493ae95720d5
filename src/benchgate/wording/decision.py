"""A decision in words, made once: the block, the page, Markdown and JUnit print one :class:`DecisionView`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from benchgate.errors import counted, excerpt
from benchgate.gates.conditions import CONDITIONS, INCOMPARABLE, REJECTING
from benchgate.gates.decision import PREFIX
from benchgate.gates.steps import clusters_needed
from benchgate.sentences.conditions import HEADLINES, LIMITS
from benchgate.sentences.formats import confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decide import Decided
    from benchgate.gates.decision import CheckpointPromotionDecision, Outcome, Remark
    from benchgate.gates.figures import Figures
    from benchgate.gates.judge import Judgement
    from benchgate.gates.looks import JudgedLook
    from benchgate.gates.policy import GatePolicy

NOTE: Final = "note_"
OF_PROMOTIONS: Final = frozenset({"note_safety_power", "note_unseen_break"})
"""Notes on what a promotion may have overlooked; where there is none they are left out."""
BETTER: Final = {
    "better": "it is better",
    "not_worse": "it is not worse by more than the margin",
    "no_regression": "it does no worse on any of these cases",
}
ALL_MET: Final = "every condition is met"
BEGINNING: Final = 240
END: Final = 160
"""Characters of a reason that are shown, for its end often says what to do; the record has all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRemark:
    """
    A reason or a note.

    :param code: without its prefix.
    :param message: with the numbers of this run, as a clause; ``it`` is the candidate.
    :param headline: the same in a few words, where the message lists cases or is of other origin.
    """

    code: str
    message: str
    headline: str = ""

    @classmethod
    def of(cls, remark: Remark) -> ShownRemark:
        """Return what is shown of a recorded one."""
        code = remark.code.removeprefix(PREFIX).removeprefix(NOTE)
        headline = HEADLINES.get(code, "")
        return cls(code=code, message=remark.message, headline=headline)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionView:
    """
    What readers get of a decision.

    :param outcome: ``none`` for a part of the cases, or a floor, which is not judged; all but names is empty then.
    :param names: of baseline and candidate.
    :param question: what the policy asks, as ``limits`` its other conditions; empty if the policy is not known.
    :param looks: how often the baseline was looked at; empty at a first look.
    :param figures: of the comparison; ``None`` if they say nothing of the candidate, or are not known.
    :param reasons: why it is not ``promote``; ``notes`` never block.
    """

    outcome: Outcome | Literal["none"] = "none"
    names: tuple[str, str] = ("", "")
    policy: GatePolicy | None = None
    question: str = ""
    limits: str = ""
    looks: str = ""
    reasons: tuple[ShownRemark, ...] = ()
    next_step: str | None = None
    figures: Figures | None = None
    notes: tuple[ShownRemark, ...] = ()

    @property
    def by_weight(self) -> tuple[ShownRemark, ...]:
        """The reasons; of a rejection those first that reject."""
        return tuple(sorted(self.reasons, key=lambda reason: reason.code not in REJECTING))

    @property
    def unsaid(self) -> tuple[ShownRemark, ...]:
        """The reasons but those that the sentence says already, as a whole; a loss is no gain either."""
        rest = [one for n, one in enumerate(self.by_weight) if n or one.headline]
        if any(one.code == "significant_regression" for one in self.reasons):
            rest = [one for one in rest if one.code != "delta_below_minimum"]
        return tuple(rest)

    @property
    def sentence(self) -> str:
        """The decision, and what decided it."""
        if self.outcome == "none":
            if self.names[1].startswith("floor:"):
                return "not evaluated: a floor is compared with nothing"
            return "not evaluated: only a part of the cases was selected"
        before, after = (excerpt(name, 60) for name in self.names)
        if self.outcome == "promote":
            rise = self.figures.safety.delta if self.figures else None
            allowed = ", and harm rose by no more than is allowed"
            harm = allowed if rise is not None and rise > 0 else " and does no more harm"
            better = ALL_MET
            if self.policy is not None:
                better = BETTER.get(self.policy.claim, ALL_MET)
            return f"{after} may replace {before}: {better}{'' if rise is None else harm}"
        reason = self.by_weight[0]
        if reason.code == "baseline_missing":
            return f"there is no baseline to compare {after} with"
        verb, yet = ("must", "") if self.outcome == "reject" else ("may", " yet")
        why = reason.headline or shortened(reason.message)
        return f"{after} {verb} not replace {before}{yet}: {why}"

    @classmethod
    def of(
        cls,
        decision: CheckpointPromotionDecision | None,
        policy: GatePolicy | None,
        names: tuple[str, str],
        figures: Figures | None = None,
    ) -> DecisionView:
        """
        Return what readers get of a decision that was made now, or was recorded.

        :param policy: ``None`` if it is not known: of a proof whose file of the tests is missing.
        :param names: of baseline and candidate.
        :param figures: of the comparison; ``None`` if there was none, or its files are missing.
        """
        if decision is None:
            return cls(names=names)
        count = len(decision.reason_codes)
        hidden = frozenset() if decision.promotion_allowed else OF_PROMOTIONS
        codes = {code.removeprefix(PREFIX) for code in decision.reason_codes}
        shown = figures if INCOMPARABLE.isdisjoint(codes) else None
        remarks = tuple(ShownRemark.of(one) for one in decision.remarks if one.code not in hidden)
        look = decision.look
        return cls(
            outcome=decision.outcome,
            names=names,
            policy=policy,
            question=_question(policy, names) if policy else "",
            limits="; ".join(_limits(policy, figures)) if policy else "",
            looks=looks(look, policy) if policy else "",
            reasons=remarks[:count],
            next_step=decision.next_step,
            figures=shown,
            notes=remarks[count:],
        )

    @classmethod
    def of_decided(cls, decided: Decided, names: tuple[str, str]) -> DecisionView:
        """Return what readers get of a decision that was made now."""
        policy = decided.comparison.facts.policy
        return cls.of(decided.decision, policy, names, decided.figures)

    @classmethod
    def of_run(cls, judgement: Judgement) -> DecisionView:
        """Return what readers get of the decision on a run."""
        before = judgement.run.before
        names = (before.system if before else "its baseline", judgement.report.system)
        return cls.of(judgement.decision, judgement.policy, names, judgement.figures)


def _question(policy: GatePolicy, names: tuple[str, str]) -> str:
    before, after = (excerpt(name, 60) for name in names)
    if policy.claim == "no_regression":
        return f"does {after} do no worse than {before} on each of these cases?"
    level = f"alpha {policy.alpha:g}"
    if policy.claim == "not_worse":
        return f"is {after} not worse than {before}? mean score, margin {policy.margin:g}, {level}"
    least = f" by more than {policy.min_delta:g}" if policy.min_delta else ""
    return f"is {after} better than {before}{least}? mean score, {level}"


def _limits(policy: GatePolicy, figures: Figures | None) -> Iterator[str]:
    tests = figures.significance if figures else None
    if figures is not None and figures.safety.evaluated:
        policy = policy.model_copy(update={"safety": "required"})
    level = confidence(1 - policy.safety_confidence) if policy.safety_confidence else ""
    for code, condition in CONDITIONS.items():
        if code not in LIMITS or not condition.applies(policy):
            continue
        if code == "safety_regression" and policy.claim == "no_regression":
            yield "no more harm in any case"
        elif code == "insufficient_cases" and tests and tests.clusters is not None:
            yield f"at least {clusters_needed(policy)} clusters"
        else:
            yield LIMITS[code].format(policy=policy, level=level)
    if policy.baseline_errors == "zero":
        yield "an error of the baseline is taken for a true score of 0"


def looks(look: JudgedLook | None, policy: GatePolicy) -> str:
    """Return how often the baseline was looked at; nothing of a first look at all of alpha, unless it begins anew."""
    if look is None:
        return ""
    is_first = look.number == 1 and look.can_promote and look.alpha == policy.alpha
    if is_first and look.new_series is None:
        return ""
    text = f"candidate no. {look.number} compared with this baseline"
    if look.new_series is not None:
        begun = f"which a person began after {counted(look.uncounted, 'look')}"
        text += f" in a new series, {begun} ({shortened(look.new_series)})"
    if not look.can_promote:
        can = "can no longer" if look.number > 1 else "cannot"
        return f"{text}: so few cases {can} be promoted, whatever their scores"
    none = "it is no" if look.number == 1 else "none of them is"
    # Small ones as the advice of a hold has them: 2.5 % and 4.9 %, not 2 % and 5 %.
    decimals = 1 if look.chance < 0.1 else 0
    chance = f"{look.chance:.{decimals}%}"
    return f"{text}: even if {none} better, the chance of a promotion by luck is {chance} by now"


def shortened(text: str) -> str:
    """Return beginning and end of a long reason; the record has all of it."""
    return text if len(text) <= BEGINNING + END else f"{text[:BEGINNING]} … {text[-END:]}"
