"""The parts of a Dockerfile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KNOWN: Final = frozenset(
    {
        "ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER",
        "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR",
    }
)  # fmt: skip
"""The instructions that exist."""


class Refused(ValueError):
    """An answer that cannot be read as a project with a Dockerfile; :attr:`code` is the failure mode."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


@dataclass(frozen=True, slots=True)
class Heredoc:
    """
    A here-document of an instruction.

    :param content: its lines, as written.
    """

    name: str
    content: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """
    One instruction.

    :param name: in capitals.
    :param value: its words; the whole text as one word, where an instruction is not split.
    :param flags: ``--flag=value``, as written but for quotes.
    :param json: the words were a JSON list, the exec form.
    :param line: where it starts, from 1.
    :param written: of a step of a stage, its words before variables were filled in.
    """

    name: str
    value: tuple[str, ...]
    flags: tuple[str, ...] = ()
    json: bool = False
    heredocs: tuple[Heredoc, ...] = ()
    line: int = 0
    written: tuple[str, ...] = ()

    def flag(self, name: str) -> str | None:
        """Return the value of ``--name=value``; of several the last."""
        found = [flag.partition("=")[2] for flag in self.flags if flag.startswith(f"--{name}=")]
        return found[-1] if found else None


def spelt(name: str) -> str:
    """Return an instruction's name in capitals; not for other alphabets, where ``upper`` may yield ASCII letters."""
    return name.upper() if name.isascii() else name
