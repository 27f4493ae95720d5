"""What a system gets and returns, and a Dockerfile split into instructions with their source lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.project import (
    DOCKERFILE,
    POLICY,
    read_input,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Instruction


@dataclass(frozen=True)
class Task:
    """
    One Dockerfile to migrate.

    :param files: the project.
    :param organisation: whose images may be pulled.
    :param free: only the tags that anybody can pull.
    """

    files: Mapping[str, str]
    organisation: str
    free: bool

    @classmethod
    def read(cls, folder: Path) -> Task:
        """Read a case's ``input/``."""
        policy = json.loads((folder / POLICY).read_text(encoding="utf-8"))
        return cls(read_input(folder), policy["organisation"], policy["tags"] == "free")

    @property
    def text(self) -> str:
        """The Dockerfile."""
        return self.files[DOCKERFILE]

    def unchanged(self) -> dict[str, Any]:
        """Return the answer that changes nothing."""
        return answer(self.text)


@dataclass(frozen=True)
class Block:
    """An instruction with its lines, comments before the next one included."""

    instruction: Instruction
    source: str


def answer(dockerfile: str, more: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a system's output."""
    return {"files": {DOCKERFILE: dockerfile, **(more or {})}}


def blocks(text: str) -> tuple[str, list[Block]]:
    """Return the text before the first instruction, and the instructions with their lines."""
    lines = text.splitlines(keepends=True)
    instructions = parse(text)
    starts = [one.line - 1 for one in instructions]
    ends = [*starts[1:], len(lines)]
    cut = ["".join(lines[a:b]) for a, b in zip(starts, ends, strict=True)]
    return "".join(lines[: starts[0]]), list(map(Block, instructions, cut))


def exec_form(name: str, argv: Iterable[str]) -> str:
    """Return an instruction in exec form, as a line."""
    return f"{name} {json.dumps(list(argv), ensure_ascii=False)}\n"
