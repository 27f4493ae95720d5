"""Installs a project from its lock and runs its tests, without a network and apart from the user's own settings."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

PATIENCE: Final = 60
"""Seconds for the install, and as many for the tests."""

INSTALL: Final = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
APART: Final = ("unshare", "--user", "--map-current-user", "--net")
"""What starts the tests without a network: they are code of the answer."""

UNDONE: Final = 124
"""The exit code of what was not done in its time."""

MOST: Final = 4
"""Names of failed tests that an observation keeps."""

_TEST: Final = re.compile(r"(?m)^test\(\s*'(.+?)',")
_PASSED: Final = re.compile(r"(?m)^ *ok \d+ - (.+?) *$")
_CODE: Final = re.compile(r"(?m)^npm error code (\S+)")
_UNREACHED: Final = frozenset(
    {"EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENOTCACHED", "ENOTFOUND", "ETIMEDOUT", "ENETUNREACH"}
)  # fmt: skip
"""What npm says if it cannot get at a package, which is nothing that the answer did."""


class Unavailable(RuntimeError):
    """Nobody ran the tests, so nothing is known of the answer."""

    def __init__(self, why: str) -> None:
        super().__init__(f"not tested: {why}")


@dataclass(frozen=True)
class Runner:
    """
    An installation of npm with a cache of packages.

    :param npm: the command.
    :param cache: npm's cache; what it lacks is fetched from the registry, if that can be reached.
    """

    npm: Path
    cache: Path

    @classmethod
    def find(cls, cache: Path) -> Runner:
        """
        Return the npm beside this Python, else the one on the path.

        :raises Unavailable: tests cannot be run here.
        """
        beside = shutil.which("npm", path=str(Path(sys.executable).parent))
        found = beside or shutil.which("npm")
        if found is None:
            raise Unavailable("npm is not installed")
        if not _can_be_apart():
            raise Unavailable(f"nothing here starts without a network ({' '.join(APART)})")
        return cls(Path(found), cache)

    def test(self, files: Mapping[str, str], tests: Collection[str]) -> dict[str, Any]:
        """
        Install the project and run its tests; return whether both worked, and what failed.

        :param files: the project.
        :param tests: those of its files that are tests, written with ``node:test``.
        :raises Unavailable: a package could not be had.
        """
        with tempfile.TemporaryDirectory(prefix="npm-test-") as made:
            home, project = Path(made, "home"), Path(made, "project")
            home.mkdir()
            for path, text in files.items():
                (project / path).parent.mkdir(parents=True, exist_ok=True)
                (project / path).write_text(text, encoding="utf-8", newline="")
            # npm itself runs as its user has set it up: a registry may lie behind a proxy, or be a mirror.
            code, said = _run(
                [str(self.npm), *INSTALL, f"--cache={self.cache}"], project, {**os.environ}
            )
            if code:
                found = _CODE.search(said)
                error = found[1] if found else "no code"
                if error in _UNREACHED or code == UNDONE:
                    raise Unavailable(f"npm ci could not get a package ({error})")
                return {"passed": False, "error": f"npm ci: {error}"}
            code, said = _run([*APART, str(self.npm), "test"], project, self._bare(home))
        # Code that ends the process before its tests have run exits with 0 as well.
        names = {name for path in files if path in tests for name in _TEST.findall(files[path])}
        failed = sorted(names - {*_PASSED.findall(said)})
        if code == 0 and not failed:
            return {"passed": True}
        return {"passed": False, "error": "npm test", "failed": failed[:MOST]}

    def _bare(self, home: Path) -> dict[str, str]:
        """Return the environment of the tests: nothing of the user's is in it."""
        return {
            "PATH": os.pathsep.join([str(self.npm.parent), os.environ.get("PATH", os.defpath)]),
            "HOME": str(home),
            "NODE_OPTIONS": "--test-reporter=tap",
            "npm_config_update_notifier": "false",
        }


def _can_be_apart() -> bool:
    if shutil.which(APART[0]) is None:
        return False
    return subprocess.run([*APART, "true"], check=False, capture_output=True).returncode == 0


def _run(words: Sequence[str], folder: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """Run a command, and end all that it started; return its exit code and what it said."""
    with subprocess.Popen(
        words, cwd=folder, env=env, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return UNDONE, ""
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, said
