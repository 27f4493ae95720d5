"""BuildKit's own parser, from the package ``dockerfile``; its wheels are not there for every platform."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from .instruction import KNOWN, Heredoc, Instruction, Refused, spelt
from .plain_parser import parse as read_plain


@cache
def _library() -> Any:
    try:
        return importlib.import_module("dockerfile")
    except ImportError:
        return None


def available() -> bool:
    """Tell whether the package is installed."""
    return _library() is not None


def parse(text: str) -> tuple[Instruction, ...]:
    """
    Return the instructions of a Dockerfile.

    :raises Refused: BuildKit would not read it.
    """
    library = _library()
    try:
        commands = library.parse_string(text)
    except library.GoParseError:
        raise Refused("dockerfile_unparsable") from None
    except UnicodeDecodeError:
        # It cuts a flag's value at a byte, not at a character, and cannot hand back the half.
        return read_plain(text)
    return tuple(map(_instruction, commands))


def _instruction(command: Any) -> Instruction:
    name = spelt(command.cmd or "")
    # What ONBUILD holds runs in no image of this file.
    if name not in KNOWN or name == "ONBUILD":
        return Instruction(name, (), line=command.start_line)
    return Instruction(
        name,
        tuple(command.value),
        flags=tuple(command.flags),
        json=command.json,
        heredocs=tuple(Heredoc(held.name, held.content) for held in command.heredocs),
        line=command.start_line,
    )
