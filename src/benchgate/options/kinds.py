"""What kinds of values options take: each is plain data, with its range, and reads a text."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from benchgate.wire.limits import MAX_DOLLARS, MAX_SAFE_INTEGER, MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.wire.shard import Shard

LONGEST_QUOTE: Final = 120


class Kind(NamedTuple):
    """
    What values an option takes.

    :param expected: what a text should have been, for messages.
    :param pattern: what the whole text matches.
    :param convert: makes the value from a text that matches; raises ValueError if it is none after all.
    :param words: the only values; empty if there are others.
    :param high: the highest number, ``low`` the least one, or ``above`` the one that it exceeds; of numbers only.
    """

    expected: str
    pattern: str = r"(?s:.*)"
    convert: Callable[[str], Any] = str
    words: tuple[str, ...] = ()
    high: float | None = None
    low: int | None = None
    above: float | None = None

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.high is not None

    def read(self, text: str) -> Any:
        """Return the value that a text stands for, or raise ArgumentTypeError with what was expected."""
        if re.fullmatch(self.pattern, text) is None:
            self.refuse(text)
        try:
            value = self.convert(text)
        except ValueError:
            self.refuse(text)
        if not self.takes(value):
            self.refuse(text)
        return value

    def takes(self, value: Any) -> bool:
        """Return whether a value that is read already is one of these."""
        if self.words:
            return value in self.words
        if self.high is None:
            # Of what is no text, such as a path or a callable, nobody knows a pattern.
            return not isinstance(value, str) or re.fullmatch(self.pattern, value) is not None
        if not _is_number(value) or not value <= self.high:
            return False
        if self.low is None:
            return bool(value > self.above)
        return isinstance(value, int) and value >= self.low

    def refuse(self, found: object) -> NoReturn:
        """Raise ArgumentTypeError with what was found and what was expected."""
        shown = repr(found)
        if isinstance(found, str):
            shown = repr(found[:LONGEST_QUOTE])
        raise argparse.ArgumentTypeError(f"{shown}: expected {self.expected}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def whole(low: int) -> Kind:
    """Return the whole numbers from ``low`` on."""
    # 16 digits are enough; Python refuses to read thousands of them.
    expected = f"a whole number, {low} or more and below 2**53"
    return Kind(expected, r"\d{1,16}", int, low=low, high=MAX_SAFE_INTEGER)


def amount(unit: str, high: float) -> Kind:
    """Return the numbers above zero, which may have a fraction."""
    return Kind(f"{unit}, more than 0 and at most {high:.10g}", convert=float, above=0, high=high)


def choice(*words: str) -> Kind:
    """Return a few words."""
    return Kind(f"{', '.join(words[:-1])} or {words[-1]}", words=words)


def word_or_path(words: str) -> Callable[[str], str | Path]:
    """Return what keeps a text that matches ``words``, and takes any other for a path."""

    def convert(text: str) -> str | Path:
        if re.fullmatch(words, text) is not None:
            return text
        return Path(text)

    return convert


def _shard(text: str) -> Shard:
    """Return a part of a run, such as ``2/4``."""
    from benchgate.wire.shard import Shard

    number, total = map(int, text.split("/"))
    if not 1 <= number <= total:
        raise ValueError(text)
    return Shard(number, total)


RUN_FOLDER: Final = r"incomplete-[0-9TZ]+-[0-9-]+|[0-9]{8,15}-[0-9TZ]+-[0-9a-f]{8}"
RUN: Final = rf"[0-9]{{1,15}}|(?s:.*/)?(?:{RUN_FOLDER})/*"
RUN_WORDS: Final = "the number of a record, or a folder of runs/CLASS/"
CASSETTE_NAME: Final = r"(?!\d+$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
CASSETTE: Final = rf"(?!(?:{RUN_FOLDER})$){CASSETTE_NAME}"
CASSETTE_WORDS: Final = (
    "the name of a cassette: up to 100 letters, digits, '.', '_' and '-', "
    "not digits alone and not the folder of a run"
)

NATURAL: Final = whole(0)
POSITIVE: Final = whole(1)
SECONDS: Final = amount("seconds", MAX_SECONDS)
DOLLARS: Final = amount("US dollars", MAX_DOLLARS)
YES_OR_NO: Final = choice("yes", "no")
TEXT: Final = Kind("a text")
REASON: Final = Kind("a text", r"(?s:.*\S.*)", str.strip)
# An empty path would silently be the current folder.
PATH: Final = Kind("a path", r"(?s:.+)", Path)
EXECUTOR: Final = Kind(
    "dask://HOST:PORT or tls://HOST:PORT, of the scheduler",
    r"(?:dask|tls)://(?:[^\s/:@]+|\[[0-9a-fA-F:]+\]):\d{1,5}",
)
RUN_NAME: Final = Kind(RUN_WORDS, RUN, word_or_path("[0-9]+"))
RESUMED_RUN: Final = Kind(
    f"auto, none, {RUN_WORDS}", rf"auto|none|{RUN}", word_or_path("auto|none|[0-9]+")
)
CASSETTE_TO_WRITE: Final = Kind(CASSETTE_WORDS, CASSETTE)
RECORDING: Final = Kind(
    f"{CASSETTE_WORDS}; or {RUN_WORDS}", rf"{RUN}|{CASSETTE}", word_or_path(rf"[0-9]+|{CASSETTE}")
)
BASELINE: Final = Kind(
    "run:SYSTEM, a registered system or module:attr; or auto, pinned, none, the number of a run or a path",
    r"(?s:(?!run:\Z).+)",
    word_or_path(r"(?s:auto|pinned|none|run:.*|\d+)"),
)
SHARD: Final = Kind("I/N, part I of N, from 1/N to N/N", r"\d{1,4}/\d{1,4}", _shard)
THRESHOLD: Final = Kind("KEY=VALUE or a file", convert=word_or_path("(?s:.*=.*)"))
