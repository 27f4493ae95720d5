"""``benchgate runs``: the full runs of an output folder and how far they came."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.cli.options import add_root, guarded
from benchgate.cli.say import complain, say, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from benchgate.audit.runs import KnownRun
    from benchgate.report.history import PastRun


VIEWS: Final = {
    "--scores": "list score, change, decision, look at the baseline and cost of the recorded runs of each class, the "
    "oldest first; checks nothing, benchgate verify does",
    "--cases": "list how many trials of each case each system passed, and which cases are flaky, saturated or dead",
    "--deployed": "say what is the baseline of each class, since when, by whom and on what evidence, and how the runs "
    "that were compared with it ended",
}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "runs",
        help="list the full runs of an output folder and how far they came",
        description="Lists recorded runs in the order of their chain, then those without a record.",
    )
    parser.add_argument("--out", type=Path, default=Path(".benchgate"), metavar="DIR")
    parser.add_argument("--task-class", metavar="CLASS", help="this class only")
    views = parser.add_mutually_exclusive_group()
    for view, text in VIEWS.items():
        views.add_argument(view, action="store_true", help=text)
    add_root(parser, "of --deployed: ")
    parser.add_argument("--json", action="store_true", help="print one JSON line for each run")
    parser.set_defaults(execute=guarded(_execute))


def _execute(args: argparse.Namespace) -> int:
    """List the runs; 1 if there is none, 2 for an unreadable folder."""
    if args.deployed:
        return _deployed(args)
    lines = list(_recorded(args) if args.scores or args.cases else _list(args))
    for line in lines:
        say(line)
    if not lines:
        none = "no run is recorded" if args.scores or args.cases else "there is no full run"
        complain(f"{args.out}: {none}")
    return 0 if lines else 1


def _list(args: argparse.Namespace) -> Iterable[str]:
    from benchgate.audit.runs import class_runs, known_runs
    from benchgate.wire.writing import json_line

    folders = class_runs(args.out, args.task_class)
    rows = [_row(runs.name, run) for runs in folders for run in known_runs(runs)]
    if args.json or not rows:
        return map(json_line, rows)
    return _in_columns([*map(_shown, rows)])


def _row(task_class: str, run: KnownRun) -> dict[str, Any]:
    from benchgate.aggregate import INCOMPLETE
    from benchgate.results.folder import Results

    plan = run.plan
    record = run.record
    row = {
        "task_class": task_class,
        "seq": run.seq,
        "folder": run.folder.name,
        "time": run.stamp,
        "state": run.state,
        "system": None,
        "run_id": None,
        "decision": None,
        "done": 0,
        "planned": None,
        "resumed_by": run.resumed_by,
    }
    if plan is not None:
        row["system"] = plan.system
        row["planned"] = len(plan.case_ids) * plan.trial_count * len(plan.sides)
    if record is not None:
        results = [*record.report.per_case]
        if record.rerun is not None:
            results += record.rerun.per_case
        row["system"] = record.report.system
        row["run_id"] = record.report.run_id
        row["decision"] = record.decision.outcome
        row["done"] = sum(result.outcome not in INCOMPLETE for result in results)
        row["planned"] = len(results) or row["planned"]
    elif plan is not None:
        left = Results.left_in(run.folder).all_of(plan.trial_keys())
        row["done"] = sum(1 for _ in left)
    return row


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    planned = row["planned"]
    if planned is None:
        planned = "?"
    return {
        "class": row["task_class"],
        "seq": row["seq"],
        "time": row["time"],
        "system": row["system"],
        "run id": row["run_id"] and row["run_id"][:12],
        "state": row["state"],
        "decision": row["decision"],
        "trials": f"{row['done']} of {planned}",
        "folder": row["folder"],
    }


def _in_columns(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the names of the values, which all rows have, and a line for each row."""
    cells = [["-" if value is None else str(value) for value in row.values()] for row in rows]
    lines = [list(rows[0]), *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for row in lines:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _recorded(args: argparse.Namespace) -> Iterator[str]:
    from benchgate.audit.runs import class_runs
    from benchgate.report.case_worth import case_worth
    from benchgate.report.history import past_runs
    from benchgate.wire.writing import json_line

    for runs in class_runs(args.out, args.task_class):
        past = [] if args.cases else past_runs(runs)
        rows = case_worth(runs) if args.cases else [run.plain() for run in past]
        if args.json:
            yield from (json_line({"task_class": runs.name, **row}) for row in rows)
        elif rows:
            yield runs.name
            yield from _in_columns([*map(_scores, past)] or rows)


def _scores(run: PastRun) -> dict[str, Any]:
    from benchgate.report.words import number
    from benchgate.wire.usage import usd

    record, report = run.record, run.record.report
    mean, bound, delta = run.figures
    marks = "" if report.complete else ", incomplete"
    marks += ", became the baseline" if run.pinned else ""
    return {
        "seq": record.seq,
        "time": f"{record.finished_at:%Y-%m-%d %H:%M}",
        "system": report.system,
        "mean": number(mean),
        "bound": number(bound),
        "delta": None if delta is None else f"{delta:+.3f}",
        "decision": f"{record.decision.outcome}{marks}",
        "look": run.look,
        "cost": usd(report.total_cost_usd) if report.total_cost_usd else None,
        "head": run.head[:-52],  # 12 digits of the hash
    }


def _deployed(args: argparse.Namespace) -> int:
    from benchgate.check.pinned import is_pinned
    from benchgate.loader.task_class import class_folders
    from benchgate.report.baselines import deployed

    if args.json:
        raise ValueError("--deployed has no --json; baseline.json and baseline.pin.json are JSON")
    wanted = args.task_class
    classes = class_folders(args.bench_root).items()
    pinned = {n: path for n, path in classes if wanted in {None, n} and is_pinned(path)}
    for name, path in pinned.items():
        say(name)
        show(deployed(path, args.out / "runs" / name))
    if not pinned:
        complain(f"{args.bench_root}: no baseline is pinned{f' of {wanted}' if wanted else ''}")
    return 0 if pinned else 1
