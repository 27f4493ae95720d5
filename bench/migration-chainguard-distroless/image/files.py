"""Where files end up: what ``COPY`` and ``ADD`` put into a stage, followed from stage to stage."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Heredoc, Refused
from _benchgate_bench.migration_chainguard_distroless.dockerfile.shell import commands

from .config import absolute, initial
from .run_steps import ran

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Instruction

    from .stages import Build, Stage, Step

_IDLE: Final = frozenset(
    {"[", "cat", "echo", "ls", "mkdir", "printf", "rm", "stat", "test", "touch"}
)

SYSTEM_FOLDERS: Final = frozenset(  # of an image, not of this machine
    {"/", "/bin", "/etc", "/home", "/lib", "/opt", "/root", "/sbin", "/tmp", "/usr", "/usr/bin", "/usr/lib",  # noqa: S108
     "/usr/local", "/usr/local/bin", "/usr/sbin", "/usr/share", "/var", "/var/lib"}
)  # fmt: skip
"""Folders that every image but ``scratch`` has."""

_MADE_FOLDERS: Final = frozenset({"node_modules", "site-packages", "vendor", "venv", ".venv"})
_WILD: Final = re.compile(r"[*?\[]")

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


@dataclass(slots=True)
class Held:
    """
    What a stage has at one of its steps.

    :param files: path in the image to path in the context.
    :param folders: the folders that are known to exist.
    :param into: by the identity of a ``COPY``, whether its target is a folder by then.
    :param before: by the identity of a ``RUN``, the files and folders when it begins.
    """

    files: dict[str, str]
    folders: set[str]
    into: dict[int, bool]
    before: dict[int, tuple[dict[str, str], frozenset[str]]] = field(default_factory=dict)


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
    _contents: dict[int, Held] = field(default_factory=dict, repr=False)

    def contents(self, stage: Stage) -> Mapping[str, str]:
        """
        Return the files copied into a stage: path in the image to path in the context.

        A here-document has no path in the context; its value is ``<<`` and its text.

        :raises Refused: more than :data:`MAX_FILES` files.
        """
        return self._held(stage).files

    def folders(self, stage: Stage) -> frozenset[str]:
        """Return the folders that a stage is known to have."""
        return frozenset(self._held(stage).folders)

    def before(self, stage: Stage, step: Step) -> tuple[Mapping[str, str], frozenset[str]]:
        """Return the files and folders that a stage has when a ``RUN`` of its own begins."""
        return self._held(stage).before[id(step)]

    def lands(self, owner: Stage, step: Step, path: str) -> bool:
        """Return whether a copy puts a file at a path."""
        into = self._held(owner).into[id(step)]
        if path in dict(self._landed(owner, step, into=into)):
            return True
        if step.instruction.flag("from") and path in _named(step, into=into):
            return True
        source = self.source_of(owner, step, path)
        return source is not None

    def source_of(self, owner: Stage, step: Step, path: str) -> tuple[Stage, str] | None:
        """Return the stage and path that a copy takes a file from, None if it is no stage of the build."""
        return next((found for found in self._brought(owner, step, path) if self.has(*found)), None)

    def _held(self, stage: Stage) -> Held:
        if stage.index not in self._contents:
            held = self._begun(stage)
            for step in stage.steps:
                self._take(held, stage, step)
            self._contents[stage.index] = held
        return self._contents[stage.index]

    def _begun(self, stage: Stage) -> Held:
        if stage.parent is None:
            return Held({}, {*SYSTEM_FOLDERS, *with_folders(initial(stage.base).workdir)}, {})
        above = self._held(stage.parent)
        return Held(dict(above.files), set(above.folders), dict(above.into))

    def _take(self, held: Held, stage: Stage, step: Step) -> None:
        if step.name == "WORKDIR":
            held.folders.update(with_folders(absolute(step.before.workdir, step.words[0])))
        elif step.name == "RUN":
            held.before[id(step)] = dict(held.files), frozenset(held.folders)
            held.folders.update(folders_made(step))
        elif step.name in ("COPY", "ADD"):
            held.into[id(step)] = _into_folder(step, held.folders)
            landed = dict(self._landed(stage, step, into=held.into[id(step)]))
            held.files.update(landed)
            held.folders.update(
                folder for path in landed for folder in with_folders(posixpath.dirname(path))
            )
            if step.words[-1].endswith("/"):
                held.folders.update(with_folders(_destination(step)))
        if len(held.files) > MAX_FILES:
            raise Refused("dockerfile_unparsable")

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

    def _landed(self, owner: Stage, step: Step, *, into: bool) -> Iterator[tuple[str, str]]:
        available = self._available(owner, step)
        heredocs = iter(step.instruction.heredocs)
        for source in step.words[:-1]:
            if source.startswith("<<"):
                held = next(heredocs, Heredoc("", ""))
                yield _target(step, held.name, into=into), f"<<{held.content}"
            elif available is not None:
                yield from _matched(available, step, source, into=into)

    def _available(self, owner: Stage, step: Step) -> Mapping[str, str] | None:
        """Return the files that a ``COPY`` selects from; None for those of another image."""
        source = step.instruction.flag("from")
        if source is None:
            return {f"/{path}": path for path in self.context}
        stage = self.build.find(source, owner)
        return None if stage is None else self.contents(stage)

    def _makes(self, step: Step, path: str) -> bool:
        if any(path.startswith(f"{folder}/") for folder in _mounted(step)):
            return False
        ran = commands(step.instruction)
        if any(
            _runs(words, one.by) and path in _near(step, one.path)
            for one in self.made
            for words in ran
        ):
            return True
        mentioned = _mentioned(step.instruction)
        below = [path.removeprefix(folder) for folder in _near(step, "") if path.startswith(folder)]
        named = [*with_folders(path), *(name for near in below for name in with_folders(near))]
        return any(name in mentioned or f"./{name}" in mentioned for name in named)

    def _brought(self, owner: Stage, step: Step, path: str) -> Iterator[tuple[Stage, str]]:
        """Yield the stage and path from which a ``COPY --from`` may have copied a file."""
        source = step.instruction.flag("from") if step.name == "COPY" else None
        stage = self.build.find(source, owner) if source else None
        if stage is not None:
            into = self._held(owner).into[id(step)]
            yield from ((stage, one) for one in self._sources(stage, step, path, into=into))

    def _sources(self, stage: Stage, step: Step, path: str, *, into: bool) -> Iterator[str]:
        """Yield the paths in the other stage from which a step would copy a file to this path."""
        destination = _destination(step)
        inside = destination.rstrip("/") + "/"
        below = path.removeprefix(inside) if path.startswith(inside) else ""
        for word in step.words[:-1]:
            for source in self._meant(stage, absolute("/", word)):
                if path == destination and not into:
                    yield source
                elif below:
                    yield posixpath.join(source, below)
                    # Of a folder the content is copied, not the folder itself.
                    if (
                        into
                        and posixpath.basename(source) == below
                        and not self._is_folder(stage, source)
                    ):
                        yield source

    def _meant(self, stage: Stage, source: str) -> list[str]:
        """Return the paths that a source with wildcards means, among those that tools make in the stage."""
        if not _WILD.search(source):
            return [source]
        runs = (step for step in stage.all_steps if step.name == "RUN")
        made = {near for step in runs for one in self.made for near in _near(step, one.path)}
        return [path for path in sorted(made) if _matches(path, source)]

    def _is_folder(self, stage: Stage, path: str) -> bool:
        return posixpath.basename(path) in _MADE_FOLDERS or path in self.folders(stage)


def _named(step: Step, *, into: bool) -> list[str]:
    """Return the paths to which a step copies its sources, if they are files."""
    return [_target(step, posixpath.basename(word), into=into) for word in step.words[:-1]]


def _mounted(step: Step) -> Iterator[str]:
    """Yield the folders of a ``RUN`` that are mounted: what is written there is in no layer."""
    for flag in step.instruction.flags:
        if flag.startswith("--mount="):
            parts = dict(
                part.partition("=")[::2] for part in flag.removeprefix("--mount=").split(",")
            )
            named = next(
                (parts[key] for key in ("target", "dst", "destination") if key in parts), ""
            )
            if named:
                yield absolute(step.before.workdir, named).rstrip("/")


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
            parts = (part for word in words for part in word.lstrip(">").split("="))
            found.update(part.rstrip("/") or part for part in parts)
    return frozenset(found)


def with_folders(path: str) -> list[str]:
    """Return a path and the folders above it, without the root."""
    found = []
    while path.strip("/"):
        found.append(path)
        path = posixpath.dirname(path)
    return found


def _destination(step: Step) -> str:
    return absolute(step.before.workdir, step.words[-1])


def _into_folder(step: Step, folders: Container[str]) -> bool:
    last = step.words[-1]
    named = len(step.words) > 2 or last.endswith("/") or posixpath.basename(last) in ("", ".", "..")
    return named or _destination(step) in folders


def _target(step: Step, name: str, *, into: bool) -> str:
    destination = _destination(step)
    return posixpath.join(destination, name) if into else destination


def _matches(path: str, wanted: str) -> bool:
    return fnmatch.fnmatchcase(path, wanted) and path.count("/") == wanted.count("/")


def _matched(
    available: Mapping[str, str], step: Step, source: str, *, into: bool
) -> Iterator[tuple[str, str]]:
    wanted = absolute("/", source)
    destination = _destination(step)
    for path, origin in available.items():
        if _matches(path, wanted):
            yield _target(step, posixpath.basename(path), into=into), origin
        elif path.startswith(wanted.rstrip("/") + "/"):
            yield posixpath.join(destination, posixpath.relpath(path, wanted)), origin


def folders_made(step: Step) -> Iterator[str]:
    """Yield the folders that ``mkdir`` and ``install -d`` in a ``RUN`` make."""
    for one in ran(step):
        if one.words[0] == "mkdir" or one.words[:2] == ("install", "-d"):
            for word in one.words[1:]:
                if not word.startswith("-"):
                    yield from with_folders(absolute(one.folder, word))
