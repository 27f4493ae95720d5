"""``benchgate run --task-class CLASS``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from benchgate.cli.bench_code import add_bench, bench_code
from benchgate.cli.say import complain, show
from benchgate.errors import EvalError, PolicyError, TaskClassNotFound
from benchgate.options.table import RUN_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.gates.judge import Judgement
    from benchgate.models import TrialResult
    from benchgate.report.publish import Publication
    from benchgate.runner.class_run import ClassRun
    from benchgate.runner.settings import RunSettings


class Asked(NamedTuple):
    """
    What a run is asked for.

    :param thresholds: where each threshold is from that the class does not set.
    """

    settings: RunSettings
    publication: Publication
    thresholds: Mapping[str, str]


class Outs(NamedTuple):
    """Where a finished run is printed, as a JSON line and as its block."""

    line: TextIO | None
    block: TextIO


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run",
        help="run the cases of a task class without pytest",
        description="Prints one JSON line for each trial and then one for the run. Exits with 0 if the run is "
        "complete, nothing of severity block occurred and the gate promotes or has no baseline; with 10 if it holds.",
    )
    parser.add_argument("--task-class", required=True, metavar="CLASS")
    parser.add_argument("--cases", metavar="GLOB", help="only cases whose id matches")
    add_bench(parser)
    for option in RUN_OPTIONS:
        option.declare(parser.add_argument)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Run the class and print its results; 1 if the run fails or the class is unknown, 2 for wrong use."""
    try:
        with bench_code(args) as out:
            return _run(args, out)
    except EvalError as error:
        complain(error)
        return 2


def _run(args: argparse.Namespace, out: TextIO) -> int:
    from benchgate.runner.progress import Progress, told_each_minute
    from benchgate.runner.run import run_class
    from benchgate.trials.interrupts import Interrupts

    progress = Progress()
    printed: set[tuple[str, int]] = set()

    def show_once(result: TrialResult) -> None:
        """Print a trial when it ends, or with the run if it never ran."""
        key = (result.case_id, result.trial)
        if key not in printed:
            printed.add(key)
            # Not model_dump_json: json.dumps escapes whatever could steer a terminal.
            print(json.dumps(result.model_dump(mode="json")), file=out, flush=True)

    try:
        with Interrupts() as interrupts, told_each_minute(progress.line, 2):

            def on_result(result: TrialResult) -> None:
                progress.add(result)
                show_once(result)
                interrupts.check()

            run = asked(
                vars(args),
                task_class=args.task_class,
                case_filter=args.cases,
                bench_root=args.bench_root,
            )
            finished = run_class(run.settings, on_result, progress.plan, warned)
    except TaskClassNotFound as error:
        complain(error)
        return 1
    except (EvalError, argparse.ArgumentTypeError) as error:
        # Of several options that are wrong there is a line each; other errors escape what they quote themselves.
        for line in str(error).split("\n"):
            complain(_own(line))
        return 2
    for result in _results(finished):
        show_once(result)
    outs = Outs(line=out, block=sys.stderr)
    return shown(finished, run.publication, outs, run.thresholds)


def _results(finished: ClassRun) -> Sequence[TrialResult]:
    if finished.judgement is None:
        return ()
    return finished.judgement.report.per_case


def shown(
    finished: ClassRun, publication: Publication, outs: Outs, places: Mapping[str, str]
) -> int:
    """
    Write page and summary of a finished run, print it, and return the exit status.

    :param places: where each threshold is from that the class does not set.
    """
    if finished.judgement is not None:
        folders = []
        if finished.published is not None:
            folders.append(finished.published.folder)
        problem = publication.write_page(folders)
        if problem:
            finished.problems.append(problem)
        warning = publication.append_summary(folders)
        if warning:
            complain(warning)
        _print_run(finished, finished.judgement, outs, places)
    for failure in finished.failures:
        complain(_own(failure))
    return finished.exit_status


def warned(text: str) -> None:
    """Print a warning of a run, as a line of its own."""
    complain(f"warning   {_own(text)}")


def _own(text: object) -> str:
    """Return a message with the options of the command, in the place of those of pytest."""
    from benchgate.wording.lines import at_door

    return at_door(str(text), "--")


def asked(
    given: Mapping[str, Any],
    environ: Mapping[str, str] = os.environ,
    *,
    task_class: str,
    bench_root: Path,
    **own: Any,
) -> Asked:
    """
    Return what options, environment and class say.

    :param given: the options that were typed, by their keys.
    :param own: settings that are no options.
    :raises argparse.ArgumentTypeError: as of :func:`~benchgate.options.places.read_options`.
    """
    from benchgate.gates.policy import FILE_NAME, load_run_table
    from benchgate.options.places import (
        arguments,
        class_file,
        environment,
        misspelled,
        read_options,
    )
    from benchgate.report.publish import Publication
    from benchgate.runner.settings import RunSettings

    class_path = bench_root / task_class
    declared: dict[str, Any] = {}
    with suppress(PolicyError):  # which is reported with all that is wrong with the class
        declared = load_run_table(class_path).options
    here = Path.cwd()
    places = (
        class_file(declared, class_path / FILE_NAME),
        environment(environ, here),
        arguments(given, here),
    )
    settled = read_options(RUN_OPTIONS, places)
    for line in misspelled(environ):
        complain(line)
    publication = Publication.take(settled.values)
    publication.check()
    settings = RunSettings.of_options(
        settled.values, task_class=task_class, bench_root=bench_root, **own
    )
    return Asked(settings, publication, settled.thresholds)


def _print_run(
    finished: ClassRun, judgement: Judgement, outs: Outs, places: Mapping[str, str]
) -> None:
    from benchgate.audit.runs import pin_command
    from benchgate.wire.writing import json_line
    from benchgate.wording.block import Door, block, threshold_lines

    report = judgement.report.model_dump(mode="json", exclude={"per_case"})
    decision = judgement.decision.model_dump(mode="json") if judgement.decision else None
    beside = judgement.run.beside
    # Not without --baseline=run:SYSTEM: programs read this line.
    baseline = {"baseline": beside.model_dump(mode="json", exclude={"per_case"})} if beside else {}
    line = {**report, **baseline, "decision": decision, **_written(finished)}
    if outs.line is not None:
        print(json_line(line), file=outs.line, flush=True)
    show(threshold_lines(judgement.policy, places), outs.block)
    published = finished.published
    door = Door(
        pin=pin_command(published.folder, published.seq, Path.cwd()) if published else "",
        files=str(published.folder) if published else "",
    )
    show(block(judgement, door), outs.block)


def _written(finished: ClassRun) -> dict[str, Any]:
    published = finished.published
    if published is None:
        return {"folder": None, "head": None, "verdict": "not_evaluated"}
    verdict = published.verdict
    return {
        "folder": str(published.folder),
        "head": published.head,
        **({"shard": published.shard} if published.shard else {}),
        "verdict": verdict if verdict == "not_evaluated" else verdict.model_dump(mode="json"),
    }
