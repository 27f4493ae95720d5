"""``benchgate convert LOG CLASS``: a task class of a log, to be run by pytest from then on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.gate import add_reading
from benchgate.cli.say import complain
from benchgate.errors import counted, printable

if TYPE_CHECKING:
    import argparse

    from benchgate.cli.vectors import Parsers

MOST = 0.9
"""Share of samples on which the rubric and the log agree at least, if the rubric is to be used as it was written."""


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "convert",
        help="make a task class of a log that has inputs and targets",
        description="Makes bench/CLASS/ of a log of inspect_ai, of JSON lines or of CSV: its cases, a rubric that "
        "compares an answer with the target, and the answers of the log as a system that is played again.",
    )
    parser.add_argument("log", type=Path, metavar="LOG")
    parser.add_argument("name", metavar="CLASS", help="lower-case words joined by '-'")
    add_reading(parser)
    parser.add_argument("--bench-root", type=Path, default=Path("bench"), metavar="DIR")
    parser.set_defaults(execute=_execute)


def _execute(given: argparse.Namespace) -> int:
    """Make the class; 1 if it exists, 2 if the log cannot be used or the class not be written."""
    from benchgate.cli.new_class import next_steps, not_made
    from benchgate.errors import EvalError
    from benchgate.interop.convert import convert
    from benchgate.interop.samples import parse_map
    from benchgate.wire.clock import now

    try:
        made = convert(
            given.log,
            given.name,
            given.bench_root,
            now=now(),
            format=given.format,
            map=parse_map(given.map),
            metric=given.metric,
        )
    except (EvalError, OSError) as error:
        return not_made(error)
    told = next_steps(
        made.path,
        "play the answers of the log again",
        "recorded",
        f"call your agent in candidate() of {made.path}/registration.py, then run it against the log",
    )
    print(printable(told, keep="\n"))
    print(f"rubric   says what the log says on {made.agreed} of {counted(made.scored, 'sample')}")
    if made.agreed < MOST * made.scored:
        complain(
            "the rubric is not the scorer of the log: mend rubric.py before you pin a baseline"
        )
    if made.unanswered:
        count = counted(made.unanswered, "sample")
        complain(f"{count} of the log without an answer: these trials of 'recorded' will fail")
    return 0
