"""Lines of a result with what they mean, for doors that have colours and for those that have none."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Final, Literal

from benchgate.errors import excerpt, printable
from benchgate.options.table import RUN_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


Tone = Literal["plain", "good", "caution", "bad", "quiet"]

INDENT: Final = 10
"""Columns of the label; a line that goes on starts below its text."""

NARROWEST: Final = 40
SHORTEST_TAIL: Final = 8


@dataclass(frozen=True, slots=True)
class Line:
    """
    A line of a result.

    :param label: what it is about; empty if it goes on with what is above it, ``None`` for a row of a table.
    :param tone: what a colour may stress; the words say the same without it.
    :param strong: it is the headline.
    :param tail: what follows on the same line as far as there is room.
    :param code: of the reason or note that the text says; empty if it says none.
    :param is_detail: only who asks for details misses it.
    """

    label: str | None
    text: str
    tone: Tone = "plain"
    strong: bool = False
    tail: str = ""
    code: str = ""
    is_detail: bool = False


QUOTED: Final = re.compile(r"`([^`]+)`")


def quoted(name: str) -> str:
    """Return a name as prose has it: in back quotes, as code is written."""
    shown = excerpt(name, 60).replace("`", "'")
    return f"`{shown}`"


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in their order, and whether each is a quoted name, for media that have code."""
    for number, part in enumerate(QUOTED.split(text)):
        if part:
            yield part, number % 2 == 1


def labelled(lines: Iterable[Line]) -> list[tuple[str, list[Line]]]:
    """Return lines by their labels, in their order; a line without one goes on with what is above it."""
    found: list[tuple[str, list[Line]]] = []
    for line in lines:
        if not found or (line.label and line.label != found[-1][0]):
            found.append((line.label or "", []))
        found[-1][1].append(line)
    return found


def once(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines of which each label is said in the first one alone."""
    for label, group in labelled(lines):
        yield replace(group[0], label=label)
        yield from (replace(line, label="") for line in group[1:])


def laid_out(lines: Iterable[Line], width: int) -> Iterator[tuple[str, Line]]:
    """
    Break lines for a screen, between words only, and escape what is not plainly visible.

    :param width: columns of the screen.
    :returns: what to print, each with the line that it belongs to.
    """
    columns = max(width, NARROWEST)
    for line in lines:
        label = ""
        if line.label is not None:
            label = f"{printable(line.label):{INDENT - 1}} "
        text = f"{label}{printable(line.text)}"
        room = columns - len(text)
        if line.tail and room >= SHORTEST_TAIL:
            text += excerpt(printable(line.tail), room)
        parts = wrap(
            text,
            columns,
            subsequent_indent=" " * INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from ((part, line) for part in parts or [""])


_OPTIONS: Final = "|".join(option.name for option in RUN_OPTIONS)
_NAMES: Final = re.compile(rf"(?<![\w-])--(?=(?:{_OPTIONS})\b)")
_NAMES_OF_PYTEST: Final = re.compile(rf"--bench-(?=(?:{_OPTIONS})\b)")
"""What options of a run begin with; not those of other commands, such as ``--ledger``, which have one name only."""
_SESSION: Final = re.compile(r"\bpytest --bench=")


def at_door(text: str, prefix: str) -> str:
    """
    Return a text with options as they are called at a door: ``--bench-resume`` of pytest is ``--resume`` elsewhere.

    :param prefix: of the options there; where it is ``--``, a command of pytest becomes ``benchgate run``, too.
    """
    if prefix == "--":
        own = _NAMES_OF_PYTEST.sub("--", text)
        return _SESSION.sub("benchgate run --out=.benchgate --task-class=", own)
    return _NAMES.sub(prefix, text)
