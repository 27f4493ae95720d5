"""For commands that run code of a bench in their process: where it may import from, and what becomes of its prints."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, TextIO

from benchgate.cli.options import add_root

if TYPE_CHECKING:
    from collections.abc import Iterator


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Declare where the bench is, and what it may import."""
    add_root(parser)
    parser.add_argument(
        "--pythonpath",
        type=_folder,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder that the bench imports from, before those of PYTHONPATH; repeatable",
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
    """
    before = list(sys.path)
    sys.path[:0] = args.pythonpath
    try:
        with _own_stdout(is_program=args.is_program) as out:
            yield out
    finally:
        if not args.is_program:
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
