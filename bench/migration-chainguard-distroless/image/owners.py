"""Who owns the folders of a build stage, and which commands write into one that is not their user's."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from .config import absolute, initial
from .files import SYSTEM_FOLDERS, folders_made, with_folders
from .rights import uid
from .run_steps import ran
from .runtime import is_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .run_steps import Ran
    from .stages import Stage, Step

WRITERS: Final = (
    ("npm", "ci"), ("npm", "install"), ("yarn",), ("pnpm",), ("mvn",), ("gradle",), ("cargo", "build"),
    ("dotnet", "publish"), ("dotnet", "build"), ("composer", "install"), ("bundle", "install"), ("uv", "sync"),
)  # fmt: skip
"""Commands that write into the folder in which they start."""

MAKERS: Final = (
    ("python", "-m", "venv"),
    ("python3", "-m", "venv"),
    ("virtualenv",),
    ("uv", "venv"),
)
"""Commands that make the folder which they name last."""

_UNKNOWN: Final = -1
_EVERYBODYS: Final = frozenset({"/tmp", "/home/nonroot"})  # noqa: S108


def not_writable(stage: Stage) -> Iterator[str]:
    """
    Yield the commands of a stage that write into a folder of somebody else's, as a user who is not root.

    BuildKit gives a folder that it makes for ``WORKDIR`` to the user in effect, and one that it makes for a copy to
    the owner of the files; who made it first owns it, whatever comes later (seen with BuildKit of Docker 26.1).
    """
    if stage.facts is None:
        return
    given = initial(stage.root_base).workdir
    owners = dict.fromkeys((*_EVERYBODYS, given), _UNKNOWN)
    for step in stage.all_steps:
        if step.name == "RUN":
            for one in ran(step):
                if not is_root(step.before.user):
                    yield from _refused(one, uid(step.before.user), owners)
                if one.words[0] in ("chown", "chmod"):
                    _give_away(one, owners)
        for folder, owner in _folders_of(step):
            owners.setdefault(folder, owner)


def _folders_of(step: Step) -> Iterator[tuple[str, int]]:
    """Yield the folders that a step needs, and whose they are if it makes them."""
    target = absolute(step.before.workdir, step.words[-1]) if step.words else ""
    if step.name == "WORKDIR":
        yield from ((folder, uid(step.before.user)) for folder in with_folders(target))
    elif step.name == "RUN":
        yield from ((folder, uid(step.before.user)) for folder in folders_made(step))
    elif step.name in ("COPY", "ADD"):
        # Of a copy to a file's name this names a folder too many, which nothing starts in.
        chown = step.instruction.flag("chown") or "0"
        yield from ((folder, uid(chown)) for folder in with_folders(target.rstrip("/")))


def _refused(one: Ran, user: int, owners: dict[str, int]) -> Iterator[str]:
    if any(one.words[: len(words)] == words for words in WRITERS):
        if owners.get(one.folder, _UNKNOWN) not in (_UNKNOWN, user):
            yield f"{one.words[0]} may not write to {one.folder}"
    elif any(one.words[: len(words)] == words for words in MAKERS):
        path = absolute(one.folder, one.words[-1])
        folder = path if path in owners else posixpath.dirname(path)
        roots = 0 if folder in SYSTEM_FOLDERS else _UNKNOWN
        if owners.get(folder, roots) not in (_UNKNOWN, user):
            yield f"{one.words[0]} may not write to {folder}"


def _give_away(one: Ran, owners: dict[str, int]) -> None:
    """Forget whose the folders are that a ``chown`` or ``chmod`` names, and those below them."""
    for word in one.words[1:]:
        name = absolute(one.folder, word)
        for folder in owners:
            if folder == name or folder.startswith(f"{name}/"):
                owners[folder] = _UNKNOWN
