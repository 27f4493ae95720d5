"""Chooses the image of the final stage, and sorts the commands of its ``RUN`` lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import borrowed

from .lines import (
    BASE,
    image_name,
    is_housekeeping,
    mapped,
    package_words,
    run_commands,
    user_command,
)
from .tables import FURTHER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import Build, Stage

    from .origin import Start
    from .workspace import Block

STATIC_HOLDS: Final = {"ca-certificates", "ca-certificates-bundle", "tzdata"}
_BUILD_ONLY: Final = re.compile(
    r".*-dev|gcc|make|build-base|cmake|git|curl|wget|gnupg|pkgconf|libssl3|patch|unzip"
)
_DISTROLESS: Final = re.compile(r".*distroless/(?P<kind>[a-z]+)(?P<major>\d*)(?:-\S*)?")
_DISTROLESS_KINDS: Final = {
    "base": "glibc-dynamic", "cc": "glibc-dynamic", "java": "jre", "nodejs": "node", "python": "python",
    "static": "static",
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """
    The image to use.

    :param tag: the tag that the version is taken from.
    """

    name: str
    tag: str


def target_of(build: Build, start: Start, packages: Iterable[str]) -> Target:
    """Return the image for the final stage of a build."""
    base = build.final.root_base
    named = base.partition("@")[0]
    found = _DISTROLESS.fullmatch(named.partition(":")[0])
    if found and found["kind"] in _DISTROLESS_KINDS:
        return Target(_DISTROLESS_KINDS[found["kind"]], found["major"])
    head, _, tag = named.partition(":")
    name = image_name(head)
    if name == "jdk" and start.argv[:1] == ("java",):
        return Target("jre", tag)
    if name == BASE and not start.needs_shell and set(packages) <= STATIC_HOLDS:
        return Target(_binary_image(build, start) or BASE, "")
    return Target(name, tag)


def _binary_image(build: Build, start: Start) -> str:
    """Return the image for a compiled program, empty if none is copied from a build stage."""
    final = build.final
    sources = [build.find(name, final) for name in borrowed(final)]
    compilers = [
        one for one in sources if one and image_name(_bare(one)) in ("go", "rust", "gcc-glibc")
    ]
    if not compilers or not start.argv or not start.argv[0].startswith("/"):
        return ""
    steps = (step.instruction for one in compilers for step in one.all_steps if step.name == "RUN")
    static = any("CGO_ENABLED=0" in str((step.value, step.heredocs)) for step in steps)
    static = static or any(one.config.env.get("CGO_ENABLED") == "0" for one in compilers)
    return "static" if static else "glibc-dynamic"


def _bare(stage: Stage) -> str:
    return stage.root_base.partition("@")[0].partition(":")[0]


@dataclass(frozen=True)
class Work:
    """
    What the ``RUN`` lines of a stage do.

    :param packages: the packages they install, by Wolfi's names.
    :param commands: their other commands, without those that create users.
    """

    packages: tuple[str, ...]
    commands: tuple[str, ...]

    @property
    def build_only(self) -> tuple[str, ...]:
        """The packages that nothing needs once the image is built."""
        return tuple(name for name in self.packages if _BUILD_ONLY.fullmatch(name))

    @property
    def at_run_time(self) -> tuple[str, ...]:
        """The packages that something may need later."""
        return tuple(name for name in self.packages if not _BUILD_ONLY.fullmatch(name))


def work_of(stage: Iterable[Block]) -> Work:
    """Return what a stage installs and runs."""
    names: set[str] = set()
    commands: list[str] = []
    for block in stage:
        found = run_work(block)
        names |= set(found.packages)
        commands += found.commands
    return Work(tuple(sorted(names)), tuple(commands))


def run_work(block: Block) -> Work:
    """Return what one ``RUN`` installs and runs."""
    one = block.instruction
    if one.name != "RUN":
        return Work((), ())
    if one.json or one.heredocs:
        return Work((), (block.source,))
    commands = run_commands(one.value[0])
    installs = [found for command in commands if (found := package_words(command))]
    names = {name for manager, words in installs for name in mapped(manager, words, FURTHER)}
    others = [command for command in commands if not _goes(command)]
    return Work(tuple(sorted(names)), tuple(others))


def _goes(command: str) -> bool:
    makes_user = user_command(command) != command or command.startswith(("adduser", "addgroup"))
    return makes_user or is_housekeeping(command) or package_words(command) is not None
