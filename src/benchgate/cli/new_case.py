"""``benchgate new case CLASS ID``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.say import complain
from benchgate.errors import printable

if TYPE_CHECKING:
    import argparse

    from benchgate.loader.new_case import CaseScaffold

BENCH_ROOT = Path("bench")


def make_case(given: argparse.Namespace) -> int:
    """Make the case; 1 if the class is unknown or the case exists, 2 if it cannot be made."""
    from benchgate.errors import BenchCaseLoadError, EvalError, TaskClassNotFound
    from benchgate.loader.new_case import make_case_folder
    from benchgate.wire.clock import now

    try:
        made = make_case_folder(given.bench_root, given.task_class, given.case_id, now=now())
    except TaskClassNotFound as error:
        return _refuse(str(error), 1)
    except FileExistsError as error:
        return _refuse(f"{error.filename}: exists already; an id is never given to another case", 1)
    except BenchCaseLoadError as error:
        for _, key, text in error.faults:
            complain(f"{key}: {text}")
        return 2
    except EvalError as error:
        return _refuse(str(error), 2)
    except OSError as error:
        return _refuse(f"{error.filename}: cannot be written: {error.strerror}", 2)
    _print_next(given, made)
    return 0


def _refuse(message: str, status: int) -> int:
    complain(message)
    return status


def _print_next(given: argparse.Namespace, made: CaseScaffold) -> None:
    facts = f"[facts] ({', '.join(made.facts)}: as in {made.example})" if made.facts else "[facts]"
    root = [] if given.bench_root == BENCH_ROOT else ["--bench-root", str(given.bench_root)]
    check = ["benchgate", "check", given.task_class, *root]
    alone = ["pytest", str(made.path)]
    if root:
        alone = [
            "benchgate",
            "run",
            "--task-class",
            given.task_class,
            "--cases",
            given.case_id,
            *root,
        ]
    text = f"""{made.path}

Fill in, then run it alone and check the class:
  case.toml  disposition, difficulty, source, {facts},
             tags, held_out
  input/     what the system gets; git keeps no empty folder, so it needs a file
             (or put an input-pointer.toml in its place)
  expected/  what only the rubric gets; remove the folder if there is nothing

  {shlex.join(alone)}
  {shlex.join(check)}"""
    print(printable(text, keep="\n"))
