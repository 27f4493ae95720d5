"""
What a reader looks for first: what changed against the baseline, then what the gate was asked, its answer, and why.

Every door prints these lines. They repeat figures of the comparison and of the decision, and compute none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.errors import counted
from benchgate.wire.usage import usd
from benchgate.wording.decision import DecisionView
from benchgate.wording.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.gates.figures import Figures
    from benchgate.gates.judge import Judgement
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_diff import CaseChange, RunChanges
    from benchgate.wording.lines import Tone

TONES: Final[dict[str, Tone]] = {"promote": "good", "hold": "caution", "reject": "bad"}
MOST: Final = {"failing": 4, "error": 2, "fell": 2, "passing": 2, "rose": 2}
"""Cases that are shown of each kind unless all are asked for: with the gate they fill a screen at most."""

BEGINNING: Final = 240
END: Final = 160
"""Characters of a reason that are shown, for its end often says what to do; the record has all of it."""


def block(judgement: Judgement, *, more: str | None = None) -> Iterator[Line]:
    """
    Yield what changed, an empty line, and the gate.

    :param more: what to ask for to see all cases that changed; ``None`` if all are to be shown.
    """
    yield from baseline_lines(judgement)
    if judgement.changes is not None:
        yield from change_lines(judgement.changes, more=more)
        yield Line("", "")
    yield from gate_lines(DecisionView.of_run(judgement))


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
    failing_ids = {change.case_id for change in changes.newly_failing}
    kinds: tuple[tuple[str, str, Tone, tuple[CaseChange, ...]], ...] = (
        ("failing", "newly failing", "bad", changes.newly_failing),
        ("error", "errors", "caution", ()),
        ("fell", "fell", "caution", changes.fell),
        ("passing", "newly passing", "good", changes.newly_passing),
        ("rose", "rose", "good", changes.rose),
    )
    counts = {word: len(cases) for _, word, _, cases in kinds}
    counts |= {"errors": len(changes.errors), "the same": changes.same}
    said = (f"{word} {count}" for word, count in counts.items() if count or word == "newly failing")
    yield Line("changed", ", ".join(said))
    width = max((len(case.case_id) for *_, cases in kinds for case in cases), default=0)
    hidden = []
    for label, _, tone, cases in kinds:
        rows = [(_row(case, width), _codes(case) if tone != "good" else "") for case in cases]
        if label == "error":
            rows = [(f"{c}  {how}", "") for c, how in changes.errors if c not in failing_ids]
        most = len(rows) if more is None else MOST[label]
        for text, codes in rows[:most]:
            yield Line(label, text, tone, tail=codes)
        hidden += [f"{len(rows) - most} {label}"] * (len(rows) > most)
    if hidden:
        yield Line("", f"... and {', '.join(hidden)}; {more} shows all", "quiet")


def _row(change: CaseChange, width: int) -> str:
    (was, now), (of_before, of_now) = change.passed, change.trials
    trials = f"  {now} of {of_now} trials pass, before {was} of {of_before}"
    several = trials if max(change.trials) > 1 else ""
    return f"{change.case_id:{width}}  {change.before:.3f} -> {change.after:.3f}{several}"


def _codes(change: CaseChange) -> str:
    return f"  {', '.join(change.codes)}" if change.codes else ""


def gate_lines(view: DecisionView) -> Iterator[Line]:
    """Yield a decision: what was asked, the answer, why, what would settle it, and the figures."""
    if view.outcome == "none":
        yield Line("gate", "not evaluated: only a part of the cases was selected", strong=True)
        return
    tone = TONES[view.outcome]
    yield Line("gate", view.outcome.upper(), tone, strong=True)
    yield Line("asked", view.question)
    yield Line("limits", view.limits)
    if view.looks:
        yield Line("looks", view.looks, "plain" if view.can_promote else "caution")
    yield Line("answer", view.answer, tone)
    for number, reason in enumerate(view.reasons):
        text = _shortened(f"{reason.code}: {reason.message}")
        yield Line("" if number else "why", text, tone)
        if reason.plain:
            yield Line("", reason.plain)
    if view.next_step is not None:
        yield Line("next", view.next_step)
    yield from (Line(name, value) for name, value in view.figures)
    for number, note in enumerate(view.notes):
        yield Line("" if number else "note", f"{note.code}: {note.message}", "quiet")


def _shortened(text: str) -> str:
    return text if len(text) <= BEGINNING + END else f"{text[:BEGINNING]} … {text[-END:]}"


def side_lines(names: Sequence[str], figures: Figures) -> Iterator[Line]:
    """Yield size and mean of the two sides of a comparison of plain vectors."""
    tests = figures.significance
    sides = (
        ("baseline", figures.baseline, tests.baseline_mean_reward),
        ("candidate", figures.candidate, tests.trained_mean_reward),
    )
    for name, (label, arm, mean) in zip(names, sides, strict=True):
        own_name = "" if name == label else f"{name}, "
        mean_text = "undefined" if mean is None else f"{mean:.4g}"
        yield Line(label, f"{own_name}{counted(len(arm.scores), 'sample')}, mean {mean_text}")
