"""Who makes a record, and of which code, as far as git and the environment say."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Final, Self

from benchgate.errors import Unreadable
from benchgate.options.table import ACTOR
from benchgate.wire.files import MAX_SOURCE_BYTES, file_sha256
from benchgate.wire.model import DisplayText, Sha256, WireModel

if TYPE_CHECKING:
    from pathlib import Path

ACTORS: Final = ("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILDKITE_BUILD_CREATOR", ACTOR)
JOBS: Final = ("CI_JOB_URL", "BUILDKITE_BUILD_URL", "BUILD_URL")
"""Variables of CI services that name who started a job, and its address; the first that is there counts."""
GITHUB: Final = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
"""Variables that the address of a job on GitHub is made from, which has none of its own."""
STATUS: Final = ("status", "--porcelain", "--untracked-files=normal", "--", ".")
BYTECODE: Final = ":(exclude,glob)**/__pycache__/**"
"""What Python writes beside the modules that it imports: no change of anybody's."""


class Provenance(WireModel):
    """
    Who made a record, and of which code; ``None`` is what is not known. Nothing is decided by it.

    :param commit: of the checkout that the class is in, when the run began.
    :param dirty: the folder of the class is not as in that commit.
    :param job: address of the CI job.
    :param actor: who started the job, or is at work.
    :param system_source: of a system without a ``digest()``: SHA-256 of the source of the module that it is from, and
        of nothing that this imports.
    """

    commit: DisplayText | None
    dirty: bool | None
    job: DisplayText | None
    actor: DisplayText | None
    system_source: Sha256 | None

    @classmethod
    def here(cls, class_path: Path | None = None, source: Path | None = None) -> Self:
        """
        Return that of this process; without a class, what the environment says alone.

        :param source: of the system.
        """
        commit = None
        dirty = None
        if class_path is not None:
            commit = git(class_path, "rev-parse", "HEAD")
        if class_path is not None and commit:
            dirty = _is_dirty(class_path)
        return cls(
            commit=commit,
            dirty=dirty,
            job=_job(),
            actor=first_of(ACTORS),
            system_source=_digest_of(source),
        )


def _is_dirty(class_path: Path) -> bool | None:
    """Whether the folder of a class is not as in the commit; ``None`` if git does not say."""
    changes = git(class_path, *STATUS, BYTECODE)
    if changes is None:
        return None
    # Of a folder that git ignores, nothing is ever changed, and nothing is in the commit.
    return bool(changes) or git(class_path, "rev-parse", "HEAD:./") is None


def _job() -> str | None:
    server, repository, run = map(os.environ.get, GITHUB)
    if run:
        return f"{server}/{repository}/actions/runs/{run}"
    return first_of(JOBS)


def git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints about a folder; ``None`` if it fails, takes over 2 s, or is not installed."""
    # A monitor is a program that the repository names, and a lock would be in the way of others.
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no argument is foreign
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=2,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip()


def first_of(names: tuple[str, ...]) -> str | None:
    """Return the first of some environment variables that is there and not empty."""
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _digest_of(source: Path | None) -> str | None:
    if source is None:
        return None
    try:
        return file_sha256(source, limit=MAX_SOURCE_BYTES)
    except Unreadable:
        return None
