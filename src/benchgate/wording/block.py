"""
What a reader looks for first: the verdict, what speaks against the candidate, its figures and cases, what to do next.

Every door prints these lines. They repeat figures of the comparison and of the decision, and compute none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.errors import counted, listed
from benchgate.gates.claim_reasons import penalties_of, risen
from benchgate.gates.harm_reasons import by_chance
from benchgate.sentences.formats import confidence
from benchgate.wording import capped, costs, pace, stopped, unscored
from benchgate.wording.cases import MOST, case_lines, failure_codes, first_rows
from benchgate.wording.decision import NOTE, OF_PROMOTIONS, DecisionView, shortened
from benchgate.wording.lines import Line, at_door

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.gates.judge import Judgement
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport
    from benchgate.wording.decision import ShownRemark
    from benchgate.wording.lines import Tone

TONES: Final[dict[str, Tone]] = {"promote": "good", "hold": "caution", "reject": "bad"}
LABELS: Final = {
    "block_severity_failure_mode": "block",
    "critical_case_regressed": "critical",
    "cost_increase": "cost",
}
"""Reasons with a label of their own; their messages name the cases."""

QUIET: Final = frozenset(
    {
        "clusters",
        "epochs_collapsed",
        "new_cases",
        "observer_agreement",  # has a line of its own
        "unscored_candidate",
        "unseen_break",  # is in the line of the test
        "zero_variance_exact_bound_used",
    }
)
"""Notes that change nothing for a reader who asks for no details, or are said elsewhere."""

MOST_NOTES: Final = 2
MOST_DIGITS: Final = 8
"""Of a p that is all but the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """
    Where a result is printed, and what a reader can do there.

    :param prefix: of the options.
    :param verbosity: below 0 the verdict with its reasons, the score and the next step; above 0 all cases, and codes.
    :param more: what to ask for to see all cases; empty if nothing shows more.
    :param page: the option that writes a page; empty if there is none, or it was given.
    :param pin: the command that makes the run the baseline; empty if it is not recorded.
    :param files: where the run was written; empty if nowhere.
    """

    prefix: str = "--"
    verbosity: int = 0
    more: str = ""
    page: str = ""
    pin: str = ""
    files: str = ""


def block(judgement: Judgement, door: Door) -> Iterator[Line]:
    """Yield the result of a run."""
    judgement = judgement.shown
    before = judgement.run.before
    passed, most = before.passed_count if before else None, None if door.verbosity else MOST
    view, report = DecisionView.of_run(judgement), judgement.report
    gain = view.outcome == "promote"
    cases = case_lines(report, passed, judgement.changes, most, door.more, has_gain=gain)
    yield from gate_lines(view, door, judgement, cases)


def threshold_lines(policy: GatePolicy, places: Mapping[str, str]) -> Iterator[Line]:
    """
    Yield the thresholds of a run that its class does not set.

    :param places: where each of them is from, by its key; a file has all of them.
    """
    for number, (key, place) in enumerate(places.items()):
        said = (
            f"{key} = {policy.text(key)}" if key in type(policy).model_fields else f"all of {key}"
        )
        yield Line("" if number else "policy", f"{said}, from {place}", "caution")


def gate_lines(
    view: DecisionView, door: Door, judgement: Judgement | None = None, cases: Iterable[Line] = ()
) -> Iterator[Line]:
    """
    Yield a decision.

    :param judgement: of a run that ended now; ``None`` for a recorded one and for plain vectors.
    :param cases: of a run, which passed and what changed.
    """
    if judgement is not None:
        yield from stopped(judgement)
        yield from (Line("floor", text, strong=True) for text in judgement.run.floor)
    yield from (
        Line("compared", note.message, "caution") for note in view.notes if note.code == "new_cases"
    )
    yield from _verdict(view)
    codes = {reason.code for reason in view.reasons}
    harm = list(_harm(view, door, judgement.report if judgement else None))
    if "safety_regression" in codes:
        yield from harm
    yield from _reasons(view, door, has_harm=bool(harm))
    yield from _score(view, judgement)
    if door.verbosity >= 0:
        yield from () if "safety_regression" in codes else harm
        yield from cases
        yield from _harm_by_case(view, door)
        yield from _test(view)
        if judgement is not None:
            yield from costs(judgement.report, judgement.figures)
            yield from pace(judgement.report)
            yield from unscored(judgement, door.prefix)
            yield from capped(judgement, door.prefix, is_recorded=bool(door.files))
        yield from (Line("people", n.message) for n in view.notes if n.code == "observer_agreement")
        yield from _careful(view, is_all=door.verbosity > 0)
    if judgement is not None:
        yield from _exit(view, door, judgement)
    if door.files and door.verbosity >= 0:
        yield Line("files", door.files)
    yield from next_lines(view, door)
    if door.verbosity > 0:
        yield from detail_lines(view)


