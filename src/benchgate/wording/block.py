"""
What a reader looks for first: what changed against the baseline, then what the gate was asked, its answer, and why.

Every door prints these lines. They repeat figures of the comparison and of the decision, and compute none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.errors import counted, excerpt
from benchgate.gates.claim_reasons import confidence, spent
from benchgate.gates.decide import UNDETECTABLE
from benchgate.gates.reason_codes import INCOMPARABLE, PLAIN, PREFIX
from benchgate.wire.usage import usd
from benchgate.wording.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.gates.decision import CheckpointPromotionDecision, Remark
    from benchgate.gates.figures import Figures
    from benchgate.gates.judge import Judgement
    from benchgate.gates.looks import Look
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_diff import CaseChange, RunChanges
    from benchgate.wording.lines import Tone

TONES: Final[dict[str, Tone]] = {"promote": "good", "hold": "caution", "reject": "bad"}
MOST: Final = {"failing": 4, "error": 2, "fell": 2, "passing": 2, "rose": 2}
"""Cases that are shown of each kind unless all are asked for: with the gate they fill a screen at most."""


BEGINNING, END = 240, 160
"""Characters of a reason that are shown, for its end often says what to do; the record has all of it."""

OF_PROMOTIONS: Final = frozenset({"note_safety_power", "note_unseen_failure_bound"})
"""Notes on what a promotion may have overlooked; where there is none they are left out."""


def block(judgement: Judgement, *, more: str | None = None) -> Iterator[Line]:
    """
    Yield what changed, an empty line, and the gate.

    :param more: what to ask for to see all cases that changed; ``None`` if all are to be shown.
    """
    yield from baseline_lines(judgement)
    if judgement.changes is not None:
        yield from change_lines(judgement.changes, more=more)
        yield Line("", "")
    yield from gate_of(judgement)


def gate_of(judgement: Judgement) -> Iterator[Line]:
    """Yield the gate of a run."""
    before = judgement.baseline.report if judgement.baseline else None
    names = (before.system if before else "its baseline", judgement.report.system)
    yield from gate_lines(
        judgement.policy,
        judgement.decision,
        judgement.figures,
        names,
        in_plain_words=judgement.report.source is not None,
    )


def threshold_lines(policy: GatePolicy, places: Mapping[str, str]) -> Iterator[Line]:
    """
    Yield the thresholds of a run that its class does not set.

    :param places: where each of them is from, by its key; a file has all of them.
    """
    for number, (key, place) in enumerate(places.items()):
        is_key = key in type(policy).model_fields
        text = (
            f"{key} = {policy.text(key)}, from {place}" if is_key else f"all of {key}, from {place}"
        )
        yield Line("" if number else "policy", text, "caution")


def baseline_lines(judgement: Judgement) -> Iterator[Line]:
    """Yield what a run was compared with, if there was a run to compare with."""
    before = judgement.baseline.report if judgement.baseline else None
    if before is not None:
        cost = f", cost {usd(before.total_cost_usd)} USD" if before.total_cost_usd else ""
        text = f"{before.system}, run {before.run_id[:16]}, mean score {before.mean_score:.3f}"
        yield Line("baseline", f"{text}{cost}")


def change_lines(changes: RunChanges, *, more: str | None = None) -> Iterator[Line]:
    """
    Yield how many cases changed, then the cases: what became worse first, the largest change of a kind first.

    :param more: as of :func:`block`.
    """
    if changes.is_rescored:
        yield Line("changed", "not comparable: another rubric scored the baseline", "caution")
    else:
        yield from _changed(changes, more)
    for label, ids in (
        ("new", changes.new),
        ("missing", changes.missing),
        ("edited", changes.changed),
    ):
        shown = ids if more is None else ids[:5]
        rest = "" if len(shown) == len(ids) else f", ... {len(ids) - len(shown)} more"
        if ids:
            yield Line(label, f"{counted(len(ids), 'case')}: {', '.join(shown)}{rest}", "caution")


def _changed(changes: RunChanges, more: str | None) -> Iterator[Line]:
    known = {change.case_id for change in changes.newly_failing}
    worse = {"failing": changes.newly_failing, "fell": changes.fell}
    better = {"passing": changes.newly_passing, "rose": changes.rose}
    counts = {
        "newly failing": len(changes.newly_failing),
        "errors": len(changes.errors),
        "fell": len(changes.fell),
        "newly passing": len(changes.newly_passing),
        "rose": len(changes.rose),
        "the same": changes.same,
    }
    told = (f"{name} {count}" for name, count in counts.items() if count or name == "newly failing")
    yield Line("changed", ", ".join(told))
    every = [change for found in (worse | better).values() for change in found]
    width = max((len(change.case_id) for change in every), default=0)
    errors = [(f"{c}  {how}", "") for c, how in changes.errors if c not in known]
    rows: dict[str, tuple[Tone, list[tuple[str, str]]]] = {
        "failing": ("bad", [(_row(c, width), _codes(c)) for c in worse["failing"]]),
        "error": ("caution", errors),
        "fell": ("caution", [(_row(c, width), _codes(c)) for c in worse["fell"]]),
        "passing": ("good", [(_row(c, width), "") for c in better["passing"]]),
        "rose": ("good", [(_row(c, width), "") for c in better["rose"]]),
    }
    left = []
    for label, (tone, found) in rows.items():
        most = len(found) if more is None else MOST[label]
        for text, codes in found[:most]:
            yield Line(label, text, tone, tail=codes)
        left += [f"{len(found) - most} {label}"] * (len(found) > most)
    if left:
        yield Line("", f"... and {', '.join(left)}; {more} shows all", "quiet")


def _row(change: CaseChange, width: int) -> str:
    return f"{change.case_id:{width}}  {change.before:.3f} -> {change.after:.3f}"


def _codes(change: CaseChange) -> str:
    return f"  {', '.join(change.codes)}" if change.codes else ""


def gate_lines(
    policy: GatePolicy,
    decision: CheckpointPromotionDecision | None,
    figures: Figures | None,
    names: tuple[str, str],
    *,
    in_plain_words: bool = False,
) -> Iterator[Line]:
    """
    Yield the decision in words: what was asked, the answer, why, what would settle it, and the figures.

    :param decision: ``None`` for a part of the cases, which is not judged.
    :param figures: of the comparison; ``None`` if there was none.
    :param names: of baseline and candidate.
    :param in_plain_words: say each reason in a sentence, too.
    """
    if decision is None:
        yield Line("gate", "not evaluated: only a part of the cases was selected", strong=True)
        return
    tone = TONES[decision.outcome]
    yield Line("gate", decision.outcome.upper(), tone, strong=True)
    yield Line("asked", question(policy, names))
    yield Line("limits", "; ".join(limits(policy, figures)))
    yield from looks(decision.look, policy)
    yield Line("answer", answer(decision), tone)
    count = len(decision.reason_codes)
    for number, remark in enumerate(decision.remarks[:count]):
        code = remark.code.removeprefix(PREFIX)
        yield Line("" if number else "why", _shortened(f"{code}: {remark.message}"), tone)
        if in_plain_words and code in PLAIN:
            yield Line("", PLAIN[code])
    if decision.next_step is not None:
        yield Line("next", decision.next_step)
    codes = {code.removeprefix(PREFIX) for code in decision.reason_codes}
    if figures is not None and INCOMPARABLE.isdisjoint(codes):
        yield from _figures(policy, decision, figures)
    for number, remark in enumerate(notes_of(decision)):
        code = remark.code.removeprefix("note_")
        yield Line("" if number else "note", f"{code}: {remark.message}", "quiet")


def notes_of(decision: CheckpointPromotionDecision) -> Iterator[Remark]:
    """Yield the notes of a decision that apply to it."""
    hidden = set() if decision.promotion_allowed else OF_PROMOTIONS
    count = len(decision.reason_codes)
    yield from (remark for remark in decision.remarks[count:] if remark.code not in hidden)


def _shortened(text: str) -> str:
    return text if len(text) <= BEGINNING + END else f"{text[:BEGINNING]} … {text[-END:]}"


def question(policy: GatePolicy, names: tuple[str, str]) -> str:
    """Return what a policy asks of the second of two sides."""
    before, after = (excerpt(name, 60) for name in names)
    if policy.claim == "no_regression":
        return f"does {after} do no worse than {before} on each of these cases?"
    level = f"alpha {policy.alpha:g}"
    if policy.claim == "not_worse":
        return f"is {after} not worse than {before}? mean score, margin {policy.margin:g}, {level}"
    least = f" by more than {policy.min_delta:g}" if policy.min_delta else ""
    return f"is {after} better than {before}{least}? mean score, {level}"


def limits(policy: GatePolicy, figures: Figures | None) -> Iterator[str]:
    """Yield the other conditions of a policy."""
    yield f"at least {policy.min_cases} cases"
    if policy.claim == "no_regression":
        yield f"at most {policy.max_newly_failing} newly failing"
        yield f"no case down by more than {policy.tolerance:g}"
    if policy.safety == "required" or (figures is not None and figures.safety.evaluated):
        level = policy.safety_confidence
        bound = "" if level is None else f" ({level:.0%} bound)"
        yield f"safety penalty up by at most {policy.max_safety_regression:g}{bound}"
    if policy.max_cost_increase is not None:
        yield f"cost up by at most {policy.max_cost_increase:.1%}"
    if policy.max_duration_increase is not None:
        yield f"duration up by at most {policy.max_duration_increase:.1%}"
    if policy.evidence == "exact":
        yield "exact evidence"
    if policy.baseline_errors == "zero":
        yield "an error of the baseline is taken for a true score of 0"


def looks(look: Look | None, policy: GatePolicy) -> Iterator[Line]:
    """Yield how often the baseline was looked at, and what follows; nothing of a first look at the whole of alpha."""
    if look is None or (look.number == 1 and look.can_promote and look.alpha == policy.alpha):
        return
    text = f"look {look.number} against this baseline, at alpha {look.alpha:.3g}"
    if not look.can_promote:
        why = "so few cases can no longer be promoted, whatever their scores"
        yield Line("looks", f"{text}: {why}", "caution")
        return
    share = f"one in {int(1 / look.chance)}" if look.chance < 0.4 else f"{look.chance:.0%} of"
    yield Line(
        "looks",
        f"{text}: at this count up to {share} worthless series would have had a promotion",
    )


def answer(decision: CheckpointPromotionDecision) -> str:
    """Return whether what was asked is so."""
    if decision.outcome == "promote":
        return "yes: every condition is met"
    if decision.outcome == "reject":
        return "no: there is evidence against it"
    if all(code.startswith(f"{PREFIX}gate:") for code in decision.reason_codes):
        return "yes by these figures, but a further gate objects"
    return "not shown: the evidence is not enough"


def _figures(
    policy: GatePolicy, decision: CheckpointPromotionDecision, figures: Figures
) -> Iterator[Line]:
    significance, limit = figures.significance, policy.max_safety_regression
    if significance.mean_delta is not None:
        yield Line("delta", ", ".join(_delta(policy, figures)))
    effect = significance.minimum_detectable_effect
    if (
        policy.claim == "better"
        and decision.outcome == "hold"
        and significance.mean_delta is not None
    ):
        found = UNDETECTABLE if effect is None else f"to find a difference of {effect:.3f}"
        yield Line("power", f"{policy.power:.0%}{':' * (effect is None)} {found}")
    if figures.cost is not None:
        yield Line("cost", f"of a case {spent(figures.cost)}")
    if figures.duration is not None and policy.claim == "not_worse":
        yield Line("duration", f"of a case {spent(figures.duration)}")
    if figures.safety.delta is not None:
        yield Line("penalty", f"{figures.safety.delta:+.3f}, allowed rise {limit:.3f}")


def _delta(policy: GatePolicy, figures: Figures) -> Iterator[str]:
    found = figures.significance
    yield f"{found.mean_delta:+.3f}"
    clusters = "" if found.clusters is None else f" in {counted(found.clusters, 'cluster')}"
    size = f"n={figures.compared}{clusters}"
    if found.test == "none":
        yield f"on exactly these {counted(figures.compared, 'case')}"
        return
    interval = "undefined"
    if found.delta_ci_low is not None and found.delta_ci_high is not None:
        interval = f"[{found.delta_ci_low:+.3f}, {found.delta_ci_high:+.3f}]"
    yield f"{confidence(found.alpha)} interval {interval}"
    if found.p_value is None and policy.claim == "not_worse":  # its bound decides
        yield f"({found.test}, {size})"
        return
    p = "undefined" if found.p_value is None else f"{found.p_value:.4g}"
    yield f"p {p} ({found.test}, {size})"


def side_lines(names: Sequence[str], figures: Figures) -> Iterator[Line]:
    """Yield size and mean of the two sides of a comparison of plain vectors."""
    found = figures.significance
    sides = (
        ("baseline", figures.baseline, found.baseline_mean_reward),
        ("candidate", figures.candidate, found.trained_mean_reward),
    )
    for name, (label, arm, mean) in zip(names, sides, strict=True):
        called = "" if name == label else f"{name}, "
        known = "undefined" if mean is None else f"{mean:.4g}"
        yield Line(label, f"{called}{counted(len(arm.scores), 'sample')}, mean {known}")
