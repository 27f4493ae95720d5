"""Who makes a record, and of which code, as far as git and the environment say."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

ACTORS: Final = ("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILDKITE_BUILD_CREATOR", "BENCHGATE_ACTOR")
"""Variables that name who started a job, or who is at work; the first that is set counts."""


def actor() -> str | None:
    """Return who is at work, as the environment says."""
    return next((os.environ[name] for name in ACTORS if os.environ.get(name)), None)


def git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints about a folder; ``None`` if it fails, takes over 2 s, or is not installed."""
    # A monitor is a program that the repository names, and a lock would be in the way of others.
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no argument is foreign
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=2,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip()
