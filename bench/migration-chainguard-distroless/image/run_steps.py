"""What the ``RUN`` steps of a stage do, as far as their text tells: commands, packages installed, users made."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.shell import (
    packages_added,
    packages_deleted,
    simple_commands,
)

from .config import absolute

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .stages import Stage, Step

_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Ran:
    """
    One command of a ``RUN``, as the shell would start it.

    :param path: the program as written.
    :param words: with the program's name first, known variables substituted.
    :param env: the variables in effect, those of the stage and those set in the same ``RUN``.
    :param folder: where it starts.
    """

    path: str
    words: tuple[str, ...]
    env: Mapping[str, str]
    folder: str

    @property
    def text(self) -> str:
        """The words in one line."""
        return " ".join(self.words)


def ran(step: Step) -> tuple[Ran, ...]:
    """Return the commands of a ``RUN`` in their order; ``cd`` and ``export`` hold for those that follow."""
    if not step.ran:
        step.ran.append(tuple(_ran(step)))
    found: tuple[Ran, ...] = step.ran[0]
    return found


def _ran(step: Step) -> Iterator[Ran]:
    env, folder = {**step.before.args, **step.before.env}, step.before.workdir
    for given, words in simple_commands(step.instruction):
        here = {**env, **_assigned(given, env)}
        filled = tuple(_fill(word, here) for word in words)
        if not filled:
            env = here
            continue
        name = posixpath.basename(filled[0])
        if name in ("export", "readonly"):
            env |= _assigned(filled[1:], here)
        elif name == "cd" and len(filled) > 1:
            folder = absolute(folder, filled[1])
        elif name in (".", "source") and filled[-1].endswith("/bin/activate"):
            root = absolute(folder, filled[-1].removesuffix("/bin/activate"))
            env |= {"VIRTUAL_ENV": root, "PATH": f"{root}/bin:{env.get('PATH', '')}"}
        yield Ran(filled[0], (name, *filled[1:]), here, folder)


def _assigned(words: tuple[str, ...], env: Mapping[str, str]) -> dict[str, str]:
    pairs = (word.partition("=") for word in words if "=" in word)
    return {name: _fill(value, env) for name, _, value in pairs}


def _fill(text: str, env: Mapping[str, str]) -> str:
    """Return a word with the variables substituted whose value is known."""
    return _VARIABLE.sub(lambda found: env.get(found[1] or found[2], found[0]), text)


def step_commands(stage: Stage) -> list[tuple[Step, tuple[str, ...]]]:
    """Return the commands of a stage's ``RUN`` steps, each with its step, those of its parents first."""
    runs = (step for step in stage.all_steps if step.name == "RUN")
    return [(step, split(one.words)) for step in runs for one in ran(step)]


def split(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return words after substitution; unlike a quoted one, a variable may hold several."""
    if words[0] != "apk":
        return words
    return tuple(part for word in words for part in word.split())


def installed(stage: Stage) -> frozenset[str]:
    """Return the packages that ``apk`` added to a stage and did not delete again."""
    held: set[str] = set()
    for _, words in step_commands(stage):
        held |= set(packages_added(words))
        held -= set(packages_deleted(words))
    return frozenset(held)


def users_made(stage: Stage) -> frozenset[str]:
    """Return the names of the users that a stage created."""
    makers = ("adduser", "useradd")
    made = (words for _, words in step_commands(stage) if words[0] in makers)
    return frozenset(words[-1] for words in made)


def held_packages(stage: Stage) -> frozenset[str]:
    """Return the known system packages of a stage: those of its base image and those installed."""
    return installed(stage) | set(stage.facts.holds if stage.facts else ())
