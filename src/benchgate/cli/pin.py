"""``benchgate pin RUN``: makes a run the baseline of its class, when a person says so."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.cli.bench_code import bench_path
from benchgate.cli.next_commands import NextCommands
from benchgate.cli.options import add_root, guarded
from benchgate.cli.say import complain, say, show
from benchgate.errors import ArtifactError, EvalError, brief, few
from benchgate.options.kinds import REASON, RUN_NAME

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.audit.runs import KnownRun
    from benchgate.cli.options import Parsers
    from benchgate.models import BenchRunReport

LARGE: Final = 20.0
"""Megabytes above which a person is asked before they are added to a repository."""


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "pin",
        help="make a run the baseline that later runs must beat; without --yes, show what would change",
        description="Compares a complete and verified run with bench/CLASS/baseline.json, and with --yes writes its "
        "record there, and beside it in baseline.pin.json who pinned it, when, and why.",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "run",
        type=RUN_NAME.read,
        nargs="?",
        metavar="RUN",
        help="number or folder, see benchgate runs",
    )
    text = "in its place: run the system of the baseline of --task-class on cases that are new"
    which.add_argument("--extend", action="store_true", help=text)
    parser.add_argument(
        "--task-class", metavar="CLASS", help="needed if several classes have a run of this number"
    )
    parser.add_argument("--out", type=Path, default=Path(".benchgate"), metavar="DIR")
    add_root(parser)
    parser.add_argument(
        "--reason",
        type=REASON.read,
        metavar="TEXT",
        help="why; required for a run that was rejected, has failures of severity block, is a replay, was decided by "
        "other rules, or may belong to another checkpoint, plan or observer, and for what extends one",
    )
    parser.add_argument(
        "--new-series",
        type=REASON.read,
        metavar="REASON",
        help="begin to count the looks anew, and say why: each decision shows it; without it all baselines of one "
        "system and rubric share a series until a candidate that it promoted is pinned",
    )
    parser.add_argument("--yes", action="store_true", help="write both files")
    parser.set_defaults(execute=guarded(_execute))


def _execute(args: argparse.Namespace) -> int:
    return _extend(args) if args.extend else _pin(args)


def _extend(args: argparse.Namespace) -> int:
    """Have the system of the baseline run on new cases, as it ran on the others, and pin that run."""
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.check.cases import read_cases
    from benchgate.gates.choice import FILE_NAME, choose_baseline
    from benchgate.loader.task_class import class_folder
    from benchgate.verify.pinnable import doubts, extended_records, objections

    if args.task_class is None:
        raise EvalError("--extend needs --task-class CLASS: whose baseline is extended")
    class_path = class_folder(args.bench_root, args.task_class)
    target = class_path / FILE_NAME
    choose_baseline("pinned", class_path)  # or say that there is none
    record = RunRecord.read_file(target, "record of a run")
    report = record.report
    run = run_of_baseline(args.out, class_path, record)
    cases, problems, _ = read_cases(class_path)
    new = cases.keys() - {result.case_id for result in report.per_case}
    refusals = [*map(str, problems), *objections(args.out, run, class_path, new)]
    if record.subject.kind == "checkpoint":
        refusals.append(f"{target}: is of a checkpoint; run all cases, and pin that run")
    if refusals:
        raise EvalError(brief(refusals, "; "))
    if not new:
        say(f"{target} has all cases of the class")
        return 0
    # Asked before the run: what it costs would be lost without an answer.
    is_answered = _is_answered(args, target, doubts(record, extended_records(run)))
    if not args.yes:
        say(f"{target} lacks {few(new)}; with --yes {report.system} runs on these")
        return 0
    if not is_answered:
        return 1
    args.run = _run_again(args, run, record)
    return _pin(args)


def run_of_baseline(out: Path, class_path: Path, record: RunRecord) -> KnownRun:
    """
    Return the run that is pinned, with its trials: a clone of a repository has its record alone.

    :raises ArtifactError: it is not in the output folder.
    """
    from benchgate.audit.runs import run_of_class
    from benchgate.gates.choice import FILE_NAME

    with suppress(ArtifactError):
        run = run_of_class(out, class_path.name, str(record.seq))
        if run.record == record:
            return run
    do = NextCommands.of(class_path)
    again = f"{do.run} {do.option}system={record.report.system} {do.option}baseline=none"
    why = (
        f"its run {record.seq} is not in {out}, and a clone has no runs: give --out DIR with the pinned run, or run "
        f"all cases, {again}, and pin that run by its number"
    )
    raise ArtifactError(class_path / FILE_NAME, why)


def _run_again(args: argparse.Namespace, run: KnownRun, record: RunRecord) -> str:
    """Run the system of a record as it ran, on the cases that its run lacks; return the number of the new run."""
    from benchgate.cli.run import asked, warned
    from benchgate.runner.run import run_class

    report = record.report
    as_it_ran = {
        "out": args.out,
        "system": report.system,
        "trials": report.trial_count,
        "seed": report.seed,
        "isolation": report.isolation_class.removesuffix("+network"),
        "baseline": "none",
        "stop": "never",
        "resume": "none",
    }
    if run.plan is not None:
        as_it_ran["timeout"] = run.plan.timeout_seconds
    if record.replays is not None and record.replays.kind == "cassette":
        as_it_ran["replay"] = record.replays.name
    own = {"task_class": args.task_class, "bench_root": args.bench_root, "extends": run}
    with redirect_stdout(sys.stderr), bench_path(args.bench_root, lasts=args.is_program):
        done = run_class(asked(as_it_ran, _environ(), **own).settings, on_warning=warned)
    if done.published is None:
        raise EvalError(brief(done.problems, "; "))
    return str(done.published.seq)


def _environ() -> dict[str, str]:
    """Return the environment, which may say how the new cases run, but not what they are taken from or kept as."""
    from benchgate.options.table import BY_KEY
    from benchgate.results.rules import RECORDED

    others = {BY_KEY[key].variable for key in (*RECORDED, "record", "shard")}
    return {name: value for name, value in os.environ.items() if name not in others}


def _pin(args: argparse.Namespace) -> int:
    """Show or pin; 1 if the run must not be pinned, or not without a reason, or its class is unknown."""
    from benchgate.audit.runs import chosen, class_runs
    from benchgate.loader.task_class import class_folder
    from benchgate.verify.pinnable import objections

    run = chosen(args.out, class_runs(args.out, args.task_class), args.run)
    class_path = class_folder(args.bench_root, run.folder.parent.name)
    refusals = list(objections(args.out, run, class_path))
    for line in brief(refusals).splitlines():
        complain(line)
    if refusals or run.record is None:
        return 1
    return _pin_record(args, run, run.record, class_path)


def _pin_record(
    args: argparse.Namespace, run: KnownRun, record: RunRecord, class_path: Path
) -> int:
    """Show what a run would change as the baseline, and make it that if a person says so."""
    from benchgate.artifacts.pin import Pin, stated
    from benchgate.artifacts.provenance import ACTORS, first_of, git
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.audit.chain import RECORD_FILE
    from benchgate.check.pinned import pin_of
    from benchgate.gates.choice import FILE_NAME, PIN_FILE
    from benchgate.report.baselines import pin_lines, sentence
    from benchgate.verify.pinnable import doubts, extended_pins, extended_records, unchecked
    from benchgate.wire import clock
    from benchgate.wire.files import file_sha256
    from benchgate.wire.parsing import MAX_JSON_BYTES

    target = class_path / FILE_NAME
    before = RunRecord.read_or_none(target)
    there = pin_of(class_path)
    parts = extended_records(run)
    extends = extended_pins(run, parts, there)
    sha256 = file_sha256(run.folder / RECORD_FILE, limit=MAX_JSON_BYTES)
    change = sentence(before, record)
    same = there if there is not None and there.sha256 == sha256 else None
    if same is not None:
        # What was said of it stays, where only its looks are counted anew.
        args.reason = args.reason or same.reason
        change = same.change
    show(pin_lines(target, before, record, pinned=there, extends=extends))
    doubted = [*unchecked(record), *doubts(record, parts)]
    is_answered = _is_answered(args, run.folder, doubted)
    if args.yes and not is_answered:
        return 1
    pin = Pin(
        **stated(record, sha256),
        by=first_of(ACTORS) or git(target.parent, "config", "user.name"),
        at=clock.now(),
        reason=args.reason,
        change=change,
        extends=extends,
        new_series=args.new_series,
    )
    if pin.new_series is not None:
        are = "are" if args.yes else "would be"
        say(f"looks     {are} counted anew: {pin.new_series}")
    elif same is not None:
        say(f"unchanged {target} is this record already")
        return 0
    if not args.yes:
        say(f"{target} is not written; with --yes it is")
        return 0
    if record.report.observer is not None:
        _keep_outputs(record.report, run.folder, class_path)
    pin.write(run.folder / RECORD_FILE, target)
    say(f"written   {target}, {PIN_FILE}")
    return 0


def _is_answered(args: argparse.Namespace, what: Path, doubts: Iterable[str]) -> bool:
    """Return whether a reason was given if one is needed; else say what it has to answer."""
    unanswered = [] if args.reason else list(doubts)
    for doubt in unanswered:
        complain(f"{what}: is pinned with --reason=TEXT only: {doubt}")
    return not unanswered


def _keep_outputs(report: BenchRunReport, run: Path, class_path: Path) -> None:
    """Keep the outputs as a cassette, from which whoever has the repository can have them observed again."""
    from benchgate.cassettes.manifest import PINNED
    from benchgate.replay.recorder import CassetteRecorder

    size = sum(path.stat().st_size for path in (run / "cases").iterdir()) / 1e6
    recorder = CassetteRecorder(class_path, PINNED)
    if size > LARGE:
        asked = f"{recorder.folder} will have {size:.0f} MB; write it? [y/N] "
        if not (sys.stdin.isatty() and input(asked) == "y"):
            shutil.rmtree(recorder.folder, ignore_errors=True)  # outputs of the baseline before
            why = f"its {size:.0f} MB are above {LARGE:.0f}, and nobody said y at a terminal"
            say(f"not kept  {recorder.folder}: {why}; --reobserve=pinned will not find it")
            return
    say(f"written   {recorder.write(report, run, None)}, {size:.1f} MB")
