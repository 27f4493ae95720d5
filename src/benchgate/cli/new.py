"""``benchgate new class NAME``, and ``new case CLASS ID``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from benchgate.cli.new_rows import add_rows, check_rows, class_of_rows
from benchgate.cli.next_commands import BENCH_ROOT, NextCommands
from benchgate.cli.options import add_root, guarded
from benchgate.cli.say import complain, say
from benchgate.errors import (
    ArtifactError,
    BenchCaseLoadError,
    TaskClassAlreadyRegistered,
    TaskClassNotFound,
    printable,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from benchgate.cli.options import Parsers

ONCE = "; an id is never given to another case"


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command and its two kinds."""
    kinds = commands.add_parser(
        "new", help="make the folder of a new task class that runs, or of a new case"
    ).add_subparsers(required=True, metavar="class|case")
    parser = kinds.add_parser(
        "class",
        help="cases, rubric, two systems",
        description="Makes bench/NAME/ with three cases, a rubric and its tests, failure modes, thresholds and two "
        "systems, to be changed into your own; or with a case for each row of a table. Never changes what exists "
        "already.",
    )
    parser.add_argument("name", metavar="NAME", help="lower-case words joined by '-'")
    add_rows(parser)
    add_root(parser)
    parser.set_defaults(execute=_guarded(_class))
    parser = kinds.add_parser(
        "case",
        help="a case.toml to fill in, input/ and expected/",
        description="Makes case.toml, input/ and expected/; never changes what exists already. The keys of "
        "[facts] are those of the newest case of the class.",
    )
    parser.add_argument("task_class", metavar="CLASS")
    parser.add_argument("case_id", metavar="ID")
    add_root(parser)
    parser.set_defaults(execute=_guarded(_case))


def _guarded(make: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Say why there is no new folder, as exit status 1 if it is there or its class is not, else 2."""

    def run(args: argparse.Namespace) -> int:
        try:
            return make(args)
        except FileExistsError as error:
            complain(f"{error.filename}: exists already{ONCE if 'case_id' in args else ''}")
            return 1
        except BrokenPipeError:  # of what is printed
            raise
        except OSError as error:
            why = f"cannot be written: {error.strerror}"
            raise ArtifactError(error.filename, why) from error
        except BenchCaseLoadError as error:
            for _, key, text in error.faults:
                complain(f"{key}: {text}")
            return 2

    return guarded(run, (TaskClassAlreadyRegistered, TaskClassNotFound))


def _class(args: argparse.Namespace) -> int:
    from benchgate.loader.new import class_templates, make_class_folder
    from benchgate.wire.clock import now

    if args.table is not None:
        return class_of_rows(args)
    check_rows(args)
    texts = class_templates(args.name, NOW=f"{now():%Y-%m-%dT%H:%M:%SZ}")
    print(printable(_next_steps(make_class_folder(args.bench_root, args.name, texts)), keep="\n"))
    return 0


def _next_steps(folder: Path) -> str:
    """Return how a new class is run, as commands."""
    name = folder.name
    do = NextCommands.of(folder)
    return f"""\
{folder}

{do.mark}# check what is there, and test the rubric
benchgate check {name}{do.root}
pytest {shlex.quote(str(folder / "tests"))}
# run the weaker system
{do.run} {do.option}system=current {do.option}baseline=none
# make that run the baseline by the number that it printed: 1, unless you ran it more than once
benchgate pin 1 --task-class {name}{do.root} --yes --reason 'the first baseline'
# run the better one against it; the gate says HOLD, for three cases are too few
{do.run}
# then put your system, rubric and cases in their place; this makes the next case
benchgate new case {name} 004-next{do.root}{do.extras}"""


def _case(args: argparse.Namespace) -> int:
    from benchgate.loader.new import make_case_folder
    from benchgate.wire.clock import now

    path, example = make_case_folder(args.bench_root, args.task_class, args.case_id, now=now())
    facts = ""
    if example and example.facts:
        facts = f": [facts] ({', '.join(example.facts)}: as in {example.case.case_id})"
    alone = f"pytest {shlex.quote(str(path))}"
    check = f"benchgate check {args.task_class}"
    if args.bench_root != BENCH_ROOT:
        root = f" --bench-root {shlex.quote(str(args.bench_root))}"
        alone = f"benchgate run --task-class {args.task_class} --cases {args.case_id}{root}"
        check += root
    say(f"{path}: fill in input/, expected/ or remove it, and case.toml{facts}")
    say(f"{alone}; {check}")
    return 0
