"""What the container started before the migration; the command may come from its base image."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import is_number, is_root
from _benchgate_bench.migration_chainguard_distroless.observers.standins.facts import FACTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Instruction
    from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import Stage

_ENTRYPOINTS: Final = (
    (re.compile(r".*distroless/java\d*.*"), ("java", "-jar")),
    (re.compile(r".*distroless/python3?.*"), ("python",)),
    (re.compile(r".*distroless/nodejs\d*.*"), ("node",)),
)
"""Entrypoints of other images, which get the command as arguments."""

_SHELL_TEXT: Final = re.compile(r"[$&|;<>`*?(){}]")
_NPM_START: Final = (("npm", "start"), ("npm", "run", "start"), ("yarn", "start"))


@dataclass(frozen=True)
class Start:
    """
    The command to start.

    :param argv: words in exec form; empty if the image decides.
    :param needs_shell: it needs a shell.
    """

    argv: tuple[str, ...]
    needs_shell: bool = False


def start_of(final: Stage, scripts: Mapping[str, str]) -> Start:
    """
    Return what a stage starts, without a shell and without npm where possible.

    :param scripts: the scripts of ``package.json``.
    """
    entrypoint, cmd = _configured(final)
    argv = [word for one in (entrypoint, cmd) if one for word in one.value]
    if not argv:
        return Start(())
    text = next((one.value[0] for one in (entrypoint, cmd) if one and not one.json), "")
    if _SHELL_TEXT.search(text):
        return Start((), needs_shell=True)
    if text:
        argv = shlex.split(text.removeprefix("exec "))
    if entrypoint is None:
        argv = [*_entrypoint(final.root_base), *argv]
    if tuple(argv) in _NPM_START and "start" in scripts:
        argv = shlex.split(scripts["start"])
    return Start(tuple(argv))


def _configured(final: Stage) -> tuple[Instruction | None, Instruction | None]:
    """Return the ``ENTRYPOINT`` and the ``CMD`` in effect, None for one that is missing or empty."""
    entrypoint = cmd = None
    for stage in final.lineage:
        here = False
        for one in (step.instruction for step in stage.steps):
            if one.name == "CMD":
                cmd, here = one if one.value else None, True
            elif one.name == "ENTRYPOINT":
                # Docker drops a CMD of the base image: it was meant for the base's entrypoint.
                entrypoint, cmd = one if one.value else None, cmd if here else None
    return entrypoint, cmd


def _entrypoint(base: str) -> tuple[str, ...]:
    return next((words for pattern, words in _ENTRYPOINTS if pattern.fullmatch(base)), ())


def user_in(image: str, user: str) -> bool:
    """Return whether a user need not be created: a number other than root's, or a name that the image has."""
    name = user.partition(":")[0]
    known = FACTS[image].users if image in FACTS else ()
    return name in known or (is_number(name) and not is_root(name))
