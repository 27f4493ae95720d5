"""``benchgate new class NAME --cases FILE``: a class whose cases are the rows of a table, and later the new rows."""

from __future__ import annotations

import os
import re
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.cli.bench_code import bench_path
from benchgate.cli.next_commands import NextCommands
from benchgate.cli.say import complain, say
from benchgate.errors import ArtifactError, EvalError, LocatedError, counted, few, printable
from benchgate.interop.roles import CASE_ROLES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from benchgate.loader.from_rows import CaseRow, CasesOfRows

OUT: Final = Path(".benchgate")
MOST: Final = 6
"""Fields of an answer that are shown."""

MOST_ROWS: Final = 3
"""Rows that are shown of those that are not what their case has."""

PLAIN: Final = re.compile(r"[\w .-]+")
"""The name of a field that stands in any text as it is."""

SMALL: Final = """
    # A small bench stays at the tier bronze. Remove this line when there are ten cases.
    min_cases_for_promotion={{"bronze": {0}}},"""


def add_rows(parser: argparse.ArgumentParser) -> None:
    """Declare the table that the cases are made from, and how it is read."""
    parser.add_argument(
        "--cases",
        dest="table",
        type=Path,
        metavar="FILE",
        help="JSON, JSON lines or CSV: make each row a case, in a class whose rubric compares the answer with the "
        "expected one; if the class is there, add the rows that are new",
    )
    parser.add_argument(
        "--map",
        action="append",
        metavar="ROLE=FIELD,...|FILE.toml",
        help=f"the fields of a row that are its {', '.join(CASE_ROLES)}, as in case=id,input=question,expected=label; "
        "the rest is as of benchgate gate",
    )
    parser.add_argument(
        "--rows", metavar="FIELD", help="the field of a JSON document with the rows"
    )
    parser.add_argument(
        "--where", action="append", metavar="FIELD=VALUE", help="take only rows with this value"
    )


def check_rows(args: argparse.Namespace) -> None:
    """Refuse options that only tables have; :raises EvalError: there is one, and no table."""
    for name in ("map", "rows", "where"):
        if getattr(args, name) is not None:
            raise EvalError(f"--{name} says how a table is read: give it with --cases FILE")


def class_of_rows(args: argparse.Namespace) -> int:
    """Make a class from the rows of a table, or add those that are new; 1 if a row is not what its case has."""
    from benchgate.interop.asked import parse_map
    from benchgate.interop.cases import read_rows
    from benchgate.loader.from_rows import cases_of_rows, has_rows
    from benchgate.loader.new import check_class_name
    from benchgate.wire.clock import now

    check_class_name(args.bench_root, args.name)
    class_path = args.bench_root / args.name
    is_there = os.path.lexists(class_path)
    if is_there and not has_rows(class_path):
        complain(f"{class_path}: exists already, and no case of it is made from a row")
        return 1
    try:
        rows = read_rows(args.table, parse_map(args.map or ()), args.rows, args.where or ())
        found = cases_of_rows(args.table, rows, class_path, now=now())
    except LocatedError as error:
        if error.path != args.table:
            raise
        complain(error)
        complain("nothing is written: mend these rows or leave them out, then type it again")
        return 2
    if is_there:
        return _add(args, class_path, found)
    _make(args, rows, found)
    say(f"{class_path}: {counted(len(rows), 'case')} from {args.table}")
    say("score     the share of an answer's fields that are right; more is better")
    _run_floors(args)
    _count_leaks(args)
    print(printable(_steps(class_path, rows[0]), keep="\n"))
    return 0


def _make(args: argparse.Namespace, rows: Sequence[CaseRow], found: CasesOfRows) -> None:
    from benchgate.loader.new import class_templates, make_class_folder
    from benchgate.registry import MIN_CASES

    is_small = len(rows) < MIN_CASES["bronze"]
    words = {
        "FILE": printable(args.table.name),
        "COMMAND": _command(args),
        "SHAPE": _shape(rows[0]),
        "SMALL": SMALL.format(len(rows)) if is_small else "",
    }
    texts = class_templates(args.name, "rows", **words)
    for case_id, files in found.new.items():
        texts |= {f"cases/{case_id}/{path}": text for path, text in files.items()}
    make_class_folder(args.bench_root, args.name, texts)


def _command(args: argparse.Namespace) -> str:
    """Return the command as it was typed, for whoever adds rows later."""
    words = ["benchgate", "new", "class", args.name, "--cases", str(args.table)]
    for option, values in (("--map", args.map), ("--where", args.where)):
        for value in values or ():
            words += [option, value]
    if args.rows is not None:
        words += ["--rows", args.rows]
    return printable(shlex.join(words) + NextCommands.of(args.bench_root / args.name).root)


