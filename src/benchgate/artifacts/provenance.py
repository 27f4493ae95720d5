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
GITHUB: Final = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
STATUS: Final = ("status", "--porcelain", "--untracked-files=normal", "--", ".")
BYTECODE: Final = ":(exclude,glob)**/__pycache__/**"


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
        commit = git(class_path, "rev-parse", "HEAD") if class_path else None
        dirty = None
        if commit and class_path and (changes := git(class_path, *STATUS, BYTECODE)) is not None:
            # Of a folder that git ignores, nothing is ever changed, and nothing is in the commit.
            dirty = bool(changes) or git(class_path, "rev-parse", "HEAD:./") is None
        server, repository, run = map(os.environ.get, GITHUB)
        job = f"{server}/{repository}/actions/runs/{run}" if run else first_of(JOBS)
        return cls(
            commit=commit,
            dirty=dirty,
            job=job,
            actor=first_of(ACTORS),
            system_source=_digest_of(source),
        )


def git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints about a folder; ``None`` if it fails, takes over 2 s, or is not installed."""
    # A monitor is a program that the repository names, and a lock would be in the way of others.
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", *arguments]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no argument is foreign
            command, cwd=folder, stdin=nothing, stdout=pipe, stderr=nothing, timeout=2, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip()


def first_of(names: tuple[str, ...]) -> str | None:
    """Return the first of some environment variables that is there and not empty."""
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _digest_of(source: Path | None) -> str | None:
    try:
        return file_sha256(source, limit=MAX_SOURCE_BYTES) if source else None
    except Unreadable:
        return None
