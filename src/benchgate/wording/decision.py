"""
A decision in rows, made once: terminal, Markdown, page and JUnit lay out one :class:`DecisionView`.

This is the one place that walks the reasons and notes of a decision. A row has a label, a text and a tone. The rows
repeat figures of the comparison and of the decision, and compute none. What says something of a decision is imported
where it is used: most runs have none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from benchgate.errors import counted
from benchgate.sentences.formats import confidence, percent
from benchgate.wording.cases import failure_codes
from benchgate.wording.figures import Harm, Part, only_score, parts_of, score, test
from benchgate.wording.lines import Line, at_door, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.gates.decide import Decided
    from benchgate.gates.decision import CheckpointPromotionDecision, Outcome
    from benchgate.gates.figures import Figures
    from benchgate.gates.judge import Judgement
    from benchgate.gates.looks import JudgedLook
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport
    from benchgate.wording.lines import Tone

NOTE: Final = "note_"
OF_PROMOTIONS: Final = frozenset({"note_safety_power", "note_unseen_break"})
"""Notes on what a promotion may have overlooked; where there is none they are left out."""

QUIET: Final = frozenset(
    {
        "clusters",
        "epochs_collapsed",
        "unscored_candidate",
        "welch_paired_disagree",
        "zero_variance_exact_bound_used",
    }
)
"""Notes that change nothing for a reader who asks for no details, or that a row of a run says too."""

TONES: Final[Mapping[str, Tone]] = {"promote": "good", "hold": "caution", "reject": "bad"}
LABELS: Final = {
    "block_severity_failure_mode": "block",
    "critical_case_regressed": "critical",
    "cost_increase": "cost",
}
"""Reasons with a label of their own; their messages name the cases."""

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
class DecisionView:
    """
    What readers get of a decision: rows, in parts that a medium puts where it likes.

    :param outcome: ``none`` for a part of the cases, or a floor, which is not judged; there is no row but the headline
        and the score then.
    :param headline: the decision and what decided it, with the code of that reason.
    :param not_compared: which cases were not compared.
    :param reasons: what the headline does not say, with the codes of further reasons.
    :param parts: how the parts of the score changed, if it has some.
    :param is_harmful: harm speaks against the candidate.
    :param harm: how much harm both sides do, unless a reason says it; ``harm_counts`` in how many cases there is more
        and less of it, ``harm_cases`` in which.
    :param people: how far the observer agrees with people.
    :param careful: what to keep in mind: how often the baseline was looked at, and notes.
    :param rule: what was asked, and the other conditions.
    :param next_step: what to do first about it; empty if nobody knows.
    :param lacks_baseline: nothing but the missing baseline holds it.
    :param figures: of the comparison, for plots; ``None`` if they say nothing of the candidate, or are not known.
    """

    headline: Line
    outcome: Outcome | Literal["none"] = "none"
    not_compared: tuple[Line, ...] = ()
    reasons: tuple[Line, ...] = ()
    score: tuple[Line, ...] = ()
    parts: tuple[Part, ...] = ()
    is_harmful: bool = False
    harm: tuple[Line, ...] = ()
    harm_counts: tuple[Line, ...] = ()
    harm_cases: tuple[Line, ...] = ()
    test: tuple[Line, ...] = ()
    people: tuple[Line, ...] = ()
    careful: tuple[Line, ...] = ()
    rule: tuple[Line, ...] = ()
    next_step: str = ""
    lacks_baseline: bool = False
    figures: Figures | None = None

    @classmethod
    def of(
        cls,
        decision: CheckpointPromotionDecision | None,
        policy: GatePolicy | None,
        names: tuple[str, str],
        figures: Figures | None = None,
        report: BenchRunReport | None = None,
        *,
        prefix: str = "--",
    ) -> DecisionView:
        """
        Return what readers get of a decision that was made now, or was recorded.

        :param policy: ``None`` if it is not known: of a proof whose file of the tests is missing.
        :param names: of baseline and candidate; empty if nobody knows it.
        :param figures: of the comparison; ``None`` if there was none, or its files are missing.
        :param report: of the candidate; ``None`` for plain vectors.
        :param prefix: of the options that a reader can type.
        """
        if decision is None:
            headline = Line("gate", _not_judged(names[1]), strong=True)
            return cls(headline=headline, score=tuple(only_score(report)))
        from benchgate.gates.conditions import INCOMPARABLE

        said = Said.of(decision, prefix)
        if not said.codes.isdisjoint(INCOMPARABLE):
            figures = None  # they say nothing of the candidate
        tails = {}
        if report is not None:
            tails = failure_codes(report.per_case)
        text = _sentence(decision.outcome, said, policy, names, figures)
        is_harmful = "safety_regression" in said.codes
        harm = Harm.of(
            figures,
            policy,
            tails,
            said.codes,
            is_promoted=decision.promotion_allowed,
        )
        return cls(
            headline=Line(
                decision.outcome.upper(),
                text,
                TONES[decision.outcome],
                strong=True,
                code=said.first,
            ),
            outcome=decision.outcome,
            not_compared=tuple(said.notes["compared"]),
            reasons=tuple(said.rest()),
            score=tuple(score(figures, policy, report)),
            is_harmful=is_harmful,
            harm=harm.means,
            harm_counts=harm.counts,
            harm_cases=harm.cases,
            test=tuple(test(figures, policy, said.notes["test"])),
            people=tuple(said.notes["people"]),
            careful=tuple(_careful(decision.look, policy, figures, said.notes["careful"])),
            rule=tuple(_rule(policy, names, figures)),
            next_step=at_door(decision.advice, prefix),
            lacks_baseline=said.codes == {"baseline_missing"},
            figures=figures,
        )

    @classmethod
    def of_decided(cls, decided: Decided, names: tuple[str, str]) -> DecisionView:
        """Return what readers get of a decision that was made now."""
        policy = decided.comparison.facts.policy
        return cls.of(decided.decision, policy, names, decided.figures)

    @classmethod
    def of_run(cls, judgement: Judgement, prefix: str = "--") -> DecisionView:
        """Return what readers get of the decision on a run."""
        before = ""
        if judgement.run.before is not None:
            before = judgement.run.before.system
        report = judgement.report
        names = (before, report.system)
        view = cls.of(
            judgement.decision, judgement.policy, names, judgement.figures, report, prefix=prefix
        )
        return replace(view, parts=parts_of(report, judgement.run.before))


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """
    The reasons and notes of a decision as rows.

    :param reasons: of a rejection those first that reject.
    :param notes: by the part that has them.
    """

    reasons: list[Line]
    notes: Mapping[str, list[Line]]

    @classmethod
    def of(cls, decision: CheckpointPromotionDecision, prefix: str) -> Said:
        """Walk the reasons and notes of a decision."""
        from benchgate.gates.conditions import REJECTING
        from benchgate.gates.decision import PREFIX

        tone = TONES[decision.outcome]
        reasons: list[Line] = []
        notes: dict[str, list[Line]] = {"compared": [], "test": [], "people": [], "careful": []}
        for number, remark in enumerate(decision.remarks):
            code = remark.code.removeprefix(PREFIX).removeprefix(NOTE)
            text = at_door(shortened(remark.text), prefix)
            if number < len(decision.reason_codes):
                reasons.append(Line(LABELS.get(code, "why"), text, tone, code=code))
            elif decision.promotion_allowed or remark.code not in OF_PROMOTIONS:
                part = PARTS.get(code, "careful")
                note_tone: Tone = "plain"
                if part == "compared":
                    note_tone = "caution"
                row = Line(part, text, note_tone, code=code, is_detail=code in QUIET)
                notes[part].append(row)
        reasons.sort(key=lambda row: row.code not in REJECTING)
        return cls(reasons=reasons, notes=notes)

    @property
    def codes(self) -> frozenset[str]:
        """The codes of the reasons."""
        return frozenset(row.code for row in self.reasons)

    @property
    def first(self) -> str:
        """The code of the reason that the headline says; empty if nothing speaks against the candidate."""
        if not self.reasons:
            return ""
        return self.reasons[0].code

    def rest(self) -> Iterator[Line]:
        """Yield what the headline does not say: its reason, if it says that in few words, and all others."""
        for row in self.reasons:
            if row.code == self.first:
                if few_words(row.code):
                    yield replace(row, code="")
            elif row.code == "delta_below_minimum" and "significant_regression" in self.codes:
                yield replace(row, is_detail=True)  # a loss is no gain
            elif few_words(row.code) and row.label == "why":
                yield replace(row, text=f"{few_words(row.code)}: {row.text}")
            else:
                yield row


PARTS: Final = {
    "new_cases": "compared",
    "unseen_break": "test",
    "observer_agreement": "people",
}
"""Notes that belong to a part of their own."""


def few_words(code: str) -> str:
    """Return a reason in few words, where its message is too long for a headline; else nothing."""
    from benchgate.sentences.conditions import HEADLINES

    return HEADLINES.get(code, "")


def _not_judged(candidate: str) -> str:
    if candidate.startswith("floor:"):
        return "not evaluated: a floor is compared with nothing"
    return "not evaluated: only a part of the cases was selected"


def _sentence(
    outcome: Outcome,
    said: Said,
    policy: GatePolicy | None,
    names: tuple[str, str],
    figures: Figures | None,
) -> str:
    """Return the decision, and what decided it."""
    before = _baseline(names)
    after = quoted(names[1])
    if outcome == "promote":
        return f"{after} may replace {before}: {_met(policy, figures)}"
    if said.first == "baseline_missing":
        return f"there is no baseline to compare {after} with"
    does = f"replace {before}"
    if "baseline_missing" in said.codes:
        does = "become the baseline"
    verdict = f"{after} may not {does} yet"
    if outcome == "reject":
        verdict = f"{after} must not {does}"
    if not said.reasons:  # somebody edited the record
        return verdict
    why = few_words(said.first) or said.reasons[0].text
    return f"{verdict}: {why}"


def _baseline(names: tuple[str, str]) -> str:
    if names[0]:
        return quoted(names[0])
    return "its baseline"


def _met(policy: GatePolicy | None, figures: Figures | None) -> str:
    """Return what a promotion rests on."""
    better = ALL_MET
    if policy is not None:
        better = BETTER.get(policy.claim, ALL_MET)
    if figures is None or figures.safety.delta is None:
        return better
    if figures.safety.delta > 0:
        return f"{better}, and harm rose by no more than is allowed"
    return f"{better} and does no more harm"


def _careful(
    look: JudgedLook | None,
    policy: GatePolicy | None,
    figures: Figures | None,
    notes: list[Line],
) -> Iterator[Line]:
    """Yield what to keep in mind; what is said of every promotion comes last."""
    text = ""
    if policy is not None:
        text = looks(look, policy)
    if text:
        yield Line("careful", text)
    # Two averages show less than pairs, as a rule; that pairs would have shown more is worth knowing.
    is_welch = figures is not None and figures.significance.test == "welch"
    for note in sorted(notes, key=lambda note: NOTE + note.code in OF_PROMOTIONS):
        if note.code == "welch_paired_disagree" and is_welch:
            yield replace(note, is_detail=False)
        else:
            yield note


def _rule(
    policy: GatePolicy | None, names: tuple[str, str], figures: Figures | None
) -> Iterator[Line]:
    """Yield what the policy asks, and its other conditions."""
    if policy is None:
        return
    yield Line("asked", _question(policy, names))
    yield Line("limits", "; ".join(_limits(policy, figures)))


def _question(policy: GatePolicy, names: tuple[str, str]) -> str:
    before = _baseline(names)
    after = quoted(names[1])
    if policy.claim == "no_regression":
        return f"does {after} do no worse than {before} on each of these cases?"
    level = f"alpha {policy.alpha:g}"
    if policy.claim == "not_worse":
        return f"is {after} not worse than {before}? mean score, margin {policy.margin:g}, {level}"
    least = ""
    if policy.min_delta:
        least = f" by more than {policy.min_delta:g}"
    return f"is {after} better than {before}{least}? mean score, {level}"


def _limits(policy: GatePolicy, figures: Figures | None) -> Iterator[str]:
    from benchgate.gates.conditions import CONDITIONS
    from benchgate.gates.steps import clusters_needed
    from benchgate.sentences.conditions import LIMITS

    has_clusters = figures is not None and figures.significance.clusters is not None
    if figures is not None and figures.safety.evaluated:
        policy = policy.model_copy(update={"safety": "required"})
    level = ""
    if policy.safety_confidence:
        level = confidence(1 - policy.safety_confidence)
    for code, condition in CONDITIONS.items():
        if code not in LIMITS or not condition.applies(policy):
            continue
        if code == "safety_regression" and policy.claim == "no_regression":
            yield "no more harm in any case"
        elif code == "insufficient_cases" and has_clusters:
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
    text = _which_look(look)
    if not look.can_promote:
        can = "cannot"
        if look.number > 1:
            can = "can no longer"
        return f"{text}: so few cases {can} be promoted, whatever their scores"
    none = "it is no"
    if look.number > 1:
        none = "no candidate is"
    # Small ones as the advice of a hold has them: 2.5 % and 4.9 %, not 2 % and 5 %.
    chance = f"{look.chance:.0%}"
    if look.chance < 0.1:
        chance = percent(look.chance)
    return f"{text}: even if {none} better, the chance of a promotion by luck is {chance} by now"


def _which_look(look: JudgedLook) -> str:
    """Return the number of a look, what is counted, and since when."""
    text = f"look no. {look.number} at this baseline"
    if look.number > 1:
        text += " (held looks count too)"
    if look.new_series is None:
        return text
    begun = f"which a person began after {counted(look.uncounted, 'look')}"
    return f"{text} in a new series, {begun} ({shortened(look.new_series)})"


def shortened(text: str) -> str:
    """Return beginning and end of a long reason; the record has all of it."""
    if len(text) <= BEGINNING + END:
        return text
    return f"{text[:BEGINNING]} … {text[-END:]}"
