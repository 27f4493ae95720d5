"""The configuration of an image at one point of a stage, and how instructions change it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from .reference import Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .instruction import Instruction

SHELL: Final = ("/bin/sh", "-c")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")


def absolute(folder: str, path: str) -> str:
    """Return the absolute path that a path means in a working folder, with one slash in front."""
    return "/" + posixpath.normpath(posixpath.join(folder, path)).lstrip("/")


@dataclass(frozen=True, slots=True)
class Command:
    """
    A command to run.

    :param argv: with the shell in front, in shell form.
    :param shell_form: a shell runs it.
    """

    argv: tuple[str, ...]
    shell_form: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration in effect at one point of a stage; ``cmd_here``: this stage set ``CMD`` itself."""

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

    @property
    def argv(self) -> tuple[str, ...]:
        """The command that is started; an entrypoint in shell form ignores ``CMD``."""
        if self.entrypoint.shell_form:
            return self.entrypoint.argv
        return self.entrypoint.argv + self.cmd.argv


def initial(base: str) -> Config:
    """Return the configuration right after ``FROM`` an image: most of Chainguard's run as 65532, others as root."""
    reference = Reference.read(base)
    return Config(user="65532" if reference and reference.chainguard else "")


def is_number(name: str) -> bool:
    """Return whether a user is given by number."""
    return bool(_NUMBER.fullmatch(name))


def is_root(text: str) -> bool:
    """Return whether a ``USER`` value is root; without a name it is."""
    name = text.partition(":")[0]
    return name in ("", "root") or (is_number(name) and not name.lstrip("+-").strip("0"))


def _command(before: Config, one: Instruction, words: tuple[str, ...]) -> Command:
    return (
        Command(words)
        if one.json or not words
        else Command((*before.shell, *words), shell_form=True)
    )


def _entrypoint(before: Config, one: Instruction, words: tuple[str, ...]) -> Config:
    # Docker drops a CMD of the base image: it was meant for the base's entrypoint.
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
    "WORKDIR": _workdir,
}
