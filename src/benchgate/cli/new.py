"""``benchgate new class NAME``, and ``new case CLASS ID``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.gate_logs import add_reading
from benchgate.cli.new_case import BENCH_ROOT, make_case
from benchgate.cli.say import complain
from benchgate.errors import counted, printable

if TYPE_CHECKING:
    import argparse

    from benchgate.cli.vectors import Parsers
    from benchgate.errors import EvalError

SETTINGS = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini")
FROM_NOTHING = (
    "run the weaker system",
    "first-number",
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
    parser.add_argument("--bench-root", type=Path, default=BENCH_ROOT, metavar="DIR")
    parser.add_argument(
        "--from", dest="log", type=Path, metavar="LOG", help="of inspect_ai, JSON lines or CSV"
    )
    add_reading(parser)
    parser.set_defaults(execute=_class)
    parser = kinds.add_parser(
        "case",
        help="a case.toml to fill in, input/ and expected/",
        description="Makes case.toml, input/ and expected/; never changes what exists already. The keys of "
        "[facts] are those of the newest case of the class.",
    )
    parser.add_argument("task_class", metavar="CLASS")
    parser.add_argument("case_id", metavar="ID")
    parser.add_argument("--bench-root", type=Path, default=BENCH_ROOT, metavar="DIR")
    parser.set_defaults(execute=make_case)


def _class(given: argparse.Namespace) -> int:
    """Make the class; 1 if it exists, 2 if the name is none, the log cannot be used or it cannot be written."""
    from benchgate.errors import EvalError
    from benchgate.interop.convert import class_files
    from benchgate.interop.samples import parse_map
    from benchgate.loader.new_class import make_class_folder
    from benchgate.wire.clock import now

    moment = now()
    try:
        options = {"format": given.format, "map": parse_map(given.map), "metric": given.metric}
        texts, found = (
            class_files(given.log, given.name, moment, options) if given.log else (None, None)
        )
        made = make_class_folder(given.bench_root, given.name, now=moment, texts=texts)
    except (EvalError, OSError) as error:
        return not_made(error)
    steps = FROM_LOG if given.log else FROM_NOTHING
    print(printable(next_steps(made, *(step.replace("@", made.name) for step in steps)), keep="\n"))
    if found is None:
        return 0
    shown = f"{found.agreed} of {counted(found.scored, 'sample')}"
    print(f"rubric   says what the log says on {shown}")
    if found.agreed < MOST * found.scored:
        why = "the rubric is not the scorer of the log: mend rubric.py before you pin a baseline"
        complain(why)
    if found.unanswered:
        count = counted(found.unanswered, "sample")
        complain(f"{count} of the log without an answer: these trials of 'recorded' will fail")
    return 0


def not_made(error: EvalError | OSError) -> int:
    """Say why there is no new class, and return the exit status: 1 if it exists already, else 2."""
    from benchgate.errors import TaskClassAlreadyRegistered

    if isinstance(error, OSError):
        exists = isinstance(error, FileExistsError)
        why = "exists already" if exists else f"cannot be written: {error.strerror}"
        complain(f"{error.filename}: {why}")
        return 1 if exists else 2
    complain(error)
    return 1 if isinstance(error, TaskClassAlreadyRegistered) else 2


def next_steps(made: Path, first: str, system: str, second: str, last: str = "") -> str:
    """
    Return how a new class is run, as commands.

    :param first: what the first run is, which is pinned, and ``system`` what it runs.
    :param second: what the run against it is.
    :param last: what to do then.
    """
    name, root, run, option = made.name, "", f"pytest --bench={made.name}", "--bench-"
    mark = "" if any(map(os.path.exists, SETTINGS)) else MARK_ROOT
    if made.parent != BENCH_ROOT:
        root = f" --bench-root {shlex.quote(str(made.parent))}"
        run, option = f"benchgate run --task-class {name}{root} --out .benchgate", "--"
        mark = ""
    return f"""\
{made}

{mark}# check what is there, and test the rubric
benchgate check {name}{root}
pytest {shlex.quote(str(made / "tests"))}
# {first}, and make that run the baseline by the number in its line head
{run} {option}system={system} {option}baseline=none
benchgate pin 1 --task-class {name}{root} --yes
# {second}
{run}{last and last + root}"""
