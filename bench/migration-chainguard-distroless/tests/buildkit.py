"""BuildKit's own parser, from the PyPI package ``dockerfile``, which has no wheels for some platforms."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import (
    KNOWN,
    Heredoc,
    Instruction,
    Refused,
    spelt,
)
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import split
from _benchgate_bench.migration_chainguard_distroless.dockerfile.words import SPACE


@cache
def _library() -> Any:
    try:
        found = importlib.import_module("dockerfile")
    except ImportError:
        return None
    # In a Python started with -m in this class's folder, the name means the package around this module.
    return found if hasattr(found, "parse_string") else None


def available() -> bool:
    """Return whether the package is installed."""
    return _library() is not None


def parse(text: str) -> tuple[Instruction, ...]:
    """
    Return the instructions of a Dockerfile.

    :raises Refused: BuildKit rejects it.
    """
    library = _library()
    try:
        commands = library.parse_string(text)
    except library.GoParseError:
        raise Refused("dockerfile_unparsable") from None
    except UnicodeDecodeError:
        # The library cut a flag's value at a byte, and half a character cannot be decoded.
        return split(text)
    return tuple(map(_instruction, commands))


def _instruction(command: Any) -> Instruction:
    name = spelt(command.cmd or "")
    if name == "ONBUILD":
        # The library has it split already; the text is wanted, since it is an instruction itself.
        words = command.original.strip(SPACE).split(maxsplit=1)
        return Instruction(name, tuple(words[1:]), line=command.start_line)
    if name not in KNOWN:
        return Instruction(name, (), line=command.start_line)
    return Instruction(
        name,
        tuple(command.value),
        flags=tuple(command.flags),
        json=command.json,
        heredocs=tuple(Heredoc(held.name, held.content) for held in command.heredocs),
        line=command.start_line,
    )
