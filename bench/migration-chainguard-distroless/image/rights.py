"""Rights on files: whether the user of a container may read and start them."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from .config import absolute
from .run_steps import ran
from .runtime import is_number, is_root, user_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .files import Files
    from .stages import Stage, Step

CONTEXT_MODE: Final = 0o644
"""Rights of a file of the build context; an answer has texts only, and no text makes its file executable."""

READ: Final = 4
EXECUTE: Final = 1
NOBODY: Final = 65532

_OCTAL: Final = re.compile(r"[0-7]{3,4}")
_ADDS_EXECUTE: Final = re.compile(
    r"(?:[ugoa]*[+=][rwst]*x[rwxst]*|[0-7]?[1357]{3}|[0-7]?7[0-7]5|[0-7]?[0-7]{2}[1357])"
)


def refusals(stage: Stage, files: Files, paths: tuple[str, ...]) -> Iterator[str]:
    """Yield which files the final user may not read, and why the program that is started may not be executed."""
    if is_root(stage.config.user):
        return
    for path in paths:
        if not _granted(stage, files, path, READ):
            yield f"may not read {path}"
    program = stage.config.argv[0] if stage.config.argv else ""
    path = absolute(stage.config.workdir, program)
    if "/" in program and not _granted(stage, files, path, EXECUTE):
        yield f"may not execute {path}"


def _granted(stage: Stage, files: Files, path: str, right: int) -> bool:
    found = _mode(stage, files, path)
    if found is None:
        return True
    mode, owner, group = found
    if _adds_execute(stage, path):
        return True
    user = uid(stage.config.user)
    if user == owner:
        return bool(mode >> 6 & right)
    return bool((mode >> 3 if _gid(stage.config.user) == group else mode) & right)


def _mode(stage: Stage, files: Files, path: str) -> tuple[int, int, int] | None:
    """Return mode, owner and group of a file that was copied; None if they are unknown."""
    for owner in reversed(stage.lineage):
        for step in reversed(owner.steps):
            if step.name in ("COPY", "ADD") and files.lands(owner, step, path):
                return _of_copy(owner, step, files, path)
    return None


def _of_copy(owner: Stage, step: Step, files: Files, path: str) -> tuple[int, int, int] | None:
    chmod, chown = step.instruction.flag("chmod"), step.instruction.flag("chown") or "0:0"
    user, _, group = chown.partition(":")
    ids = (uid(user), uid(group or user))
    if chmod:
        return (int(chmod, 8) & 0o777, *ids) if _OCTAL.fullmatch(chmod) else None
    source = files.source_of(owner, step, path)
    if source is None:
        return (CONTEXT_MODE, *ids) if step.instruction.flag("from") is None else None
    there, name = source
    if _adds_execute(there, name):
        return None
    found = _mode(there, files, name)
    return (found[0], *ids) if found else None


def _adds_execute(stage: Stage, path: str) -> bool:
    """Return whether a ``chmod`` of a stage may have given the right to execute a file."""
    for step in stage.all_steps:
        for one in ran(step) if step.name == "RUN" else ():
            if one.words[0] == "chmod" and any(map(_ADDS_EXECUTE.fullmatch, one.words[1:])):
                named = [absolute(one.folder, word).rstrip("*") for word in one.words[1:]]
                if any(path.startswith(name) for name in named if name != one.folder):
                    return True
            if one.words[0] == "install":
                return True
    return False


def uid(user: str) -> int:
    """Return the number of a user; each of Chainguard's images has one besides root, with the same number."""
    name = user_of(user)
    if is_number(name):
        return int(name)
    return 0 if name in ("", "root") else NOBODY


def _gid(user: str) -> int:
    _, _, group = user.partition(":")
    if group:
        return uid(group)
    # A number without an entry in the image is in group 0.
    return uid(user) if uid(user) == NOBODY else 0


def programs_with_setuid(stage: Stage) -> Iterator[str]:
    """Yield what gives a program of a stage the rights of its owner."""
    for step in stage.all_steps:
        mode = step.instruction.flag("chmod") if step.name in ("COPY", "ADD") else None
        if mode and re.fullmatch(r"[4-7][0-7]{3}|[ugoa]*\+[rwxt]*s[rwxt]*", mode):
            yield posixpath.basename(step.words[-1])
        for one in ran(step) if step.name == "RUN" else ():
            modes = [
                word
                for word in one.words[1:]
                if not word.startswith("-") or one.words[0] == "install"
            ]
            if one.words[0] == "chmod" and any(
                re.fullmatch(r"0?[2-7][0-7]{3}|[ugoa]*[+=][rwxt]*s[rwxst]*", mode) for mode in modes
            ):
                yield one.words[-1]
            if one.words[0] == "install" and re.search(
                r"-m\s*0?[4-7][0-7]{3}|--mode=0?[4-7][0-7]{3}", one.text
            ):
                yield one.words[-1]
