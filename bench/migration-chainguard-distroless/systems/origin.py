"""What the container started before the migration; the command may come from its base image."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.config import is_number, is_root
from _benchgate_bench.migration_chainguard_distroless.observers.standins.facts import FACTS

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    config = final.config
    if not config.argv:
        return Start(())
    argv = [*config.entrypoint.argv, *config.cmd.argv]
    shell = config.entrypoint.shell_form or config.cmd.shell_form
    if shell:
        text = config.argv[-1]
        if _SHELL_TEXT.search(text):
            return Start((), needs_shell=True)
        argv = shlex.split(text.removeprefix("exec "))
    if not config.entrypoint.argv:
        argv = [*_entrypoint(final.root_base), *argv]
    if tuple(argv) in _NPM_START and "start" in scripts:
        argv = shlex.split(scripts["start"])
    return Start(tuple(argv))


def _entrypoint(base: str) -> tuple[str, ...]:
    return next((words for pattern, words in _ENTRYPOINTS if pattern.fullmatch(base)), ())


def user_in(image: str, user: str) -> bool:
    """Return whether a user need not be created: a number other than root's, or a name that the image has."""
    name = user.partition(":")[0]
    known = FACTS[image].users if image in FACTS else ()
    return name in known or (is_number(name) and not is_root(name))
