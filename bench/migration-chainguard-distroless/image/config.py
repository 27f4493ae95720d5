"""What holds at one point of a stage, and how the instructions change it."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from .base_images import Reference, facts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Instruction

SHELL: Final = ("/bin/sh", "-c")


def absolute(folder: str, path: str) -> str:
    """Return where a path leads from a folder of an image, with one slash in front."""
    return "/" + posixpath.normpath(posixpath.join(folder, path)).lstrip("/")


@dataclass(frozen=True, slots=True)
class Command:
    """
    Something to run.

    :param argv: with the shell in front, if it goes through one.
    :param shell_form: it goes through a shell.
    """

    argv: tuple[str, ...]
    shell_form: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """What holds at one point of a stage."""

    user: str = ""
    workdir: str = "/"
    env: Mapping[str, str] = field(default_factory=dict)
    args: Mapping[str, str] = field(default_factory=dict)
    entrypoint: Command = Command(())
    cmd: Command = Command(())
    cmd_here: bool = False
    ports: frozenset[str] = frozenset()
    healthcheck: Command | None = None
    shell: tuple[str, ...] = SHELL
    volumes: frozenset[str] = frozenset()

    @property
    def argv(self) -> tuple[str, ...]:
        """What is started: a shell-form entrypoint hands nothing on."""
        if self.entrypoint.shell_form:
            return self.entrypoint.argv
        return self.entrypoint.argv + self.cmd.argv

    @property
    def commands(self) -> tuple[Command, ...]:
        """What runs when the container does."""
        return tuple(one for one in (self.entrypoint, self.cmd, self.healthcheck) if one)


def initial(base: str) -> Config:
    """Return what holds right after ``FROM`` an image."""
    facts = facts_of(Reference.read(base))
    if facts is None:
        return Config()
    return Config(
        user=facts.user,
        workdir=facts.workdir,
        env=dict(facts.env),
        entrypoint=Command(facts.entrypoint),
        cmd=Command(facts.cmd),
    )


def _command(before: Config, one: Instruction, words: tuple[str, ...]) -> Command:
    return (
        Command(words)
        if one.json or not words
        else Command((*before.shell, *words), shell_form=True)
    )


def _entrypoint(before: Config, one: Instruction, words: tuple[str, ...]) -> Config:
    # A command that came with the base was meant for the base's entrypoint.
    kept = before.cmd if before.cmd_here else Command(())
    return replace(before, entrypoint=_command(before, one, words), cmd=kept)


def _cmd(before: Config, one: Instruction, words: tuple[str, ...]) -> Config:
    return replace(before, cmd=_command(before, one, words), cmd_here=True)


def _healthcheck(before: Config, one: Instruction, words: tuple[str, ...]) -> Config:
    none = words[0].upper() == "NONE"
    return replace(before, healthcheck=None if none else _command(before, one, words[1:]))


def _env(before: Config, _one: Instruction, words: tuple[str, ...]) -> Config:
    return replace(before, env={**before.env, **dict(zip(words[::2], words[1::2], strict=True))})


def _expose(before: Config, _one: Instruction, words: tuple[str, ...]) -> Config:
    ports = {word.lower().removesuffix("/tcp") for word in words}
    return replace(before, ports=before.ports | ports)


def _workdir(before: Config, _one: Instruction, words: tuple[str, ...]) -> Config:
    return replace(before, workdir=absolute(before.workdir, words[0]))


CHANGES: Final = {
    "CMD": _cmd,
    "ENTRYPOINT": _entrypoint,
    "ENV": _env,
    "EXPOSE": _expose,
    "HEALTHCHECK": _healthcheck,
    "SHELL": lambda before, _one, words: replace(before, shell=words),
    "USER": lambda before, _one, words: replace(before, user=words[0]),
    "VOLUME": lambda before, _one, words: replace(before, volumes=before.volumes | set(words)),
    "WORKDIR": _workdir,
}
