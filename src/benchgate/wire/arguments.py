"""Types of command line arguments, the same at both doors. Standard library only: the plugin always loads it."""

from __future__ import annotations

import argparse
import math
from typing import Final

MAX_SECONDS: Final = 10_000_000
"""Longest time limit; the system's alarms take no more than a few hundred days."""


def natural(text: str) -> int:
    """
    Read a whole number, 0 or more.

    :raises argparse.ArgumentTypeError: it is none.
    """
    return _at_least(0, text)


def positive(text: str) -> int:
    """
    Read a whole number, 1 or more.

    :raises argparse.ArgumentTypeError: it is none.
    """
    return _at_least(1, text)


def _at_least(low: int, text: str) -> int:
    if not text.isdecimal() or int(text) < low:
        msg = f"{text!r}: expected a whole number, {low} or more"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def seconds(text: str) -> float:
    """
    Read a time limit.

    :raises argparse.ArgumentTypeError: no number, 0 or less, or more than :data:`MAX_SECONDS`.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= MAX_SECONDS:
        msg = f"{text!r}: expected seconds, more than 0 and at most {MAX_SECONDS}"
        raise argparse.ArgumentTypeError(msg)
    return number
