"""``benchgate new-class NAME``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.say import complain
from benchgate.errors import printable

if TYPE_CHECKING:
    import argparse

    from benchgate.cli.vectors import Parsers
    from benchgate.errors import EvalError

BENCH_ROOT = Path("bench")
SETTINGS = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini")
MARK_ROOT = """\
# mark the root of the project, for pytest looks for bench/ in the folder with its settings
printf '[pytest]\\n' > pytest.ini
"""


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "new-class",
        help="make the folder of a new task class that runs: cases, rubric, two systems",
        description="Makes bench/NAME/ with three cases, a rubric and its tests, failure modes, thresholds and two "
        "systems, to be changed into your own; never changes what exists already.",
    )
    parser.add_argument("name", metavar="NAME", help="lower-case words joined by '-'")
    parser.add_argument("--bench-root", type=Path, default=BENCH_ROOT, metavar="DIR")
    parser.set_defaults(execute=execute)


def execute(given: argparse.Namespace) -> int:
    """Make the class; 1 if it exists, 2 if the name is none or it cannot be written."""
    from benchgate.errors import EvalError
    from benchgate.loader.new_class import make_class_folder
    from benchgate.wire.clock import now

    try:
        made = make_class_folder(given.bench_root, given.name, now=now())
    except (EvalError, OSError) as error:
        return not_made(error)
    told = next_steps(
        made,
        "run the weaker system",
        "first-number",
        "run the better one against it; the gate says HOLD, for three cases are too few",
        f"\n# then put your system, rubric and cases in their place; this makes the next case\n"
        f"benchgate new-case {made.name} 004-next",
    )
    print(printable(told, keep="\n"))
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
