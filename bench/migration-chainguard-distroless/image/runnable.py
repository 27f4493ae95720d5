"""Checks that commands can run, at build and at run time: their shell, package manager and rights are there."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.shell import (
    FOREIGN_TOOLS,
    ROOT_TOOLS,
    SHADOW_TOOLS,
    commands,
    packages_added,
)

from .base_images import EMPTY
from .config import absolute
from .run_steps import installed
from .runtime import is_root
from .stages import SCRATCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .base_images import Facts
    from .config import Command
    from .files import Files
    from .stages import Build, Stage, Step

SHELL_PROGRAMS: Final = {
    "busybox": ("ash", "busybox", "sh"),
    "bash": ("bash",),
    "bash-binsh": ("sh",),
    "dash": ("dash",),
    "dash-binsh": ("sh",),
    "zsh": ("zsh",),
}
"""The shells that a package provides."""

_PROGRAMS: Final = frozenset(name for names in SHELL_PROGRAMS.values() for name in names)
_FETCHERS: Final = {"curl": ("curl",), "wget": ("wget", "busybox")}
_INTERPRETERS: Final = ("node", "php", "python", "python3", "ruby")
_SCRIPT: Final = re.compile(r"\.(?:[cm]?js|php|py|rb)$")
OWN_FOLDER: Final = re.compile(
    r"/(?:app|build|deps|dist|out|output|src|srv|usr/src|work|workspace)(?:/.*)?"
)
"""Folders that no base image fills: what nobody puts there is not there."""

_FOLDERS: Final = frozenset({"/", "/bin", "/usr", "/usr/bin", "/sbin", "/usr/sbin"})
_SHEBANG: Final = re.compile(r"#!\s*(?:\S*/env\s+)?(\S+)")


def known(stage: Stage) -> Facts | None:
    """Return the facts about a stage's base image; None for one of others, assumed to have everything."""
    return EMPTY if stage.root_base == SCRATCH else stage.facts


def shells_copied(stage: Stage, build: Build) -> frozenset[str]:
    """Return the shells that ``COPY`` or ``ADD`` put into a stage, from an image, a stage or the context."""
    return frozenset(_all_copied(stage, build, set()))


def programs(stage: Stage, build: Build) -> frozenset[str]:
    """Return the shells in a stage; ``sh`` for an image that nothing is known about."""
    return frozenset(_programs_of(stage, build, set()))


def _programs_of(stage: Stage, build: Build, asked: set[int]) -> set[str]:
    if stage.index in asked:
        return set()
    asked.add(stage.index)
    facts = known(stage)
    if facts is None:
        return {"sh"}
    return _shells({*facts.shells, *installed(stage)}) | _all_copied(stage, build, asked)


def _all_copied(stage: Stage, build: Build, asked: set[int]) -> set[str]:
    found: set[str] = set()
    for owner in stage.lineage:
        for step in owner.steps:
            if step.name in ("COPY", "ADD"):
                found |= _named(step)
                found |= _with_folders(owner, step, build, asked)
    return found


def _named(step: Step) -> set[str]:
    """Return the shells that a step names: as its target, or as a source, which may have wildcards."""
    target = posixpath.basename(step.words[-1].rstrip("/"))
    sources = [posixpath.basename(word.rstrip("/")) for word in step.words[:-1]]
    return {
        name
        for name in _PROGRAMS
        if name == target or any(fnmatch.fnmatchcase(name, source) for source in sources)
    }


def _with_folders(owner: Stage, step: Step, build: Build, asked: set[int]) -> set[str]:
    """Return the shells in the folders that a step copies whole."""
    source = step.instruction.flag("from")
    folders = {absolute("/", word) for word in step.words[:-1]}
    if source is None or not folders & _FOLDERS:
        return set()
    other = build.find(source, owner)
    return {"sh"} if other is None else _programs_of(other, build, asked)


def _shells(packages: Iterable[str]) -> set[str]:
    return {name for package in packages for name in SHELL_PROGRAMS.get(package, ())}


def build_problems(build: Build) -> list[str]:
    """Return why commands fail while the image is built."""
    return [problem for stage in build.built for problem in _stage_problems(stage, build)]


def _stage_problems(stage: Stage, build: Build) -> Iterator[str]:
    facts = known(stage)
    if facts is None:
        return
    packages = set(facts.shells) | ({"apk-tools"} if facts.apk else set())
    copied = shells_copied(stage, build)
    for step in stage.all_steps:
        if step.name == "RUN":
            yield from _step_problems(step, packages, copied)


def _step_problems(step: Step, packages: set[str], copied: frozenset[str]) -> Iterator[str]:
    shell = posixpath.basename(step.before.shell[0])
    if not step.instruction.json and shell not in _shells(packages) | copied:
        yield f"no {shell}"
    for words in commands(step.instruction):
        yield from _tool_problems(words, packages, root=is_root(step.before.user))
        packages.update(packages_added(words))


def _tool_problems(words: Sequence[str], packages: set[str], *, root: bool) -> Iterator[str]:
    tool = words[0]
    if tool in FOREIGN_TOOLS:
        yield f"no {tool}"
    if tool in SHADOW_TOOLS and "shadow" not in packages:
        yield f"no {tool}"
    if tool == "apk" and "apk-tools" not in packages:
        yield "no apk"
    if tool in ROOT_TOOLS and not root:
        yield f"{tool} needs root"


def start_problems(stage: Stage, files: Files) -> list[str]:
    """Return why commands fail in the container: a shell or the interpreter of a script is missing."""
    if known(stage) is None:
        return []
    shells = programs(stage, files.build)
    return [
        problem for one in stage.config.commands for problem in _command(one, stage, files, shells)
    ]


def _command(one: Command, stage: Stage, files: Files, shells: frozenset[str]) -> Iterator[str]:
    for name in _needed(one, stage, files):
        if (name in _PROGRAMS and name not in shells) or (
            name in _FETCHERS and not _fetches(stage, name)
        ):
            yield f"no {name}"
    yield from _script_missing(one, stage, files)


def _needed(one: Command, stage: Stage, files: Files) -> Iterator[str]:
    """Yield the programs that a command needs: its own, that of its shell text, the interpreter of its script."""
    if not one.argv:
        return
    yield posixpath.basename(one.argv[0])
    if one.shell_form:
        yield posixpath.basename((one.argv[-1].split() or [""])[0])
    path = absolute(stage.config.workdir, one.argv[0])
    shebang = _SHEBANG.match(files.text(stage, path) or "")
    if shebang:
        yield posixpath.basename(shebang[1])


def _script_missing(one: Command, stage: Stage, files: Files) -> Iterator[str]:
    """Yield the script that an interpreter is given and that nobody put there."""
    words = one.argv[-1].split() if one.shell_form and one.argv else one.argv
    if not words or posixpath.basename(words[0]) not in _INTERPRETERS:
        return
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    path = absolute(stage.config.workdir, script)
    if _SCRIPT.search(script) and OWN_FOLDER.fullmatch(path) and not files.has(stage, path):
        yield f"no {path}"


def _fetches(stage: Stage, name: str) -> bool:
    facts = known(stage) or EMPTY
    held = {*facts.shells, *facts.holds, *installed(stage)}
    return bool(held & set(_FETCHERS[name]))
