"""Writes the migrated text of the final stage."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.observers.standins.facts import FACTS

from .lines import BASE, apk_add
from .origin import user_in
from .ports import exposed, in_variables
from .recipe import STATIC_HOLDS, run_work
from .workspace import exec_form

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import Stage

    from .origin import Start
    from .recipe import Work
    from .workspace import Block

BUILD: Final = "build"
NOBODY: Final = "65532"
_PIP: Final = re.compile(r"(?:python3? -m )?pip3? install ")
_NODE: Final = re.compile(r"(?:npm|yarn|pnpm) ")
_FOR_BUILDING: Final = {
    "requirements.txt",
    "package-lock.json",
    "yarn.lock",
    "Pipfile.lock",
    "poetry.lock",
}


@dataclass(frozen=True)
class FinalStage:
    """
    The final stage as given, and how to migrate it.

    :param target: name of the image to use.
    :param ports: old port to new port.
    """

    blocks: list[Block]
    stage: Stage
    start: Start
    target: str
    image: str
    dev_image: str
    ports: Mapping[str, str]

    def text(self, work: Work) -> str:
        """Return the text of one stage or two."""
        if self.stage.parent:
            return self._inherited()
        if self.target == BASE:
            return self._on_a_base()
        if self.start.needs_shell or set(work.at_run_time) - STATIC_HOLDS:
            return self._with_a_shell(work)
        if not work.commands:
            return self._from(self.image) + self._body() + self._end()
        return self._split(work)

    @property
    def _flags(self) -> list[str]:
        return list(self.blocks[0].instruction.flags)

    def _from(self, image: str, name: str = "") -> str:
        own = self.blocks[0].instruction.value[2:3]
        named = ["AS", name or own[0]] if name or own else []
        return " ".join(["FROM", *self._flags, image, *named]) + "\n"

    def _inherited(self) -> str:
        kept = (block for block in self.blocks[1:] if block.instruction.name != "RUN")
        return self.blocks[0].source + "".join(block.source for block in kept)

    def _on_a_base(self) -> str:
        lines = [
            self._run(block) if block.instruction.name == "RUN" else self._line(block)
            for block in self.blocks[1:]
        ]
        user = self.stage.config.user
        number = user if user_in(self.target, user) else NOBODY
        return self._from(self.image) + "".join(lines) + f"USER {number}\n" + self._end()

    def _run(self, block: Block) -> str:
        work = run_work(block)
        parts = [*([apk_add(work.packages)] if work.packages else []), *work.commands]
        return f"RUN {' && '.join(parts)}\n" if parts else ""

    def _with_a_shell(self, work: Work) -> str:
        """Return a stage that keeps its package manager, since the container needs what it installs."""
        install = f"USER root\nRUN {apk_add(work.at_run_time)}\n" if work.at_run_time else ""
        return (
            self._from(self.dev_image) + install + self._body() + f"USER {NOBODY}\n" + self._end()
        )

    def _split(self, work: Work) -> str:
        last = max(at for at, block in enumerate(self.blocks) if block.instruction.name == "RUN")
        lines = [self._build_line(block) for block in self.blocks[1 : last + 1]]
        packages = f"RUN {apk_add(work.build_only)}\n" if work.build_only else ""
        first = self._from(self.dev_image, BUILD) + "USER root\n" + packages + "".join(lines)
        return (
            f"{first}\n{self._from(self.image)}{self._body(self._carried(work))}{self._end(work)}"
        )

    def _build_line(self, block: Block) -> str:
        name = block.instruction.name
        if name in ("USER", "CMD", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK"):
            return ""
        if name != "RUN":
            return block.source
        commands = [self._into_venv(command) for command in run_work(block).commands]
        return f"RUN {' && '.join(commands)}\n" if commands else ""

    @property
    def _workdir(self) -> str:
        return self.stage.config.workdir or "/"

    @property
    def _venv(self) -> str:
        return posixpath.join(self._workdir, "venv")

    def _into_venv(self, command: str) -> str:
        found = _PIP.match(command)
        if not found:
            return command
        return (
            f"python -m venv {self._venv} && {self._venv}/bin/pip install {command[found.end() :]}"
        )

    def _carried(self, work: Work) -> str:
        """Return the folder to copy from the build stage: a package manager's, else the whole working folder."""
        if any(_PIP.match(command) for command in work.commands):
            return self._venv
        if all(_NODE.match(command) for command in work.commands):
            return posixpath.join(self._workdir, "node_modules")
        return self._workdir

    def _body(self, carried: str = "") -> str:
        """Return the lines that stay, with the copy from the build stage before the first other copy."""
        lines, copy = [], f"COPY --from={BUILD} {carried} {carried}\n" if carried else ""
        for block in self.blocks[1:]:
            line = self._line(block)
            if copy and block.instruction.name in ("COPY", "ADD"):
                lines.append(copy)
                copy = ""
            lines.append(
                "" if carried == self._workdir and block.instruction.name == "COPY" else line
            )
        return "".join([*lines, copy])

    def _line(self, block: Block) -> str:
        one = block.instruction
        if one.name in ("RUN", "CMD", "ENTRYPOINT"):
            return block.source if self.start.needs_shell and one.name != "RUN" else ""
        if one.name == "USER":
            keeps = (
                self.target != BASE and user_in(self.target, one.value[0]) and not self._own_root
            )
            return block.source if keeps else ""
        if one.name == "HEALTHCHECK":
            return block.source if one.json else ""
        if one.name == "EXPOSE":
            return exposed(one)
        if one.name == "ENV":
            return in_variables(one, block.source, self.ports)
        return "" if one.name == "COPY" and set(one.value[:-1]) <= _FOR_BUILDING else block.source

    @property
    def _own_root(self) -> bool:
        """Whether the image starts as root and drops root itself."""
        facts = FACTS.get(self.target)
        return facts is not None and facts.user == "0" and bool(facts.entrypoint)

    def _end(self, work: Work | None = None) -> str:
        argv = self.start.argv
        if not argv:
            return ""
        if work and argv[0] in ("python", "python3") and self._carried(work) == self._venv:
            argv = (f"{self._venv}/bin/python", *argv[1:])
        return exec_form("ENTRYPOINT", argv)
