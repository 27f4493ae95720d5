"""
Parses a Dockerfile and checks its form.

Tests compare :mod:`.plain_parser` with BuildKit's own parser.
"""

from __future__ import annotations

import re
from typing import Final

from . import plain_parser
from .instruction import KNOWN, Instruction, Refused

MAX_TEXT: Final = 200_000
"""Characters of a file beyond which it is not read."""

MAX_LINE: Final = 60_000
"""Bytes of a line beyond which a file is not read; BuildKit stops at 65535."""

MAX_INSTRUCTIONS: Final = 1000
"""Instructions beyond which a file is not read."""

MAX_STAGES: Final = 50
"""Stages beyond which a file is not read."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_FROM_FORMS: Final = (1, 3)
_AT_LEAST: Final = {
    "ADD": 2, "COPY": 2, "ENV": 2, "EXPOSE": 1, "HEALTHCHECK": 1, "LABEL": 2, "RUN": 1, "SHELL": 1, "STOPSIGNAL": 1,
    "USER": 1, "VOLUME": 1, "WORKDIR": 1,
}  # fmt: skip


def parse(text: str) -> tuple[Instruction, ...]:
    """
    Return the instructions of a Dockerfile whose form is right.

    :raises Refused: its form is broken, or it is larger than any real one.
    """
    check_text(text)
    instructions = plain_parser.parse(text)
    _check(instructions)
    return instructions


def check_text(text: str) -> None:
    """
    Refuse text that no editor writes, before a parser reads it.

    :raises Refused: too long, or with control characters or halves of surrogate pairs.
    """
    if len(text) > MAX_TEXT or _CONTROL.search(text):
        raise Refused("dockerfile_unparsable")
    if max(len(line.encode()) for line in text.split("\n")) > MAX_LINE:
        raise Refused("dockerfile_unparsable")


def _check(instructions: tuple[Instruction, ...]) -> None:
    if any(one.name not in KNOWN for one in instructions):
        raise Refused("instruction_unknown")
    first = next((one.name for one in instructions if one.name != "ARG"), None)
    if first != "FROM":
        raise Refused("from_missing")
    stages = sum(one.name == "FROM" for one in instructions)
    if len(instructions) > MAX_INSTRUCTIONS or stages > MAX_STAGES:
        raise Refused("dockerfile_unparsable")
    if not all(map(_formed, instructions)):
        raise Refused("dockerfile_unparsable")


def _formed(one: Instruction) -> bool:
    words = one.value
    if one.name == "FROM":
        return len(words) in _FROM_FORMS and (len(words) == 1 or words[1].upper() == "AS")
    if one.name == "HEALTHCHECK" and words and words[0].upper() not in ("CMD", "NONE"):
        return False
    if one.name == "SHELL" and not one.json:
        return False
    return len(words) >= _AT_LEAST.get(one.name, 0)
