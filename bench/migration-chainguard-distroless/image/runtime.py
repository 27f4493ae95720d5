"""The running container: its command and its user."""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING, Final

from .config import absolute
from .run_steps import users_made

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .files import Files
    from .stages import Stage

PROGRAM_FOLDERS: Final = frozenset(
    {"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
)
MAX_UID: Final = 2**31 - 1
"""The highest number that a container runtime takes for a user."""

_ROOT: Final = ("", "root")
_SHELL_WORDS: Final = 3
_SHELLS: Final = ("ash", "bash", "dash", "sh")
_MARKS: Final = re.compile(r"[;&|<>()`$*?\n\\]")
_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")


def user_of(text: str) -> str:
    """Return the user of a ``USER`` value, without the group."""
    return text.partition(":")[0]


def is_number(name: str) -> bool:
    """Return whether a user is given by number; a number needs no entry in the image."""
    return bool(_NUMBER.fullmatch(name))


def is_root(text: str) -> bool:
    """Return whether a ``USER`` value is root; without a name it is."""
    name = user_of(text)
    return name in _ROOT or (is_number(name) and not name.lstrip("+-").strip("0"))


def user_exists(stage: Stage) -> bool:
    """Return whether the user of a stage exists; a number does if it is not too high."""
    name = user_of(stage.config.user)
    known = stage.facts.users if stage.facts else ()
    if is_number(name):
        return len(name) <= len(str(MAX_UID)) + 1 and 0 <= int(name) <= MAX_UID
    return name in ("root", *known) or name in users_made(stage)


def starts(
    stage: Stage,
    files: Files,
    wanted: Iterable[Sequence[str]],
    folders: frozenset[str] = frozenset(),
) -> bool:
    """
    Return whether a container starts one of the wanted commands.

    :param folders: further folders that hold programs.
    :param wanted: word lists. A program without a slash may be given by its path; a path may be given relative to the
        working folder.
    """
    started = stage.config.argv
    return any(
        _same(stage, files, argv, words, folders)
        for words in wanted
        for argv in _meant(stage, started)
    )


def _meant(stage: Stage, argv: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return a command, and if it is a shell's whose text is one simple command, that one as well."""
    if len(argv) != _SHELL_WORDS or posixpath.basename(argv[0]) not in _SHELLS or argv[1] != "-c":
        return (argv,)
    text = _VARIABLE.sub(lambda found: stage.config.env.get(found[1] or found[2], ""), argv[2])
    if _MARKS.search(text):
        return (argv,)
    try:
        words = shlex.split(text)
    except ValueError:
        return (argv,)
    return argv, tuple(words[1:] if words[:1] == ["exec"] else words)


def _same(
    stage: Stage, files: Files, argv: Sequence[str], words: Sequence[str], folders: frozenset[str]
) -> bool:
    if len(argv) != len(words) or not argv:
        return False
    if not _same_program(stage, files, argv[0], words[0], folders):
        return False
    return all(map(_SameWord(stage.config.workdir), argv[1:], words[1:]))


class _SameWord:
    def __init__(self, workdir: str) -> None:
        self.workdir = workdir

    def __call__(self, given: str, wanted: str) -> bool:
        if given == wanted:
            return True
        return wanted.startswith("/") and absolute(self.workdir, given) == wanted


def _same_program(
    stage: Stage, files: Files, given: str, wanted: str, folders: frozenset[str]
) -> bool:
    if "/" in wanted:
        return "/" in given and _SameWord(stage.config.workdir)(given, wanted)
    folder, name = posixpath.split(given)
    if name != wanted:
        return False
    # Such as a program of a virtual environment that was copied.
    return (
        not folder
        or folder in PROGRAM_FOLDERS
        or absolute(stage.config.workdir, folder) in folders
        or files.has(stage, absolute(stage.config.workdir, given))
    )
