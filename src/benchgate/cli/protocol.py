"""Keeps stdout for what a command says, where code of a bench runs in its process."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def own_stdout(*, is_program: bool) -> Iterator[TextIO]:
    """
    Yield a stream to stdout that child processes do not inherit; all else that is written to stdout goes to stderr.

    :param is_program: also after the block, to the end of the process: functions registered with ``atexit``, threads
        and child processes may outlive it.
    """
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):  # replaced by an object without a descriptor, as under pytest
        out = sys.stdout
        with redirect_stdout(sys.stderr):
            yield out
        return
    sys.stdout.flush()
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
