"""``benchgate history CLASS``: the recorded runs of a class, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.say import complain, say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from benchgate.report.history import PastRun


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "history",
        help="list the recorded runs of a class: score, change, decision, look at the baseline, cost",
        description="The oldest run first. look: how many different results, with these, were compared with the same "
        "baseline on the same cases by the same rubric. Checks nothing; benchgate verify does.",
    )
    parser.add_argument("task_class", metavar="CLASS")
    parser.add_argument("--out", type=Path, default=Path(".benchgate"), metavar="DIR")
    parser.add_argument("--json", action="store_true", help="one JSON object a run")
    parser.set_defaults(execute=execute)


def execute(given: argparse.Namespace) -> int:
    """Print a line a run; 1 if the class has none."""
    from benchgate.audit.runs import class_runs
    from benchgate.errors import EvalError
    from benchgate.report.history import past_runs, sparkline
    from benchgate.wire.writing import json_line

    try:
        found = [run for runs in class_runs(given.out, given.task_class) for run in past_runs(runs)]
    except EvalError as error:
        complain(error)
        return 1
    if not found:
        complain(f"{given.out}: no run of {given.task_class} is recorded")
        return 1
    if given.json:
        for run in found:
            say(json_line(run.plain()))
        return 0
    for line in _table(found):
        say(line)
    if len(found) > 1:
        say(f"mean score  {sparkline([run.report.mean_score for run in found])}")
    return 0


def _table(runs: list[PastRun]) -> Iterator[str]:
    from benchgate.report.words import number
    from benchgate.wire.usage import usd

    rows = [
        ("seq", "time", "system", "mean", "bound", "delta", "decision", "look", "cost USD", "head")
    ]
    for run in runs:
        report = run.report
        outcome = run.decision.outcome if run.decision else "not judged"
        marks = "" if report.complete else ", incomplete"
        marks += ", became the baseline" if run.pinned else ""
        rows.append(
            (
                str(run.seq),
                f"{run.time:%Y-%m-%d %H:%M}",
                report.system,
                number(report.mean_score),
                number(report.score_lower_bound_95),
                "-" if run.mean_delta is None else f"{run.mean_delta:+.3f}",
                f"{outcome}{marks}",
                str(run.look or "-"),
                usd(report.total_cost_usd) if report.total_cost_usd else "-",
                f"{run.seq}:{run.head[:12]}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