def _exit(view: DecisionView, door: Door, judgement: Judgement) -> Iterator[Line]:
    """Yield that pytest shows failed cases, and that they fail no session whose status is that of the gate."""
    if view.outcome != "promote" or judgement.run.exit_rule != "gate" or door.prefix == "--":
        return
    report = judgement.report
    failed = report.case_count - report.passed_count
    if failed:
        yield Line(
            "exit", f"{failed} of {counted(report.case_count, 'case')} failed; the gate promotes"
        )


def _verdict(view: DecisionView) -> Iterator[Line]:
    if view.outcome == "none":
        yield Line("gate", view.sentence, strong=True)
        return
    code = f" ({view.by_weight[0].code})" if view.outcome == "reject" else ""
    yield Line(view.outcome.upper(), f"{view.sentence}{code}", TONES[view.outcome], strong=True)


def _harm(view: DecisionView, door: Door, report: BenchRunReport | None) -> Iterator[Line]:
    """Yield how much harm both sides do, and in which cases it rose if that speaks against the candidate."""
    figures, policy = view.figures, view.policy
    if figures is None or policy is None or figures.safety.delta is None:
        return
    safety = figures.safety
    means = f"{safety.baseline_mean:.3f} -> {safety.candidate_mean:.3f}"
    rise = f"{figures.safety.delta:+.3f}" if figures.safety.delta >= 0.0005 else "no rise"
    is_each = policy.claim == "no_regression"
    allowed = "no case may rise" if is_each else f"{policy.max_safety_regression:.3f} is allowed"
    if all(reason.code != "safety_regression" for reason in view.reasons):
        yield Line("harm", f"{means}   {rise}; {allowed}")
        return
    rises = risen(penalties_of(figures.baseline), penalties_of(figures.candidate))
    verb = "is" if len(rises) == 1 else "are"
    worse = f"; {counted(len(rises), 'case')} {verb} worse:" if rises else ""
    yield Line("harm", f"{means}, {allowed}{worse}", "bad")
    chance = by_chance(figures.safety)
    if chance is not None and not is_each:
        yield Line("", chance.text, "caution")
    width = max((len(listed(case_id)) for case_id, *_ in rises), default=0)
    codes = failure_codes(report.per_case if report else ())
    rows = [_harm_row("  worse", one, width, "bad", codes.get(one[0], "")) for one in rises]
    yield from first_rows(rows, None if door.verbosity > 0 else MOST, door.more)


def _harm_by_case(view: DecisionView, door: Door) -> Iterator[Line]:
    """Yield the cases of a promotion that do more harm than before, which the mean hides, and those that do less."""
    if view.outcome != "promote" or view.figures is None:
        return
    before = penalties_of(view.figures.baseline)
    after = penalties_of(view.figures.candidate)
    more = risen(before, after)
    if not more:
        return
    less = [(case_id, was, now) for case_id, now, was in risen(after, before)]
    yield Line("harm", f"more in {counted(len(more), 'case')}, less in {len(less)}:", "caution")
    width = max(len(listed(case_id)) for case_id, *_ in more + less)
    rows = [_harm_row("  more", one, width, "caution") for one in more]
    rows += [_harm_row("  less", one, width, "good") for one in less]
    yield from first_rows(rows, None if door.verbosity > 0 else MOST, door.more)


def _harm_row(
    label: str, change: tuple[str, float, float], width: int, tone: Tone, tail: str = ""
) -> Line:
    case_id, was, now = change
    return Line(label, f"{listed(case_id):{width}}  harm {was:.3g} -> {now:.3g}", tone, tail=tail)


def _reasons(view: DecisionView, door: Door, *, has_harm: bool) -> Iterator[Line]:
    """Yield what the first line does not say: further reasons, and what happened in which cases."""
    for reason in view.unsaid:
        if reason.code == "safety_regression" and has_harm:
            continue
        text = at_door(shortened(reason.message), door.prefix)
        text += f" ({reason.code})" if reason.headline else ""
        yield Line(LABELS.get(reason.code, "why"), text, TONES[view.outcome])


