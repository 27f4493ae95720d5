"""``benchgate check [CLASS...]``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.say import complain, say
from benchgate.errors import counted

if TYPE_CHECKING:
    import argparse

    from benchgate.check import ClassCheck


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check",
        help="check the folders of task classes by reading them; nothing of a bench is run",
        description="Checks the contract of bench/README.md: files, registration, cases, baseline. Without CLASS, "
        "checks every class.",
    )
    parser.add_argument("classes", nargs="*", metavar="CLASS")
    parser.add_argument("--bench-root", type=Path, default=Path("bench"), metavar="DIR")
    parser.set_defaults(execute=execute)


def execute(given: argparse.Namespace) -> int:
    """Check each class; 1 if one has a problem or is unknown, 2 if the bench cannot be read."""
    from benchgate.check import bench_classes, check_class
    from benchgate.errors import TaskClassNotFound

    checks: list[ClassCheck] = []
    unknown = False
    try:
        names = list(dict.fromkeys(given.classes)) or list(bench_classes(given.bench_root))
        for name in names:
            try:
                checks.append(check_class(given.bench_root, name))
            except TaskClassNotFound as error:
                unknown = True
                complain(error)
    except OSError as error:
        complain(f"{error.filename}: cannot be read: {error.strerror}")
        return 2
    if not names:
        complain(f"{given.bench_root}: has no task class")
        return 2
    for problem in sorted(problem for check in checks for problem in check.problems):
        complain(problem)
    sys.stderr.flush()
    for check in checks:
        say(_summary(check))
    return 1 if unknown or any(check.problems for check in checks) else 0


def _summary(check: ClassCheck) -> str:
    found = len(check.problems)
    parts = [counted(check.case_count, "case")]
    if check.is_small:
        parts.append("small bench, stays at bronze")
    if check.is_by_hand:
        parts.append("baseline pinned by hand")
    parts.append(counted(found, "problem") if found else "valid")
    return f"{check.name}: {', '.join(parts)}"
