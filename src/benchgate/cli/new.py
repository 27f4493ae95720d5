"""``benchgate new class NAME``, and ``new case CLASS ID``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.gate_logs import add_reading, reading
from benchgate.cli.options import add_root, guarded
from benchgate.cli.say import complain
from benchgate.errors import (
    ArtifactError,
    BenchCaseLoadError,
    TaskClassAlreadyRegistered,
    TaskClassNotFound,
    counted,
    printable,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from benchgate.cli.options import Parsers

BENCH_ROOT = Path("bench")
ONCE = "; an id is never given to another case"
SETTINGS = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini")
FROM_NOTHING = (
    "run the weaker system",
    "current",
    "run the better one against it; the gate says HOLD, for three cases are too few",
    """
# then put your system, rubric and cases in their place; this makes the next case
benchgate new case @ 004-next""",
)
FROM_LOG = (
    "play the answers of the log again",
    "recorded",
    "call your agent in candidate() of registration.py, then run it against the log",
)
"""What to do next; @ is the name of the class."""

MOST = 0.9
"""Share of samples on which the rubric and the log agree at least, if the rubric is to be used as it was written."""

MARK_ROOT = """\
# mark the root of the project, for pytest looks for bench/ in the folder with its settings
printf '[pytest]\\n' > pytest.ini
"""


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command and its two kinds."""
    kinds = commands.add_parser(
        "new", help="make the folder of a new task class that runs, or of a new case"
    ).add_subparsers(required=True, metavar="class|case")
    parser = kinds.add_parser(
        "class",
        help="cases, rubric, two systems",
        description="Makes bench/NAME/ with three cases, a rubric and its tests, failure modes, thresholds and two "
        "systems, to be changed into your own; never changes what exists already. With --from LOG: the cases, targets "
        "and answers of a log that has them, and the answers as a system that is played again.",
    )
    parser.add_argument("name", metavar="NAME", help="lower-case words joined by '-'")
    add_root(parser)
    parser.add_argument(
        "--from", dest="log", type=Path, metavar="LOG", help="of inspect_ai, JSON lines or CSV"
    )
    add_reading(parser)
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


def _guarded(make: Callable[[argparse.Namespace], None]) -> Callable[[argparse.Namespace], int]:
    """Say why there is no new folder, as exit status 1 if it is there or its class is not, else 2."""

    def run(args: argparse.Namespace) -> int:
        try:
            make(args)
        except FileExistsError as error:
            complain(f"{error.filename}: exists already{ONCE if 'case_id' in args else ''}")
            return 1
        except OSError as error:
            why = f"cannot be written: {error.strerror}"
            raise ArtifactError(error.filename, why) from error
        except BenchCaseLoadError as error:
            for _, key, text in error.faults:
                complain(f"{key}: {text}")
            return 2
        return 0

    return guarded(run, (TaskClassAlreadyRegistered, TaskClassNotFound))


def _class(args: argparse.Namespace) -> None:
    from benchgate.interop.convert import class_files
    from benchgate.loader.new_class import class_templates, make_class_folder
    from benchgate.wire.clock import now

    agreed: list[bool | None] = []
    if args.log:
        texts, agreed = class_files(args.log, args.name, now(), reading(args))
    else:
        stamp = f"{now():%Y-%m-%dT%H:%M:%SZ}"
        texts = class_templates("new_class_files", args.name, NOW=stamp)
    steps = FROM_LOG if args.log else FROM_NOTHING
    folder = make_class_folder(args.bench_root, args.name, texts)
    commands = _next_steps(folder, *(step.replace("@", folder.name) for step in steps))
    print(printable(commands, keep="\n"))
    if not agreed:
        return
    unanswered = agreed.count(None)
    shown = f"{agreed.count(True)} of {counted(len(agreed) - unanswered, 'sample')}"
    print(f"rubric   says what the log says on {shown}")
    if agreed.count(True) < MOST * (len(agreed) - unanswered):
        complain("the rubric is not the scorer of the log: mend rubric.py before you pin")
    if unanswered:
        count = counted(unanswered, "sample")
        complain(f"{count} of the log without an answer: these trials of 'recorded' will fail")


def _next_steps(folder: Path, first: str, system: str, second: str, last: str = "") -> str:
    """
    Return how a new class is run, as commands.

    :param first: what the first run is, which is pinned, and ``system`` what it runs.
    :param second: what the run against it is.
    :param last: what to do then.
    """
    name, root, run, option = folder.name, "", f"pytest --bench={folder.name}", "--bench-"
    mark = "" if any(map(os.path.exists, SETTINGS)) else MARK_ROOT
    if folder.parent != BENCH_ROOT:
        root = f" --bench-root {shlex.quote(str(folder.parent))}"
        run, option = f"benchgate run --task-class {name}{root} --out .benchgate", "--"
        mark = ""
    return f"""\
{folder}

{mark}# check what is there, and test the rubric
benchgate check {name}{root}
pytest {shlex.quote(str(folder / "tests"))}
# {first}, and make that run the baseline by its number, which benchgate runs lists
{run} {option}system={system} {option}baseline=none
benchgate pin 1 --task-class {name}{root} --yes --reason 'the first baseline'
# {second}
{run}{last and last + root}"""


def _case(args: argparse.Namespace) -> None:
    from benchgate.loader.new_case import make_case_folder
    from benchgate.wire.clock import now

    path, example = make_case_folder(args.bench_root, args.task_class, args.case_id, now=now())
    facts = "[facts]"
    if example and example.facts:
        facts = f"[facts] ({', '.join(example.facts)}: as in {example.case.case_id})"
    alone, check = f"pytest {shlex.quote(str(path))}", f"benchgate check {args.task_class}"
    if args.bench_root != BENCH_ROOT:
        root = f" --bench-root {shlex.quote(str(args.bench_root))}"
        alone = f"benchgate run --task-class {args.task_class} --cases {args.case_id}{root}"
        check += root
    text = f"""{path}

Fill in, then run it alone and check the class:
  case.toml  disposition, difficulty, source, {facts},
             tags, held_out
  input/     what the system gets; git keeps no empty folder, so it needs a file
             (or put an input-pointer.toml in its place)
  expected/  what only the rubric gets; remove the folder if there is nothing

  {alone}
  {check}"""
    print(printable(text, keep="\n"))
