"""Which cases changed against the baseline, and which still fail: what became worse is first."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import UNSCORED
from benchgate.errors import counted, listed
from benchgate.gates.policy import TOLERANCE
from benchgate.wording.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.gates.run_diff import CaseChange, Rates, RunChanges
    from benchgate.models import BenchRunReport, TrialResult
    from benchgate.wording.lines import Tone

DIGITS: Final = 3
"""Of a score."""

FAILS: Final = "  fails"
STILL: Final = "  still"
ERROR: Final = "  error"

MOST: Final = 3
"""Cases that are shown unless all are asked for."""


def case_lines(
    report: BenchRunReport,
    passed_before: int | None,
    changes: RunChanges | None,
    most: int | None = MOST,
    more: str = "",
    *,
    has_gain: bool = False,
) -> Iterator[Line]:
    """
    Yield how many cases pass and what changed, then the cases.

    :param passed_before: cases that pass in the baseline; ``None`` without one, as ``changes``.
    :param most: cases that are shown at most; ``None`` for all.
    :param more: what to ask for to see all; empty if nothing shows more.
    :param has_gain: the last one shown is the largest gain, if all before it became worse.
    """
    text = f"{report.passed_count} of {report.case_count} pass"
    if changes is not None and changes.is_graded:
        text = f"of {counted(report.case_count, 'case')}, {counts(changes)}"
    elif passed_before is not None and changes and not (changes.is_rescored or report.stopped):
        before = f"{text}, before {passed_before}"
        if changes.rates is not None:
            before = passing_rates(changes.rates)
        text = f"{before}: {counts(changes)}"
    yield Line("cases", text)
    rows = _rows(report, changes, is_all=most is None)
    shown = [*rows.values()]
    # The first gain; 0 stands for none too, as that place is shown anyhow.
    best = next((number for number, row in enumerate(shown) if row.tone == "good"), 0)
    if has_gain and most and best >= most:
        shown.insert(most - 1, shown.pop(best))
    yield from first_rows(shown, most, more)
    if changes is not None:
        yield from other_lines(changes, most)


def _rows(report: BenchRunReport, changes: RunChanges | None, *, is_all: bool) -> dict[str, Line]:
    """Return the cases that changed; all that fail too, if all are asked for or none changed."""
    rows: dict[str, Line] = {}
    label = FAILS
    if changes is not None:
        rows = change_rows(changes)
        label = STILL
        if changes.is_graded:  # then nobody knows which fail
            return rows
    if is_all or not rows:  # else the rows are those of the counts
        for case_id, row in _failing(report, label):
            rows.setdefault(case_id, row)
    return rows


def _failing(report: BenchRunReport, label: str) -> Iterator[tuple[str, Line]]:
    codes = failure_codes(report.per_case)
    for result in report.per_case:
        if result.passed:
            continue
        case_id = result.case_id
        row = Line(label, listed(case_id), tail=codes.get(case_id, ""))
        if label == FAILS and result.score is None:  # nobody knows whether it would fail
            row = replace(row, label=ERROR)
        yield case_id, row


def passing_rates(rates: Rates) -> str:
    """Return how often trials pass in two runs with different numbers of them, and that this is why."""
    trials = f"{counted(rates.trials, 'trial')} a case, before {rates.trials_before}"
    return f"{rates.now:.1%} of trials pass, before {rates.before:.1%} ({trials})"


def counts(changes: RunChanges) -> str:
    """Return how many cases changed in which way."""
    if changes.is_rescored:
        return "not comparable, because another rubric scored the baseline"
    kinds = [
        (changes.newly_passing, "newly passing"),
        (changes.newly_failing, "newly failing"),
        (changes.rose, "higher"),
        (changes.fell, "lower"),
    ]
    # What was asked is answered even if it is 0.
    asked = ("newly passing", "newly failing")
    if changes.is_graded:
        asked = ("higher", "lower")
    said = [f"{len(cases)} {word}" for cases, word in kinds if cases or word in asked]
    if changes.errors:
        said.append(counted(len(changes.errors), "error"))
    return ", ".join(said)


def change_rows(changes: RunChanges) -> dict[str, Line]:
    """Return the cases that changed: what became worse first, the largest change of a kind first."""
    rows: dict[str, Line] = {}
    if changes.is_rescored:
        return rows
    kinds: tuple[tuple[str, Tone, tuple[CaseChange, ...]], ...] = (
        (FAILS, "bad", changes.newly_failing),
        (ERROR, "caution", ()),
        ("  lower", "caution", changes.fell),
        ("  passes", "good", changes.newly_passing),
        ("  higher", "good", changes.rose),
    )
    width = max((len(listed(change.case_id)) for *_, cases in kinds for change in cases), default=0)
    for label, tone, cases in kinds:
        for change in cases:
            text = _row(change, width, is_graded=changes.is_graded)
            rows[change.case_id] = Line(label, text, tone, tail=_codes(change.codes))
        if label == ERROR:
            for case_id, how in changes.errors:
                rows.setdefault(case_id, Line(label, f"{listed(case_id)}  {how}", tone))
    return rows


def other_lines(changes: RunChanges, most: int | None) -> Iterator[Line]:
    """Yield which cases are not compared, because one side lacks them or they were edited."""
    for label, ids in (
        ("new", changes.new),
        ("missing", changes.missing),
        ("edited", changes.changed),
    ):
        if not ids:
            continue
        shown = [listed(case_id) for case_id in ids[:most]]
        if len(shown) < len(ids):
            shown.append(f"... {len(ids) - len(shown)} more")
        yield Line(label, f"{counted(len(ids), 'case')}: {', '.join(shown)}", "caution")


def failure_codes(results: Iterable[TrialResult]) -> dict[str, str]:
    """Return the failure codes of each case, or how a trial without a score ended, as the tail of a line."""
    codes: dict[str, list[str]] = {}
    for result in results:
        modes = [
            "no score" if mode.error == UNSCORED else mode.code for mode in result.failure_modes
        ]
        if not modes and result.outcome != "scored":
            modes = [result.outcome]
        codes.setdefault(result.case_id, []).extend(modes)
    return {case_id: _codes(dict.fromkeys(words)) for case_id, words in codes.items()}


def first_rows(rows: Sequence[Line], most: int | None, more: str) -> Iterator[Line]:
    """
    Yield the first rows, and how many more there are.

    :param most: ``None`` for all; ``more`` is what to ask for to see all, empty if nothing shows more.
    """
    yield from rows[:most]
    if most is not None and len(rows) > most:
        rest = _rest(rows[most:])
        if more:
            rest += f"; {more} shows all"
        yield Line("", rest, "quiet")


def _rest(rows: Sequence[Line]) -> str:
    """Return how many more rows there are, and of which kinds where these differ from each other."""
    text = f"... {len(rows)} more"
    kinds = Counter((row.label or "").strip() for row in rows)
    if len(kinds) == 1:
        return text
    return f"{text}: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}"


def _row(change: CaseChange, width: int, *, is_graded: bool) -> str:
    text = f"{listed(change.case_id):{width}}  {_scores(change)}"
    if is_graded or max(change.trials) == 1:
        return text
    was, now = change.passed
    of_before, of_now = change.trials
    return f"{text}  {now} of {of_now} trials pass, before {was} of {of_before}"


def _scores(change: CaseChange) -> str:
    """Return both scores, with as many digits as it takes to see that they differ."""
    text = ""
    for digits in range(DIGITS, 13):
        before = f"{change.before:.{digits}f}"
        after = f"{change.after:.{digits}f}"
        text = f"{before} -> {after}"
        if before != after or abs(change.delta) <= TOLERANCE:
            break
    return text


def _codes(codes: Iterable[str]) -> str:
    text = ", ".join(codes)
    if not text:
        return ""
    return f"  {text}"
