"""
The kinds of values that options take. A kind knows its range as plain data.

It reads a text, or raises ``ArgumentTypeError`` with what it expects. It also says whether it takes a value that is no
text, such as an argument of :func:`benchgate.run_eval`.
"""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, Protocol

from benchgate.wire.limits import MAX_DOLLARS, MAX_SAFE_INTEGER, MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.wire.shard import Shard

LONGEST_QUOTE: Final = 120
MOST_DIGITS: Final = len(str(MAX_SAFE_INTEGER))
"""Python refuses to read a number of thousands of digits."""


class Kind(Protocol):
    """What values an option takes."""

    @property
    def expected(self) -> str:
        """What a text should have been."""
        ...

    def read(self, text: str) -> Any:
        """Return the value that a text stands for, or raise ArgumentTypeError."""
        ...

    def takes(self, value: Any) -> bool:
        """Return whether a value, which is no text of a place, is one of these."""
        ...


def refuse(kind: Kind, found: object) -> NoReturn:
    """Raise ArgumentTypeError with what was found and what a kind expects."""
    shown = repr(found if not isinstance(found, str) else found[:LONGEST_QUOTE])
    raise argparse.ArgumentTypeError(f"{shown}: expected {kind.expected}")


class Whole(NamedTuple):
    """A whole number, ``low`` or more."""

    low: int

    @property
    def expected(self) -> str:
        """Its range."""
        return f"a whole number, {self.low} or more and below 2**53"

    def read(self, text: str) -> int:
        """Return the number."""
        if not text.isdecimal() or len(text) > MOST_DIGITS or not self.takes(int(text)):
            refuse(self, text)
        return int(text)

    def takes(self, value: Any) -> bool:
        """Return whether a number is in the range."""
        return bool(self.low <= value <= MAX_SAFE_INTEGER)


class Amount(NamedTuple):
    """A number above zero, which may have a fraction."""

    high: float
    unit: str

    @property
    def expected(self) -> str:
        """Its unit and its range."""
        return f"{self.unit}, more than 0 and at most {self.high:.10g}"

    def read(self, text: str) -> float:
        """Return the number."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not self.takes(value):
            refuse(self, text)
        return value

    def takes(self, value: Any) -> bool:
        """Return whether a number is in the range; NaN is not."""
        return bool(0 < value <= self.high)


class Choice(NamedTuple):
    """One of some words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """The words."""
        return f"{', '.join(self.words[:-1])} or {self.words[-1]}"

    def read(self, text: str) -> str:
        """Return the word."""
        if not self.takes(text):
            refuse(self, text)
        return text

    def takes(self, value: Any) -> bool:
        """Return whether it is one of the words."""
        return value in self.words


class Form(NamedTuple):
    """
    A text of some form.

    :param pattern: what the whole text matches.
    :param convert: makes the value from the text, or raises ValueError if it is none after all.
    """

    pattern: str
    expected: str
    convert: Callable[[str], Any] = str

    def read(self, text: str) -> Any:
        """Return what the text is converted into."""
        if re.fullmatch(self.pattern, text) is None:
            refuse(self, text)
        try:
            return self.convert(text)
        except ValueError:
            refuse(self, text)

    def takes(self, value: Any) -> bool:
        """Return whether it may be the value: of what is no text, nobody knows a form."""
        return not isinstance(value, str) or re.fullmatch(self.pattern, value) is not None


def _run(text: str) -> str | Path:
    """Return a run: its number, or else its folder."""
    if text.isalnum():
        return text
    return Path(text)


def _recording(text: str) -> str | Path:
    """Return what to replay: a run, or the name of a cassette."""
    if re.fullmatch(RUN, text):
        return _run(text)
    return text


def _baseline(text: str) -> str | Path:
    """Return what to compare with: a word, ``run:`` and a system, the number of a run, else the path of a record."""
    if text in {"auto", "pinned", "none"} or text.startswith("run:") or text.isdecimal():
        return text
    return Path(text)


def _shard(text: str) -> Shard:
    """Return a part of a run, such as ``2/4``."""
    from benchgate.wire.shard import Shard

    number, total = map(int, text.split("/"))
    if not 1 <= number <= total:
        raise ValueError(text)
    return Shard(number, total)


def _threshold(text: str) -> str | Path:
    """Return ``KEY=VALUE``, or the path of a file of thresholds."""
    if "=" in text:
        return text
    return Path(text)


RUN_FOLDER: Final = r"incomplete-[0-9TZ]+-[0-9-]+|[0-9]{8,15}-[0-9TZ]+-[0-9a-f]{8}"
RUN: Final = rf"[0-9]{{1,15}}|(?s:.*/)?(?:{RUN_FOLDER})/*"
RUN_WORDS: Final = "the number of a record, or a folder of runs/CLASS/"
CASSETTE_NAME: Final = r"(?!\d+$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
CASSETTE: Final = rf"(?!(?:{RUN_FOLDER})$){CASSETTE_NAME}"
CASSETTE_WORDS: Final = (
    "the name of a cassette: up to 100 letters, digits, '.', '_' and '-', "
    "not digits alone and not the folder of a run"
)

NATURAL: Final = Whole(0)
POSITIVE: Final = Whole(1)
SECONDS: Final = Amount(MAX_SECONDS, "seconds")
DOLLARS: Final = Amount(MAX_DOLLARS, "US dollars")
YES_OR_NO: Final = Choice(("yes", "no"))
TEXT: Final = Form(r"(?s:.*)", "a text")
REASON: Final = Form(r"(?s:.*\S.*)", "a text", str.strip)
# An empty path would silently be the current folder.
PATH: Final = Form(r"(?s:.+)", "a path", Path)
EXECUTOR: Final = Form(
    r"(?:dask|tls)://(?:[^\s/:@]+|\[[0-9a-fA-F:]+\]):\d{1,5}",
    "dask://HOST:PORT or tls://HOST:PORT, of the scheduler",
)
RUN_NAME: Final = Form(RUN, RUN_WORDS, _run)
RESUMED_RUN: Final = Form(rf"auto|none|{RUN}", f"auto, none, {RUN_WORDS}", _run)
CASSETTE_TO_WRITE: Final = Form(CASSETTE, CASSETTE_WORDS)
RECORDING: Final = Form(rf"{RUN}|{CASSETTE}", f"{CASSETTE_WORDS}; or {RUN_WORDS}", _recording)
BASELINE: Final = Form(
    r"(?s:(?!run:\Z).+)",
    "run:SYSTEM, a registered system or module:attr; or auto, pinned, none, the number of a run or a path",
    _baseline,
)
SHARD: Final = Form(r"\d{1,4}/\d{1,4}", "I/N, part I of N, from 1/N to N/N", _shard)
THRESHOLD: Final = Form(r"(?s:.*)", "KEY=VALUE or a file", _threshold)
