"""Migrates a Dockerfile as a whole: a build stage, a runtime stage without build tools, a user other than root."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from typing import Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import Build, Stage, resolve
from _benchgate_bench.migration_chainguard_distroless.project import DOCKERFILE, IGNORE

from .lines import BASE, Work, image, in_configuration, is_chainguard, moved, run_work, user_command
from .recipe import STATIC_HOLDS, Argv, argv_of, target_of, user_in
from .tables import FURTHER
from .workspace import Block, System, Task

_USER_TOOLS: Final = ("adduser", "addgroup")
_NOBODY: Final = "65532"
_PIP: Final = re.compile(r"(?:python3? -m )?pip3? install ")
_NODE: Final = re.compile(r"(?:npm|yarn|pnpm) ")
_BUILD_ONLY: Final = re.compile(
    r".*-dev|gcc|make|build-base|cmake|git|curl|wget|gnupg|pkgconf|libssl3|patch|unzip"
)
_PINS: Final = {"requirements.txt", "package-lock.json", "yarn.lock", "Pipfile.lock", "poetry.lock"}
"""Files that only an installation of packages reads."""

_NOT_FOR_IMAGES: Final = ".dockerignore\n.env\n.git\nDockerfile\nnode_modules\n"
_SPEAKS_OF_PORTS: Final = re.compile(r"PORT|URL|LISTEN|ADDR", re.IGNORECASE)


class StageAware(System):
    """
    Moves build steps into a stage of their own, uses a runtime image, and repairs entrypoint, user and ports.

    It drops health checks that need a shell, and does not touch commands that run code from the network.
    """

    name = "stage-aware"

    def changed(self, task: Task) -> dict[str, str]:
        """Return the migrated Dockerfile, and the other files that change."""
        build = resolve(parse(task.text))
        if all(is_chainguard(stage.root_base) for stage in build.stages):
            return {}
        head, before, stages = task.parts()
        froms = [own[0].instruction.value[0] for own in stages]
        kept = [block.source for block in before if not _names_an_image(block, froms)]
        pairs = zip(build.stages[:-1], stages[:-1], strict=True)
        earlier = [_earlier(stage, own, task) for stage, own in pairs]
        final = _Final.of(task, build, stages[-1])
        text = "".join([head, *kept, *earlier, final.text()])
        return {DOCKERFILE: text, **_configurations(task, final.ports), **_ignored(task, stages)}


def _names_an_image(block: Block, froms: list[str]) -> bool:
    """Return whether a global argument is part of an image's name, which is now written out."""
    names = {word.partition("=")[0] for word in block.instruction.value}
    return any(f"{sign}{name}" in one for one in froms for name in names for sign in ("$", "${"))


def _earlier(stage: Stage, own: list[Block], task: Task) -> str:
    """Return a stage other than the final one; its commands run as root."""
    runs = any(block.name == "RUN" for block in own)
    base, *named = own[0].instruction.value
    new = base if stage.parent else image(stage.root_base, task, dev=runs)
    root = runs and not stage.parent and not new.endswith("/go:latest-dev")
    lines = "".join(map(_with_packages, own[1:]))
    end = "" if own[-1].gap else "\n"
    return own[0].on(new, *named) + ("USER root\n" if root else "") + lines + end


def _with_packages(block: Block) -> str:
    """Return a ``RUN`` that installs Wolfi's packages; what installs none unchanged."""
    work = _work(block)
    return work.line() if work.packages else block.source


def _work(*blocks: Block) -> Work:
    """Return what instructions install and run, but for commands that create users."""
    each = [run_work(block, FURTHER) for block in blocks]
    commands = [command for work in each for command in work.commands]
    return Work(
        sorted({name for work in each for name in work.packages}),
        [one for one in commands if user_command(one) == one and not one.startswith(_USER_TOOLS)],
    )


def _configurations(task: Task, ports: dict[str, str]) -> dict[str, str]:
    """Return the configurations of nginx with their ports replaced."""
    named = {path: text for path, text in task.files.items() if path.endswith(".conf")}
    return {path: in_configuration(text, ports) for path, text in named.items() if "nginx" in path}


def _ignored(task: Task, stages: list[list[Block]]) -> dict[str, str]:
    """Return a ``.dockerignore``, where everything is copied and there is none."""
    copies = [block.instruction for own in stages for block in own if block.name == "COPY"]
    everything = any("." in one.value[:-1] for one in copies)
    return {IGNORE: _NOT_FOR_IMAGES} if everything and IGNORE not in task.files else {}


