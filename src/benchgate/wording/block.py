"""
What a reader looks for first: the verdict, what speaks against the candidate, its figures and cases, what to do next.

Every door prints these lines. They are the rows of a decision and of a run, in the order of a screen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from benchgate.errors import counted
from benchgate.wording import run_rows, stopped
from benchgate.wording.cases import MOST, case_lines, first_rows
from benchgate.wording.decision import DecisionView
from benchgate.wording.figures import MOST_PARTS, part_lines
from benchgate.wording.lines import Line, once

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.gates.judge import Judgement
    from benchgate.gates.policy import GatePolicy

MOST_NOTES: Final = 2
"""To keep in mind, for a reader who asks for no details."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """
    Where a result is printed, and what a reader can do there.

    :param prefix: of the options.
    :param verbosity: below 0 the verdict with its reasons, the score and the next step; above 0 all cases, and codes.
    :param more: what to ask for to see all cases; empty if nothing shows more.
    :param page: the command or the option that writes a page; empty if there is none, or it was given.
    :param pin: the command that makes the run the baseline; empty if it is not recorded.
    :param files: where the run was written; empty if nowhere.
    :param has_codes: say the code of each reason without details too, and not only of a rejection.
    """

    prefix: str = "--"
    verbosity: int = 0
    more: str = ""
    page: str = ""
    pin: str = ""
    files: str = ""
    has_codes: bool = False

    @property
    def most(self) -> int | None:
        """How many cases are shown; ``None`` for all."""
        if self.verbosity > 0:
            return None
        return MOST


def block(judgement: Judgement, door: Door) -> Iterator[Line]:
    """Yield the result of a run that ended now."""
    judgement = judgement.shown
    run = judgement.run
    yield from stopped(run.reports.values())
    yield from (Line("floor", text, strong=True) for text in run.floor)
    view = DecisionView.of_run(judgement, door.prefix)
    yield from gate_lines(
        view,
        door,
        cases=_case_lines(judgement, view, door),
        run=run_rows(
            tuple(run.reports.values()),
            judgement.figures,
            door.prefix,
            is_recorded=bool(door.files),
        ),
        ending=_exit(judgement, view, door),
    )


def _case_lines(judgement: Judgement, view: DecisionView, door: Door) -> Iterator[Line]:
    passed_before = None
    if judgement.run.before is not None:
        passed_before = judgement.run.before.passed_count
    return case_lines(
        judgement.report,
        passed_before,
        judgement.changes,
        door.most,
        door.more,
        has_gain=view.outcome == "promote",
    )


def _exit(judgement: Judgement, view: DecisionView, door: Door) -> Iterator[Line]:
    """Yield that pytest shows failed cases, and that they fail no session whose status is that of the gate."""
    if view.outcome != "promote" or judgement.run.exit_rule != "gate" or door.prefix == "--":
        return
    report = judgement.report
    failed = report.case_count - report.passed_count
    if failed:
        of = counted(report.case_count, "case")
        yield Line("exit", f"{failed} of {of} failed; the gate promotes")


def threshold_lines(policy: GatePolicy, places: Mapping[str, str]) -> Iterator[Line]:
    """
    Yield the thresholds of a run that its class does not set.

    :param places: where each of them is from, by its key; a file has all of them.
    """
    rows = []
    for key, place in places.items():
        said = f"all of {key}"
        if key in type(policy).model_fields:
            said = f"{key} = {policy.text(key)}"
        rows.append(Line("policy", f"{said}, from {place}", "caution"))
    yield from once(rows)


def gate_lines(
    view: DecisionView,
    door: Door,
    *,
    cases: Iterable[Line] = (),
    run: Iterable[Line] = (),
    ending: Iterable[Line] = (),
) -> Iterator[Line]:
    """
    Yield a decision.

    :param cases: of a run, which passed and what changed; ``run`` what it cost, and what is missing.
    :param ending: what is said before the next step, to a reader in a hurry too.
    """
    yield from view.not_compared
    yield from _why(view, door)
    yield from view.score
    if door.verbosity >= 0:
        yield from _figures(view, door, cases, run)
    elif view.outcome == "promote":
        yield from _not_to_be_missed(view, [*cases])
    yield from ending
    if door.files and door.verbosity >= 0:
        yield Line("files", door.files)
    yield from once(next_lines(view, door))
    if door.verbosity > 0:
        yield from view.rule


def _why(view: DecisionView, door: Door) -> Iterator[Line]:
    """Yield the decision and its reasons; of harm that speaks against the candidate also the cases."""
    is_all = door.verbosity > 0
    has_codes = is_all or door.has_codes or view.outcome == "reject"
    yield _with_code(view.headline, has_codes=has_codes)
    for row in view.reasons:
        if is_all or not row.is_detail:
            yield _with_code(row, has_codes=has_codes)
    if view.is_harmful:
        yield from _harm(view, door)


def _harm(view: DecisionView, door: Door) -> Iterator[Line]:
    """Yield in which cases there is more harm, and less."""
    yield from view.harm_counts
    yield from first_rows(view.harm_cases, door.most, door.more)


def _figures(
    view: DecisionView, door: Door, cases: Iterable[Line], run: Iterable[Line]
) -> Iterator[Line]:
    """Yield parts of the score, harm, cases, test, run and notes; what became worse after what became better."""
    is_all = door.verbosity > 0
    most: int | None = MOST_PARTS
    if is_all:
        most = None
    yield from part_lines(view.parts, most)
    yield from view.harm
    yield from cases
    if not view.is_harmful:
        yield from _harm(view, door)
    yield from view.test
    yield from (row for row in run if is_all or not row.is_detail)
    yield from view.people
    yield from once(_careful(view, is_all=is_all))


def _not_to_be_missed(view: DecisionView, cases: list[Line]) -> Iterator[Line]:
    """Yield what a reader in a hurry must know of a promotion: harm that nobody measured, and cases that newly fail."""
    yield from (row for row in view.harm if row.tone == "caution")
    failing = [row for row in cases if row.tone == "bad"]
    if failing:
        yield cases[0]
        yield from failing


def _with_code(row: Line, *, has_codes: bool = True) -> Line:
    """Return a row with its code at the end, as tools that check code have it."""
    if not row.code or not has_codes:
        return row
    return replace(row, text=f"{row.text} [{row.code}]")


def _careful(view: DecisionView, *, is_all: bool) -> Iterator[Line]:
    """Yield what a reader should keep in mind: all of it with its codes, or the first few."""
    if is_all:
        yield from map(_with_code, view.careful)
        return
    yield from [row for row in view.careful if not row.is_detail][:MOST_NOTES]


def next_lines(view: DecisionView, door: Door) -> Iterator[Line]:
    """Yield what to do with a decision, a line for each step."""
    if view.lacks_baseline and door.pin:
        yield Line("next", f"make this run the baseline: {door.pin}")
    elif view.next_step:
        yield Line("next", view.next_step)
    if view.outcome in ("promote", "reject") and door.page and door.verbosity >= 0:
        yield Line("next", f"see it: {door.page}")
    if view.outcome == "promote" and door.pin:
        yield Line("next", f"accept it: {door.pin}")
