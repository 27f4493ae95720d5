"""``benchgate check [CLASS...]``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchgate.cli.options import add_root, guarded
from benchgate.cli.say import complain, say
from benchgate.errors import ArtifactError, TaskClassNotFound, counted

if TYPE_CHECKING:
    import argparse

    from benchgate.check import ClassCheck


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check",
        help="check the folders of task classes by reading them; nothing of a bench is run",
        description="Checks the contract of bench/README.md: files, registration, cases, baseline. "
        "Warns of cases whose input has their answer. Without CLASS, checks every class.",
    )
    parser.add_argument("classes", nargs="*", metavar="CLASS")
    add_root(parser)
    parser.set_defaults(execute=guarded(_execute))


def _execute(args: argparse.Namespace) -> int:
    """Check each class; 1 if one has a problem or is unknown, 2 if the bench cannot be read."""
    from benchgate.check import bench_classes, check_class

    names = list(dict.fromkeys(args.classes)) or list(bench_classes(args.bench_root))
    if not names:
        raise ArtifactError(args.bench_root, "has no task class")
    checks: list[ClassCheck] = []
    for name in names:
        try:
            checks.append(check_class(args.bench_root, name))
        except TaskClassNotFound as error:
            complain(error)
    problems = [problem for check in checks for problem in check.problems]
    warnings = [warning for check in checks for warning in check.warnings]
    for problem in sorted(problems):
        complain(problem)
    for warning in sorted(warnings):
        complain(f"warning: {warning}")
    sys.stderr.flush()  # so that they stand before the summary, also in one file
    for check in checks:
        say(_summary(check))
    if problems or len(checks) < len(names):
        return 1
    return 0


def _summary(check: ClassCheck) -> str:
    parts = [counted(check.case_count, "case")]
    if check.is_small:
        parts.append("small bench, stays at bronze")
    if check.is_by_hand:
        parts.append("baseline pinned by hand")
    if check.warnings:
        parts.append(counted(len(check.warnings), "warning"))
    parts.append(counted(len(check.problems), "problem") if check.problems else "valid")
    return f"{check.name}: {', '.join(parts)}"
