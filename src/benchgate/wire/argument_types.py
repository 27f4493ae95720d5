"""What the texts of options mean: each function converts one text, or says what was expected."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import Final

MAX_SECONDS: Final = 10_000_000
"""Longest time limit, about 116 days; much longer alarms overflow in the operating system."""


def natural(text: str) -> int:
    """
    Parse a whole number, 0 or more.

    :raises argparse.ArgumentTypeError: anything else.
    """
    return _at_least(0, text)


def positive(text: str) -> int:
    """
    Parse a whole number, 1 or more.

    :raises argparse.ArgumentTypeError: anything else.
    """
    return _at_least(1, text)


def _at_least(low: int, text: str) -> int:
    # 16 digits: Python itself refuses to read thousands of them, and JSON numbers are exact below 2**53.
    if not text.isdecimal() or len(text) > 16 or not low <= int(text) < 2**53:
        msg = f"{text[:80]!r}: expected a whole number, {low} or more and below 2**53"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def seconds(text: str) -> float:
    """
    Parse a time limit in seconds.

    :raises argparse.ArgumentTypeError: not a number, 0 or less, or more than :data:`MAX_SECONDS`.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= MAX_SECONDS:
        msg = f"{text!r}: expected seconds, more than 0 and at most {MAX_SECONDS}"
        raise argparse.ArgumentTypeError(msg)
    return number


def exit_rule(text: str) -> str:
    """
    Parse the rule for the exit status.

    :raises argparse.ArgumentTypeError: neither ``strict`` nor ``gate``.
    """
    if text not in {"strict", "gate"}:
        msg = f"{text!r}: expected strict or gate"
        raise argparse.ArgumentTypeError(msg)
    return text


def path(text: str) -> Path:
    """
    Read a path.

    :raises argparse.ArgumentTypeError: an empty one, which would silently be the current folder.
    """
    if not text:
        msg = f"{text!r}: expected a path"
        raise argparse.ArgumentTypeError(msg)
    return Path(text)


def run_reference(text: str) -> str | Path:
    """
    Parse which run to resume: ``auto``, ``none``, the number of a record, else a folder of ``runs/<class>/``.

    :raises argparse.ArgumentTypeError: anything else, such as a path to run that follows the bare option.
    """
    if text in {"auto", "none"} or (text.isdecimal() and len(text) < 16):
        return text
    if re.fullmatch(
        r"incomplete-[0-9TZ]+-[0-9-]+|[0-9]{8,15}-[0-9TZ]+-[0-9a-f]{8}", Path(text).name
    ):
        return Path(text)
    msg = f"{text[:80]!r}: expected auto, none, the number of a record, or a folder of runs/CLASS/"
    raise argparse.ArgumentTypeError(msg)


def baseline(text: str) -> str | Path:
    """
    Parse what to compare with: ``auto``, ``pinned``, ``none``, ``run:`` and a system, else the path of a record.

    :raises argparse.ArgumentTypeError: an empty path, or no system.
    """
    if text == "run:":
        msg = f"{text!r}: expected run:SYSTEM, a registered system or module:attr"
        raise argparse.ArgumentTypeError(msg)
    return text if text in {"auto", "pinned", "none"} or text.startswith("run:") else path(text)