def _shape(row: CaseRow) -> str:
    """Return what an answer looks like: the fields of the first row's, without their values."""
    names = ["answer"]
    if isinstance(row.expected, dict) and row.expected:
        names = list(row.expected)
    # It is written into Python too.
    shown = [f'"{name}": ...' for name in names[:MOST] if PLAIN.fullmatch(name)]
    if len(shown) < len(names):
        shown.append("...")
    return f"{{{', '.join(shown)}}}"


def _run_floors(args: argparse.Namespace) -> None:
    """Run the systems that do nothing, once: what they score, the class gives away."""
    from benchgate.cli.run import asked, warned
    from benchgate.registry import FLOORS
    from benchgate.runner.run import run_class

    for floor in FLOORS:
        typed = {"system": floor, "out": OUT}
        try:
            with redirect_stdout(sys.stderr), bench_path(args.bench_root, lasts=False):
                run = asked(typed, task_class=args.name, bench_root=args.bench_root)
                done = run_class(run.settings, on_warning=warned)
        except EvalError as error:
            complain(f"floor     {floor} did not run: {error}")
            continue
        if done.judgement is not None:
            for text in done.judgement.run.floor:
                say(f"floor     {text}")
        for problem in done.problems:
            complain(problem)


def _count_leaks(args: argparse.Namespace) -> None:
    """Say how many rows may have their answer in their input, most often because a map took too much."""
    from benchgate.check import check_class

    leaking = {warning.path for warning in check_class(args.bench_root, args.name).warnings}
    if leaking:
        root = NextCommands.of(args.bench_root / args.name).root
        files = counted(len(leaking), "input")
        say(f"leaks     {files} may have the answer: benchgate check {args.name}{root} names each")


def _steps(class_path: Path, row: CaseRow) -> str:
    """Return what to do next, as commands."""
    from benchgate.audit.chain import next_number

    name = class_path.name
    do = NextCommands.of(class_path)
    number = next_number(OUT / "runs" / name)
    return f"""
# first make {class_path / "systems/agent.py"} call your agent: it returns {_shape(row)}
{do.mark}# run the agent of today
{do.run}{do.by_gate} {do.option}system=current {do.option}baseline=none
# make that run the baseline by the number that it printed: {number}, unless you ran it more than once
benchgate pin {number} --task-class {name}{do.root} --yes --reason 'what runs today'
# run the agent that you want to ship, and compare it with the baseline
{do.run}{do.by_gate}{do.extras}"""


def _add(args: argparse.Namespace, class_path: Path, found: CasesOfRows) -> int:
    """Add the new cases to a class; say which rows are not added, and what the baseline lacks."""
    from benchgate.loader.new import create_folders

    create_folders(class_path / "cases", found.new)
    new = counted(len(found.new), "new case")
    say(f"{class_path}: {new} from {args.table}, {found.same} there already")
    for line in _of_changed(class_path, found):
        complain(line)
    if found.new:
        _run_floors(args)
        _count_leaks(args)
    for line in _of_baseline(class_path):
        say(line)
    return 1 if found.changed else 0


def _of_changed(class_path: Path, found: CasesOfRows) -> Iterator[str]:
    """Yield the first rows that are not what their case has, and what to do about them."""
    if not found.changed:
        return
    for row, case_id, what in found.changed[:MOST_ROWS]:
        folder = class_path / "cases" / case_id
        yield f"changed   {row.place}: {', '.join(what)} of {row.id}; not written: {folder}"
    more = len(found.changed) - MOST_ROWS
    if more > 0:
        yield f"          ... {more} more"
    if not found.same:
        yield f"          no row is as its case: was --map the one in {class_path / 'README.md'}?"
    yield (
        "          to take such a row over, remove the folder of its case and type this again; then run and pin the "
        "baseline again, for its result there is of the old row"
    )


def _of_baseline(class_path: Path) -> Iterator[str]:
    """Yield what the pinned baseline lacks, and the command that mends it."""
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.cli.pin import run_of_baseline
    from benchgate.gates.choice import FILE_NAME
    from benchgate.loader.case_folder import case_folders

    record = RunRecord.read_or_none(class_path / FILE_NAME)
    if record is None:
        yield "baseline  none is pinned"
        return
    known = {result.case_id for result in record.report.per_case}
    lacking = [folder.name for folder in case_folders(class_path) if folder.name not in known]
    if not lacking:
        yield "baseline  has all cases"
        return
    yield f"baseline  lacks {counted(len(lacking), 'case')}, which no comparison counts: {few(lacking)}"
    try:
        run_of_baseline(OUT, class_path, record)
    except ArtifactError as error:
        yield f"next      {error}"
        return
    root = NextCommands.of(class_path).root
    command = f"benchgate pin --extend --task-class {class_path.name}{root} --yes"
    yield f"next      {command}: runs {record.report.system} on these alone, and pins that"
