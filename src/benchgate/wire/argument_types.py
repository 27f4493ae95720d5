"""What the texts of options mean: a parser converts one text, or raises ``ArgumentTypeError`` with what it expects."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from benchgate.wire.shard import Shard

if TYPE_CHECKING:
    from collections.abc import Callable

RUN_FOLDER: Final = re.compile(r"incomplete-[0-9TZ]+-[0-9-]+|[0-9]{8,15}-[0-9TZ]+-[0-9a-f]{8}")
CASSETTE_NAME: Final = re.compile(r"(?!\d+$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
LOOKS: Final = r"^(count|spend(:[1-9][0-9]{0,5})?)$"
MAX_SECONDS: Final = 10_000_000
"""Longest time limit, about 116 days; much longer alarms overflow in the operating system."""


MAX_DOLLARS: Final = 1e9
"""Highest cap of costs."""

RUN: Final = rf"[0-9]{{1,15}}|(?s:.*/)?(?:{RUN_FOLDER.pattern})/*"
RUN_WORDS: Final = "the number of a record, or a folder of runs/CLASS/"


def _refuse(text: str, expected: str) -> NoReturn:
    msg = f"{text[:120]!r}: expected {expected}"
    raise argparse.ArgumentTypeError(msg)


def choice(*words: str) -> Callable[[str], str]:
    """Return a parser of one of these words."""

    def parse(text: str) -> str:
        if text not in words:
            _refuse(text, " or ".join((", ".join(words[:-1]), words[-1])))
        return text

    return parse


def read_looks(looks: Any) -> Any:
    """Return how alpha is divided among looks; a text that does not say so raises ValueError."""
    if isinstance(looks, str) and not re.fullmatch(LOOKS, looks):
        raise ValueError("expected count, spend, or spend:K with K from 1 to 999999")
    return looks


def whole(low: int) -> Callable[[str], int]:
    """Return a parser of a whole number."""

    def parse(text: str) -> int:
        # 16 digits: Python itself refuses to read thousands of them, and JSON numbers are exact below 2**53.
        if not text.isdecimal() or len(text) > 16 or not low <= int(text) < 2**53:
            _refuse(text, f"a whole number, {low} or more and below 2**53")
        return int(text)

    return parse


def number(low: float, high: float, unit: str) -> Callable[[str], float]:
    """Return a parser of a number above ``low``."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low < value <= high:
            _refuse(text, f"{unit}, more than {low:g} and at most {high:.10g}")
        return value

    return parse


def matching(
    pattern: str, expected: str, convert: Callable[[str], Any] = str
) -> Callable[[str], Any]:
    """Return a parser of what a whole text matches."""

    def parse(text: str) -> Any:
        return convert(text) if re.fullmatch(pattern, text) else _refuse(text, expected)

    return parse


def _run(text: str) -> str | Path:
    return text if text.isalnum() else Path(text)


natural: Final = whole(0)
positive: Final = whole(1)
seconds: Final = number(0, MAX_SECONDS, "seconds")
dollars: Final = number(0, MAX_DOLLARS, "US dollars")
# An empty path would silently be the current folder.
path: Final = matching(r"(?s:.+)", "a path", Path)
reason: Final = matching(r"(?s:.*\S.*)", "a text", str.strip)
executor: Final = matching(
    r"(?:dask|tls)://(?:[^\s/:@]+|\[[0-9a-fA-F:]+\]):\d{1,5}",
    "dask://HOST:PORT or tls://HOST:PORT, of the scheduler",
)
run_name: Final = matching(RUN, RUN_WORDS, _run)
run_reference: Final = matching(rf"auto|none|{RUN}", f"auto, none, {RUN_WORDS}", _run)
cassette_name: Final = matching(
    rf"(?!(?:{RUN_FOLDER.pattern})$){CASSETTE_NAME.pattern}",
    "the name of a cassette: up to 100 letters, digits, '.', '_' and '-', not digits alone and not the folder of a run",
)


def shard(text: str) -> Shard:
    """Parse a part of a run, such as ``2/4``."""
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
    part = Shard(*map(int, match.groups())) if match else None
    if part is None or not 1 <= part.number <= part.total:
        _refuse(text, "I/N, part I of N, from 1/N to N/N")
    return part


def recording(text: str) -> str | Path:
    """Parse what to replay: a full run, or the name of a cassette."""
    replayed: str | Path = (run_name if re.fullmatch(RUN, text) else cassette_name)(text)
    return replayed


def baseline(text: str) -> str | Path:
    """Parse what to compare with: a word, ``run:`` and a system, the number of a run, else the path of a record."""
    if text == "run:":
        _refuse(text, "run:SYSTEM, a registered system or module:attr")
    is_word = text in {"auto", "pinned", "none"} or text.startswith("run:") or text.isdecimal()
    compared: str | Path = text if is_word else path(text)
    return compared
