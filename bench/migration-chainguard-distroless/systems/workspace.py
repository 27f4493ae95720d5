"""What a system gets and returns, and a Dockerfile split into instructions with their source lines."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.project import DOCKERFILE, POLICY, read_input

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Instruction

    from benchgate import BenchCase

_CLASS: Final = Path(__file__).parents[1]
_SOURCES: Final = ("systems/*.py", "dockerfile/*.py", "observers/standins/facts.*", "project.py")


@dataclass(frozen=True)
class Block:
    """An instruction with its lines, comments before the next one included."""

    instruction: Instruction
    source: str

    @property
    def name(self) -> str:
        """The instruction's name."""
        return self.instruction.name

    @property
    def has_commands(self) -> bool:
        """Whether it is a ``RUN`` whose commands can be told apart: in shell form, without a here-document."""
        return self.name == "RUN" and not (self.instruction.json or self.instruction.heredocs)

    @property
    def gap(self) -> str:
        """The blank line that ends it, empty if there is none."""
        return "\n" if self.source.endswith("\n\n") else ""

    def on(self, image: str, *named: str) -> str:
        """Return a ``FROM`` with another image, as a line."""
        return " ".join(["FROM", *self.instruction.flags, image, *named]) + "\n"


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

    @property
    def text(self) -> str:
        """The Dockerfile."""
        return self.files[DOCKERFILE]

    def parts(self) -> tuple[str, list[Block], list[list[Block]]]:
        """Return the text before the first instruction, what stands before the first stage, and each stage."""
        lines = self.text.splitlines(keepends=True)
        found = parse(self.text)
        ends = [*(one.line - 1 for one in found[1:]), len(lines)]
        stages: list[list[Block]] = [[]]
        for one, end in zip(found, ends, strict=True):
            if one.name == "FROM":
                stages.append([])
            stages[-1].append(Block(one, "".join(lines[one.line - 1 : end])))
        return "".join(lines[: found[0].line - 1]), stages[0], stages[1:]


class System:
    """A system under test; by itself it changes nothing."""

    name: str

    def digest(self) -> str:
        """Return the SHA-256 over the systems and what they share with the rubric and the observer."""
        paths = (path for part in _SOURCES for path in sorted(_CLASS.glob(part)))
        return hashlib.sha256(repr([(p.name, p.read_bytes()) for p in paths]).encode()).hexdigest()

    def __call__(self, case: BenchCase) -> dict[str, Any]:
        """Return the Dockerfile of a case and the other files that change."""
        policy = json.loads((case.input_path / POLICY).read_text(encoding="utf-8"))
        task = Task(read_input(case.input_path), policy["organisation"], policy["tags"] == "free")
        return {"files": {DOCKERFILE: task.text, **self.changed(task)}}

    def changed(self, _task: Task) -> Mapping[str, str]:
        """Return the files that change."""
        return {}