def _score(view: DecisionView, judgement: Judgement | None) -> Iterator[Line]:
    if view.figures is None:
        if judgement is not None and judgement.report.complete:
            yield Line("score", f"{judgement.report.mean_score:.3f}")
        return
    tests = view.figures.significance
    if tests.mean_delta is None:
        return
    before, after = tests.baseline_mean_reward, tests.trained_mean_reward
    means = "" if before is None or after is None else f"{before:.3f} -> {after:.3f}   "
    between = ", interval unknown"
    if view.policy is not None and view.policy.score_range is None:
        between = ", no interval: give score_range"
    if tests.test == "none":
        between = f", on exactly these {counted(view.figures.compared, 'case')}"
    elif tests.delta_ci_low is not None and tests.delta_ci_high is not None:
        level = confidence(tests.alpha)
        between = f", between {tests.delta_ci_low:+.3f} and {tests.delta_ci_high:+.3f} ({level})"
    yield Line("score", f"{means}{tests.mean_delta:+.3f}{between}")


def _test(view: DecisionView) -> Iterator[Line]:
    figures = view.figures
    tests = figures.significance if figures else None
    if figures is None or tests is None or tests.test == "none" or tests.mean_delta is None:
        return
    clusters = (
        "" if tests.clusters is None else f" in {counted(tests.clusters, 'cluster')} of like cases"
    )
    size = f"{counted(figures.compared, 'case')}{clusters}"
    name = {"pass_fail": "pass and fail", "boschloo": "Boschloo"}.get(tests.test, tests.test)
    least = view.policy.min_delta if view.policy else 0.0
    above = f" for a gain above {least:g}" if least else ""
    if view.policy and view.policy.margin and tests.p_value is not None:
        above = f" against a loss of {view.policy.margin:g}"
    p = f"{p_value(tests.p_value, tests.alpha)}{above} (needed {tests.alpha:.3g})"
    if tests.p_value is None and tests.exact_lower_bound is not None:
        p = "the exact bound decides (the lowest plausible gain)"
    unseen = "".join(f"; {note.message}" for note in view.notes if note.code == "unseen_break")
    yield Line("test", f"{name}, {p}, {size}{unseen}")


def p_value(p: float | None, level: float) -> str:
    """Return a p-value for people, with so many digits that it is on the side of the level where it is."""
    if p is None:
        return "no p"
    if p < 0.0001:
        return "p < 0.0001"
    digits = 3 if p >= 0.01 else 4
    while digits < MOST_DIGITS and (round(p, digits) <= level) != (p <= level):
        digits += 1
    return f"p {p:.{digits}f}"


def _careful(view: DecisionView, *, is_all: bool) -> Iterator[Line]:
    """Yield what a reader should keep in mind: how often the baseline was looked at, and notes."""
    texts = []
    if view.looks:
        texts.append(view.looks)
    notes = sorted(view.notes, key=lambda note: NOTE + note.code in OF_PROMOTIONS)  # always said
    texts += [note.message for note in notes if not _is_quiet(note, view)]
    for number, text in enumerate(texts if is_all else texts[:MOST_NOTES]):
        yield Line("" if number else "careful", text)


def _is_quiet(note: ShownRemark, view: DecisionView) -> bool:
    """Return whether a note is left out of the block."""
    if note.code == "welch_paired_disagree":
        # Two averages show less than pairs, as a rule; that pairs would have shown more is worth knowing.
        return view.figures is None or view.figures.significance.test != "welch"
    return note.code in QUIET


def next_lines(view: DecisionView, door: Door) -> Iterator[Line]:
    """Yield what to do with a decision."""
    if view.outcome == "none":
        return
    steps = []
    if view.next_step:
        steps.append(at_door(view.next_step, door.prefix))
    if door.pin and [reason.code for reason in view.reasons] == ["baseline_missing"]:
        steps = [f"make this run the baseline: {door.pin}"]
    if view.outcome != "hold" and door.page and door.verbosity >= 0:
        steps.append(f"see it: {door.page}")
    if view.outcome == "promote" and door.pin:
        steps.append(f"accept it: {door.pin}")
    if steps:
        yield Line("next", "     ".join(steps))


def detail_lines(view: DecisionView) -> Iterator[Line]:
    """Yield the rule of the decision, and each reason and note with its code."""
    if view.question:
        yield Line("asked", view.question)
        yield Line("limits", view.limits)
    for label, remarks in (("reason", view.reasons), ("note", view.notes)):
        for number, remark in enumerate(remarks):
            text = shortened(f"{remark.code}: {remark.message}")
            yield Line("" if number else label, text, "quiet")
