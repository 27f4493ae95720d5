"""For commands that run code of a bench in their process: where it may import from, and what becomes of its prints."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, TextIO

from benchgate.cli.options import add_root
from benchgate.cli.pytest_path import import_folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Declare where the bench is, and what it may import."""
    add_root(parser)
    parser.add_argument(
        "--pythonpath",
        type=_folder,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder that the bench imports from, before those that pytest would take and those of PYTHONPATH; "
        "repeatable",
    )


def _folder(text: str) -> str:
    if not os.path.isdir(text):
        msg = f"{text!r}: expected a folder"
        raise argparse.ArgumentTypeError(msg)
    return os.path.abspath(text)


@contextmanager
def bench_code(args: argparse.Namespace) -> Iterator[TextIO]:
    """
    Let code of a bench run within the block.

    In a program of its own this lasts to the end of the process: functions registered with ``atexit``, threads and
    child processes outlive the block.

    :returns: a stream to stdout that child processes do not inherit; all else that is written to stdout goes to stderr.
    :raises EvalError: the settings of pytest that say where it imports from cannot be read.
    """
    with (
        bench_path(args.bench_root, args.pythonpath, lasts=args.is_program),
        _own_stdout(is_program=args.is_program) as out,
    ):
        yield out


@contextmanager
def bench_path(bench_root: Path, given: Sequence[str] = (), *, lasts: bool) -> Iterator[None]:
    """
    Let code of a bench import from where it can under pytest.

    :param given: folders before those of pytest.
    :param lasts: also after the block.
    :raises EvalError: as :func:`bench_code`.
    """
    before = list(sys.path)
    first, last = import_folders(bench_root, os.environ)
    sys.path[:] = [*given, *first, *sys.path, *last]
    try:
        yield
    finally:
        if not lasts:
            sys.path[:] = before


@contextmanager
def _own_stdout(*, is_program: bool) -> Iterator[TextIO]:
    if sys.stdout is None:  # closed
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - to the end of the process
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):  # replaced by an object without a descriptor, as under pytest
        out = sys.stdout
        with redirect_stdout(sys.stderr):
            yield out
        return
    sys.stdout.flush()
    if sys.stderr is None:  # closed: descriptor 2 would become the copy of stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    kept = os.dup(number)
    os.dup2(2, number)
    try:
        with os.fdopen(os.dup(kept), "w", encoding="utf-8") as own:
            yield own
    finally:
        if not is_program:
            sys.stdout.flush()
            os.dup2(kept, number)
        os.close(kept)
