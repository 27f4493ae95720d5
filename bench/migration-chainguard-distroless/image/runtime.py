"""The running container: its command, its user, and whether Python finds its packages."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from .config import absolute
from .run_steps import step_commands, users_made

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .files import Files
    from .stages import Stage

PROGRAM_FOLDERS: Final = frozenset(
    {"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
)
_ROOT: Final = ("", "root")


def user_of(text: str) -> str:
    """Return the user of a ``USER`` value, without the group."""
    return text.partition(":")[0]


def is_number(name: str) -> bool:
    """Return whether a user is given by number; a number needs no entry in the image."""
    return name.isascii() and name.isdigit()


def is_root(text: str) -> bool:
    """Return whether a ``USER`` value is root; without a name it is."""
    name = user_of(text)
    return name in _ROOT or not name.strip("0")


def user_exists(stage: Stage) -> bool:
    """Return whether the user of a stage exists; a number always does."""
    name = user_of(stage.config.user)
    known = stage.facts.users if stage.facts else ()
    return is_number(name) or name in ("root", *known) or name in users_made(stage)


def starts(stage: Stage, files: Files, wanted: Iterable[Sequence[str]]) -> bool:
    """
    Return whether a container starts one of the wanted commands.

    :param wanted: word lists. A program without a slash may be given by its path; a path may be given relative to the
        working folder.
    """
    return any(_same(stage, files, stage.config.argv, words) for words in wanted)


def _same(stage: Stage, files: Files, argv: Sequence[str], words: Sequence[str]) -> bool:
    if len(argv) != len(words) or not argv or not _same_program(stage, files, argv[0], words[0]):
        return False
    return all(map(_SameWord(stage.config.workdir), argv[1:], words[1:]))


class _SameWord:
    def __init__(self, workdir: str) -> None:
        self.workdir = workdir

    def __call__(self, given: str, wanted: str) -> bool:
        if given == wanted:
            return True
        return wanted.startswith("/") and absolute(self.workdir, given) == wanted


def _same_program(stage: Stage, files: Files, given: str, wanted: str) -> bool:
    if "/" in wanted:
        return "/" in given and _SameWord(stage.config.workdir)(given, wanted)
    folder, name = posixpath.split(given)
    if name != wanted:
        return False
    # Such as a program of a virtual environment that was copied.
    return not folder or folder in PROGRAM_FOLDERS or files.has(stage, given)


def sees_python_packages(stage: Stage, files: Files) -> bool:
    """Return whether the interpreter that is started finds what pip installed."""
    return any(_seen(stage, files))


def _seen(stage: Stage, files: Files) -> Iterator[bool]:
    config = stage.config
    program = config.argv[0] if config.argv else ""
    paths = config.env.get("PATH", "").split(":")
    for folder in _environments(files):
        if files.has(stage, f"{folder}/bin/python"):
            yield program.startswith(f"{folder}/bin/")
            yield "/" not in program and f"{folder}/bin" in paths
    for folder in config.env.get("PYTHONPATH", "").split(":"):
        yield folder.startswith("/") and _pip_copies(stage, files, folder)
    yield _pip_copies(stage, files, "/home/nonroot/.local")
    yield any("site-packages" in target for target in _pip_targets(stage, files))
    yield any(_is_pip(words) for _, words in step_commands(stage))


def _environments(files: Files) -> Iterator[str]:
    """Yield the folders of virtual environments, wherever they were made."""
    for stage in files.build.built:
        for step, words in step_commands(stage):
            if words[1:3] == ("-m", "venv") or words[0] == "virtualenv":
                yield absolute(step.before.workdir, words[-1])


def _is_pip(words: Sequence[str]) -> bool:
    text = " ".join(words)
    return bool(re.match(r"(?:python3? -m )?pip3? install\b", text))


def _pip_targets(stage: Stage, files: Files) -> Iterator[str]:
    """Yield where a stage puts what it copies from stages that ran pip."""
    for owner in stage.lineage:
        for step in owner.steps:
            source = step.instruction.flag("from") if step.name == "COPY" else None
            other = files.build.find(source, owner) if source else None
            if other and any(_is_pip(words) for _, words in step_commands(other)):
                yield absolute(step.before.workdir, step.words[-1])


def _pip_copies(stage: Stage, files: Files, folder: str) -> bool:
    return any(
        folder == target or folder.startswith(f"{target}/") for target in _pip_targets(stage, files)
    )
