"""Where files end up: what ``COPY`` and ``ADD`` put into a stage, followed from stage to stage."""

from __future__ import annotations

import fnmatch
import posixpath
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Heredoc, Refused
from _benchgate_bench.migration_chainguard_distroless.dockerfile.shell import commands

from .config import absolute

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Instruction

    from .stages import Build, Stage, Step

_IDLE: Final = frozenset(
    {"[", "cat", "echo", "ls", "mkdir", "printf", "rm", "stat", "test", "touch"}
)

MAX_FILES: Final = 500
"""Limit on the files of a stage and on the steps of a search for one: copies of copies multiply."""


@dataclass(frozen=True, slots=True)
class Made:
    """
    A file that a tool writes without naming it.

    :param path: the end of its path.
    :param by: how the command that writes it begins.
    """

    path: str
    by: str


@dataclass(frozen=True, slots=True)
class Files:
    """
    The files of a build.

    :param context: the files sent to the builder.
    :param made: files that tools write without naming them.
    """

    build: Build
    context: Mapping[str, str]
    made: Sequence[Made] = ()
    _contents: dict[int, dict[str, str]] = field(default_factory=dict, repr=False)

    def contents(self, stage: Stage) -> Mapping[str, str]:
        """
        Return the files copied into a stage: path in the image to path in the context.

        A here-document has no path in the context; its value is ``<<`` and its text.

        :raises Refused: more than :data:`MAX_FILES` files.
        """
        if stage.index not in self._contents:
            held = dict(self.contents(stage.parent)) if stage.parent else {}
            for step in stage.steps:
                if step.name in ("COPY", "ADD"):
                    held.update(self._landed(stage, step))
                if len(held) > MAX_FILES:
                    raise Refused("dockerfile_unparsable")
            self._contents[stage.index] = held
        return self._contents[stage.index]

    def has(self, stage: Stage, path: str) -> bool:
        """Return whether a stage contains a file: copied into it, or made by a ``RUN`` as far as its text shows."""
        return self._has(stage, path, set())

    def _has(self, stage: Stage, path: str, asked: set[tuple[int, str]]) -> bool:
        if (stage.index, path) in asked or len(asked) > MAX_FILES:
            return False
        asked.add((stage.index, path))
        if path in self.contents(stage):
            return True
        if any(self._makes(step, path) for step in stage.all_steps if step.name == "RUN"):
            return True
        steps = ((owner, step) for owner in stage.lineage for step in owner.steps)
        return any(
            self._has(there, source, asked)
            for owner, step in steps
            for there, source in self._brought(owner, step, path)
        )

    def text(self, stage: Stage, path: str) -> str | None:
        """Return the text of a file of a stage, None if it is unknown."""
        origin = self.contents(stage).get(path, "")
        return origin[2:] if origin.startswith("<<") else self.context.get(origin)

    def _landed(self, owner: Stage, step: Step) -> Iterator[tuple[str, str]]:
        available = self._available(owner, step)
        heredocs = iter(step.instruction.heredocs)
        for source in step.words[:-1]:
            if source.startswith("<<"):
                held = next(heredocs, Heredoc("", ""))
                yield _target(step, held.name), f"<<{held.content}"
            elif available is not None:
                yield from _matched(available, step, source)

    def _available(self, owner: Stage, step: Step) -> Mapping[str, str] | None:
        """Return the files that a ``COPY`` selects from; None for those of another image."""
        source = step.instruction.flag("from")
        if source is None:
            return {f"/{path}": path for path in self.context}
        stage = self.build.find(source, owner)
        return None if stage is None else self.contents(stage)

    def _makes(self, step: Step, path: str) -> bool:
        ran = commands(step.instruction)
        if any(
            _runs(words, one.by) and path in _near(step, one.path)
            for one in self.made
            for words in ran
        ):
            return True
        mentioned = _mentioned(step.instruction)
        below = [path.removeprefix(folder) for folder in _near(step, "") if path.startswith(folder)]
        named = [*_with_folders(path), *(name for near in below for name in _with_folders(near))]
        return any(name in mentioned or f"./{name}" in mentioned for name in named)

    def _brought(self, owner: Stage, step: Step, path: str) -> Iterator[tuple[Stage, str]]:
        """Yield the stage and path from which a ``COPY --from`` may have copied a file."""
        source = step.instruction.flag("from") if step.name == "COPY" else None
        stage = self.build.find(source, owner) if source else None
        if stage is not None:
            yield from ((stage, there) for there in _sources(step, path))


def _runs(words: tuple[str, ...], start: str) -> bool:
    return f"{' '.join(words)} ".startswith(f"{start} ")


def _near(step: Step, path: str) -> list[str]:
    """Return what a relative path may mean: below the working folder, or below one that the ``RUN`` changes to."""
    ran = commands(step.instruction)
    folders = [".", *(words[1] for words in ran if words[0] == "cd" and len(words) > 1)]
    return [absolute(step.before.workdir, one).rstrip("/") + f"/{path}" for one in folders]


@lru_cache(maxsize=1024)
def _mentioned(one: Instruction) -> frozenset[str]:
    """Return the words of a ``RUN`` that may name files it makes, without those of ``ls``, ``rm`` and the like."""
    found: set[str] = set()
    for words in commands(one):
        if words[0] not in _IDLE or {">", ">>"} & set(words):
            found.update(part for word in words for part in word.lstrip(">").split("="))
    return frozenset(found)


def _with_folders(path: str) -> list[str]:
    """Return a path and the folders above it, without the root."""
    found = []
    while path.strip("/"):
        found.append(path)
        path = posixpath.dirname(path)
    return found


def _destination(step: Step) -> str:
    return absolute(step.before.workdir, step.words[-1])


def _into_folder(step: Step) -> bool:
    last = step.words[-1]
    return len(step.words) > 2 or last.endswith("/") or posixpath.basename(last) in ("", ".", "..")


def _target(step: Step, name: str) -> str:
    destination = _destination(step)
    return posixpath.join(destination, name) if _into_folder(step) else destination


def _matched(available: Mapping[str, str], step: Step, source: str) -> Iterator[tuple[str, str]]:
    wanted = absolute("/", source)
    destination = _destination(step)
    for path, origin in available.items():
        if fnmatch.fnmatchcase(path, wanted) and path.count("/") == wanted.count("/"):
            yield _target(step, posixpath.basename(path)), origin
        elif path.startswith(wanted.rstrip("/") + "/"):
            yield posixpath.join(destination, posixpath.relpath(path, wanted)), origin


def _sources(step: Step, path: str) -> Iterator[str]:
    """Yield the paths in the other stage from which a step would copy a file to this path."""
    destination = _destination(step)
    below = path.removeprefix(destination.rstrip("/") + "/") if path != destination else ""
    for source in step.words[:-1]:
        there = absolute("/", source)
        if path == destination and not _into_folder(step):
            yield there
        elif below and below != path:
            yield posixpath.join(there, below)
            if _into_folder(step) and posixpath.basename(there) == below:
                yield there
