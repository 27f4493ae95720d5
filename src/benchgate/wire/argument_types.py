"""What the texts of options mean: each function converts one text, or says what was expected."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import Final

from benchgate.wire.shard import Shard

RUN_FOLDER: Final = re.compile(r"incomplete-[0-9TZ]+-[0-9-]+|[0-9]{8,15}-[0-9TZ]+-[0-9a-f]{8}")
CASSETTE_NAME: Final = re.compile(r"(?!\d+$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MAX_SECONDS: Final = 10_000_000
"""Longest time limit, about 116 days; much longer alarms overflow in the operating system."""


MAX_DOLLARS: Final = 1e9
"""Highest cap of costs."""


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


def dollars(text: str) -> float:
    """
    Parse an amount in US dollars.

    :raises argparse.ArgumentTypeError: not a number, 0 or less, or more than :data:`MAX_DOLLARS`.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= MAX_DOLLARS:
        msg = f"{text[:80]!r}: expected US dollars, more than 0 and at most {MAX_DOLLARS:g}"
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


def summary(text: str) -> str:
    """
    Parse whether the summary of a CI job is written.

    :raises argparse.ArgumentTypeError: neither ``auto`` nor ``none``.
    """
    if text not in {"auto", "none"}:
        msg = f"{text!r}: expected auto or none"
        raise argparse.ArgumentTypeError(msg)
    return text


def switch(text: str) -> bool:
    """
    Parse whether something is wanted.

    :raises argparse.ArgumentTypeError: neither ``yes`` nor ``no``.
    """
    if text not in {"yes", "no"}:
        msg = f"{text!r}: expected yes or no"
        raise argparse.ArgumentTypeError(msg)
    return text == "yes"


def claim(text: str) -> str:
    """
    Parse what a promotion is to state.

    :raises argparse.ArgumentTypeError: it is none of the three claims.
    """
    if text not in {"better", "not_worse", "no_regression"}:
        msg = f"{text!r}: expected better, not_worse or no_regression"
        raise argparse.ArgumentTypeError(msg)
    return text


def shard(text: str) -> Shard:
    """
    Parse a part of a run, such as ``2/4``.

    :raises argparse.ArgumentTypeError: anything else, or a part that does not exist.
    """
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
    part = Shard(*map(int, found.groups())) if found else None
    if part is None or not 1 <= part.number <= part.total:
        msg = f"{text[:80]!r}: expected I/N, part I of N, from 1/N to N/N"
        raise argparse.ArgumentTypeError(msg)
    return part


def executor(text: str) -> str:
    """
    Parse the address of what runs the trials, ``dask://HOST:PORT``.

    :raises argparse.ArgumentTypeError: anything else.
    """
    if not re.fullmatch(r"dask://[^\s/:@]+:\d{1,5}|dask://\[[0-9a-fA-F:]+\]:\d{1,5}", text):
        msg = f"{text[:120]!r}: expected dask://HOST:PORT, of the scheduler"
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
    return text if text in {"auto", "none"} else _run_name(text, "auto, none, ")


def run_name(text: str) -> str | Path:
    """
    Parse the name of a full run: the number of its record, or its folder in ``runs/<class>/``.

    :raises argparse.ArgumentTypeError: anything else.
    """
    return _run_name(text, "")


def _run_name(text: str, others: str) -> str | Path:
    if text.isdecimal() and len(text) < 16:
        return text
    if RUN_FOLDER.fullmatch(Path(text).name):
        return Path(text)
    msg = f"{text[:80]!r}: expected {others}the number of a record, or a folder of runs/CLASS/"
    raise argparse.ArgumentTypeError(msg)


def cassette_name(text: str) -> str:
    """
    Parse the name of a cassette, which is that of its folder.

    :raises argparse.ArgumentTypeError: anything else, or what could also name a run.
    """
    if not CASSETTE_NAME.fullmatch(text) or RUN_FOLDER.fullmatch(text):
        msg = (
            f"{text[:120]!r}: expected the name of a cassette: up to 100 letters, digits, '.', '_' and '-', not digits "
            "alone and not the folder of a run"
        )
        raise argparse.ArgumentTypeError(msg)
    return text


def recording(text: str) -> str | Path:
    """
    Parse what to replay: the name of a cassette, the number of a record, or a folder of ``runs/<class>/``.

    :raises argparse.ArgumentTypeError: anything else.
    """
    if text.isdecimal() and len(text) < 16:
        return text
    return Path(text) if RUN_FOLDER.fullmatch(Path(text).name) else cassette_name(text)


def baseline(text: str) -> str | Path:
    """
    Parse what to compare with: ``auto``, ``pinned``, ``none``, ``run:`` and a system, else the path of a record.

    :raises argparse.ArgumentTypeError: an empty path, or no system.
    """
    if text == "run:":
        msg = f"{text!r}: expected run:SYSTEM, a registered system or module:attr"
        raise argparse.ArgumentTypeError(msg)
    return text if text in {"auto", "pinned", "none"} or text.startswith("run:") else path(text)
