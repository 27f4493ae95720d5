"""The summary of runs as Markdown, for a comment on a pull request or the summary of a CI job."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from benchgate.errors import excerpt, printable
from benchgate.report import words
from benchgate.report.source import read_source
from benchgate.report.view import view_of
from benchgate.wording.block import gate_lines
from benchgate.wording.cases import case_lines
from benchgate.wording.lines import laid_out, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchgate.report.cases import CaseView
    from benchgate.report.source import OfLogs
    from benchgate.report.view import RunView
    from benchgate.wording.lines import Line

MAX_CHARACTERS: Final = 60_000
"""A comment on GitHub has at most 65,536."""
MARKUP: Final = re.compile(r"[\\`*\[\]|~]|\b_|_\b|(?<!\w)_|_(?!\w)")
"""Characters that Markdown could take for markup; ``_`` inside of a word is none."""
COLUMNS: Final = 100
"""Of a line of the decision."""
PLAIN: Final = re.compile(r"[A-Za-z0-9_.:/+= -]+")
"""A name that back quotes cannot end, and in which a table sees no column."""


def markdown_of(paths: Iterable[Path], *, of_logs: OfLogs | None = None) -> str:
    """
    Return the summary of some runs and proofs.

    :param of_logs: what else is known of two logs that were judged just now.
    :raises ArtifactError: one cannot be read.
    """
    return markdown([view_of(read_source(path, of_logs), outputs=False) for path in paths])


def markdown(views: list[RunView]) -> str:
    """Return the summary; its first line is a comment by which a job finds its own comment again."""
    names = " ".join(sorted({re.sub(r"[^A-Za-z0-9_.-]", "", view.title) for view in views}))
    parts = [f"<!-- benchgate: {names} -->", ""]
    for view in views:
        parts += [*_decision(view), ""]
    room = MAX_CHARACTERS - len("\n".join(parts))
    for view in views:
        details = "\n".join(_details(view))
        if not details:
            continue
        room -= len(details)
        if room < 0:
            parts.append(
                f"The details of {code(view.title)} are left out: a comment has no room for them."
            )
            break
        parts += [details, ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def code(text: str) -> str:
    """Return a name as code: nothing in it is a link, a mention or markup."""
    shown = printable(excerpt(" ".join(text.split()), 200))
    if PLAIN.fullmatch(shown):
        return f"`{shown}`"
    return _tagged(shown)


def _tagged(text: str) -> str:
    return f"<code>{_entities(text)}</code>"


def prose(text: str) -> str:
    """Return a sentence as plain text: names are code, and so is what a forge could make a link or a mention of."""
    shown = printable(excerpt(" ".join(text.split()), 600))
    return "".join(_piece(part, is_name=is_name) for part, is_name in pieces(shown))


def _piece(text: str, *, is_name: bool) -> str:
    if is_name:
        return code(text)
    if re.search(r"[@#!]|://|www\.", text):
        return _tagged(text)
    return _entities(text)


def _entities(text: str) -> str:
    return MARKUP.sub(lambda mark: f"&#{ord(mark[0])};", html.escape(text, quote=False))


def _decision(view: RunView) -> Iterator[str]:
    decided = view.decided
    mark = f"{words.MARKS[decided.outcome]} {words.outcome(decided)}"
    headline = f"### {mark} {code(view.title)}: {prose(decided.headline.text)}"
    if decided.headline.code:
        headline += f" {code(decided.headline.code)}"
    yield headline
    lines = gate_lines(
        decided, view.door, cases=_case_lines(view), run=(*view.spent, *view.lacking)
    )
    yield from _verbatim(line for line in lines if not line.strong)


def _case_lines(view: RunView) -> Iterator[Line]:
    if view.source.report is None:
        return iter(())
    has_gain = view.decided.outcome == "promote"
    return case_lines(view.source.report, view.passed_before, view.changes, has_gain=has_gain)


def _verbatim(lines: Iterable[Line]) -> Iterator[str]:
    """Yield lines as they are printed: nothing in them is markup, a link or a mention."""
    shown = [
        text.replace("&", "&amp;").replace("<", "&lt;") for text, _ in laid_out(lines, COLUMNS)
    ]
    if shown:
        yield "\n".join(["\n<pre>", *shown, "</pre>"])


def _details(view: RunView) -> Iterator[str]:
    """Yield what a comment folds: the table of the cases, and what names the record."""
    folded = [*_cases(view), *(f"\n{prose(problem)}" for problem in view.source.problems)]
    record = view.source.record
    if record is not None:
        this = next((run.head for run in view.history if run.record.seq == record.seq), None)
        text = f"\nRecord {record.seq}, run {code(record.report.run_id[:16])}"
        if this is not None:
            text += f", head {code(f'{view.title}={this}')}"
        folded.append(text)
    rules = words.other_rules(view.source)
    if rules is not None:
        folded.append(f"\n{rules}")
    if folded:
        name = _tagged(printable(view.title))
        yield f"<details><summary>{name}: cases and record</summary>\n"
        yield from folded
        yield "\n</details>"


def _cases(view: RunView) -> Iterator[str]:
    """Yield the table of the cases; without a baseline those that pass are left out, for nothing became of them."""
    listed = [
        (key, group.title, case)
        for key, group in view.groups.items()
        for case in group.cases[: group.rows]
        if view.changes or case.after is None or not case.after.passed
    ]
    if not listed:
        return
    yield "| | case | before | now | change | why |"
    yield "|---|---|--:|--:|--:|---|"
    for key, title, case in listed:
        why = ""
        if key not in {"newly_passing", "rose"}:
            why = _why(case)
        yield _row(title, case, why)
    more = []
    for key, group in view.groups.items():
        left = len(group.cases) - group.rows
        if left > 0 and (view.changes or key != "passing"):
            more.append(f"{group.title.lower()} {left}")
    if more:
        yield f"\nNot listed: {', '.join(more)}"


def _row(title: str, case: CaseView, why: str) -> str:
    """Return a row of the table."""
    scores = []
    for side in (case.before, case.after):
        score = words.UNKNOWN
        if side is not None:
            score = words.number(side.score)
        scores.append(score)
    cells = (title, code(case.case_id), *scores, words.signed(case.delta), why)
    return f"| {' | '.join(cells)} |"


def _why(case: CaseView) -> str:
    """Return why a case scored as it did: of its first trial that did not pass, else of its first one."""
    for trial in sorted(case.trials, key=lambda trial: trial.passed):
        if trial.score is not None and trial.score.explanation is not None:
            return prose(excerpt(trial.score.explanation, 200))
        if trial.failure_modes:
            return ", ".join(code(mode.code) for mode in trial.failure_modes[:5])
        if trial.outcome != "scored":
            return code(trial.outcome)
        return ""
    return ""