@dataclass(frozen=True)
class _Final:
    """
    The final stage as given, and how to migrate it.

    :param target: the image to use.
    :param ports: old port to new port.
    """

    task: Task
    blocks: list[Block]
    stage: Stage
    argv: Argv
    target: str
    work: Work
    ports: dict[str, str]

    @classmethod
    def of(cls, task: Task, build: Build, blocks: list[Block]) -> _Final:
        """Return the final stage of a build."""
        work, package = _work(*blocks), json.loads(task.files.get("package.json", "{}"))
        argv = argv_of(build.final, package.get("scripts", {}))
        target = target_of(build, argv, set(work.packages))
        words = [w for step in build.final.all_steps if step.name == "EXPOSE" for w in step.value]
        ports = (word.partition("/")[0] for word in words)
        changes = {port: moved(port) for port in ports if moved(port) != port}
        return cls(task, blocks, build.final, argv, target, work, changes)

    def text(self) -> str:
        """Return the text of one stage or two."""
        first, *others = self.blocks
        if self.stage.parent:
            return first.source + "".join(one.source for one in others if one.name != "RUN")
        if self._name == BASE:
            return self._on_a_base()
        at_run_time = [name for name in self.work.packages if not _BUILD_ONLY.fullmatch(name)]
        if self.argv is None or set(at_run_time) - STATIC_HOLDS:
            install = "USER root\n" + Work(at_run_time, []).line() if at_run_time else ""
            user = f"USER {_NOBODY}\n"
            return self._from(dev=True) + install + self._body() + user + self._end()
        if not self.work.commands:
            return self._from() + self._body() + self._end()
        return self._split()

    @property
    def _name(self) -> str:
        return self.target.partition(":")[0]

    def _from(self, *names: str, dev: bool = False) -> str:
        first = self.blocks[0]
        named = [f"AS {name}" for name in names or first.instruction.value[2:3]]
        return first.on(image(self.target, self.task, dev=dev), *named)

    def _on_a_base(self) -> str:
        """Return a stage that installs packages itself, since the image is made for that."""
        lines = [
            _work(block).line() if block.has_commands else self._line(block, run=block.source)
            for block in self.blocks[1:]
        ]
        user = self.stage.config.user
        number = user if user_in(BASE, user) else _NOBODY
        return self._from() + "".join(lines) + f"USER {number}\n" + self._end()

    def _split(self) -> str:
        last = max(at for at, block in enumerate(self.blocks) if block.name == "RUN")
        build_only = [name for name in self.work.packages if _BUILD_ONLY.fullmatch(name)]
        first = [
            self._from("build", dev=True),
            "USER root\n",
            Work(build_only, []).line(),
            *map(self._build_line, self.blocks[1 : last + 1]),
        ]
        carried = self._carried
        return "".join([*first, "\n", self._from(), self._body(carried), self._end(carried)])

    def _build_line(self, block: Block) -> str:
        if block.name in ("USER", "CMD", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK"):
            return ""
        if not block.has_commands:
            return block.source
        return Work([], [*map(self._into_venv, _work(block).commands)]).line()

    def _into_venv(self, command: str) -> str:
        pip = f"python -m venv {self._venv} && {self._venv}/bin/pip install "
        found = _PIP.match(command)
        return pip + command[found.end() :] if found else command

    @property
    def _workdir(self) -> str:
        return self.stage.config.workdir or "/"

    @property
    def _venv(self) -> str:
        return posixpath.join(self._workdir, "venv")

    @property
    def _carried(self) -> str:
        """The folder to copy from the build stage: a package manager's, else the whole working folder."""
        if any(map(_PIP.match, self.work.commands)):
            return self._venv
        npm = all(map(_NODE.match, self.work.commands))
        return posixpath.join(self._workdir, "node_modules") if npm else self._workdir

    def _body(self, carried: str = "") -> str:
        """Return the lines that stay, with the copy from the build stage before the first other copy."""
        names = [block.name for block in self.blocks[1:]]
        lines = [
            "" if carried == self._workdir and block.name == "COPY" else self._line(block)
            for block in self.blocks[1:]
        ]
        first = next((at for at, name in enumerate(names) if name in ("COPY", "ADD")), len(names))
        copy = f"COPY --from=build {carried} {carried}\n" if carried else ""
        return "".join([*lines[:first], copy, *lines[first:]])

    def _line(self, block: Block, run: str = "") -> str:
        """Return the line of an instruction, empty if it does not stay in the final stage, for ``RUN`` the given."""
        one = block.instruction
        if one.name == "EXPOSE":
            return f"EXPOSE {' '.join(map(moved, one.value))}\n"
        if one.name == "ENV":
            return self._variables(block)
        stays = {
            "RUN": bool(run),
            "CMD": self.argv is None,
            "ENTRYPOINT": self.argv is None,
            "USER": self._name != BASE and user_in(self._name, "".join(one.value)),
            "HEALTHCHECK": one.json,
            "COPY": not set(one.value[:-1]) <= _PINS,
        }
        return block.source if stays.get(one.name, True) else ""

    def _variables(self, block: Block) -> str:
        """Return an ``ENV`` with ports replaced, if a variable's name suggests one."""
        source = block.source
        if any(map(_SPEAKS_OF_PORTS.search, block.instruction.value[::2])):
            for old, new in self.ports.items():
                source = re.sub(rf"(?<![\d.]){old}(?![\d.])", new, source)
        return source

    def _end(self, carried: str = "") -> str:
        """Return the entrypoint in exec form, as a line."""
        argv = [*(self.argv or ())]
        if carried == self._venv and argv and argv[0] in ("python", "python3"):
            argv[0] = f"{self._venv}/bin/python"
        return f"ENTRYPOINT {json.dumps(argv, ensure_ascii=False)}\n" if argv else ""
