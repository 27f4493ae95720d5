"""Runs npm on a project, isolated from the machine: no user configuration, an empty cache, only the given registry."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from _benchgate_bench.vuln_remediation.project import LOCK, MANIFEST

if TYPE_CHECKING:
    from collections.abc import Mapping

FLAGS: Final = (
    "--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved", "--lockfile-version=3", "--no-fund",
    "--no-update-notifier", "--no-progress", "--fetch-retries=0",
)  # fmt: skip
TIMEOUT: Final = 120


@dataclass(frozen=True)
class NpmRun:
    """
    What npm did.

    :param files: ``package.json`` and ``package-lock.json`` afterwards, and the manifests of workspaces that changed.
    """

    exit_code: int
    stdout: str
    stderr: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class Npm:
    """
    One installation of npm.

    :param path: the command.
    """

    path: Path

    @classmethod
    def find(cls) -> Npm | None:
        """Return the npm beside this Python (a wheel can bring one), else the one on the path, else ``None``."""
        beside = shutil.which("npm", path=str(Path(sys.executable).parent))
        found = beside or shutil.which("npm")
        return cls(Path(found)) if found else None

    @cached_property
    def version(self) -> str:
        """The version of npm."""
        return self._plain("npm")

    @cached_property
    def node(self) -> str:
        """The version of the Node.js that runs npm; npm prefers packages that run on it."""
        return self._plain("node").removeprefix("v")

    def _plain(self, program: str) -> str:
        with tempfile.TemporaryDirectory() as scratch:
            command = [str(self.path.with_name(program)), "--version"]
            if not Path(command[0]).exists():
                command[0] = program
            done = subprocess.run(  # noqa: S603 - npm's own version
                command, env=self._environment(Path(scratch)), capture_output=True, text=True,
                check=True, timeout=TIMEOUT,
            )  # fmt: skip
        return done.stdout.strip()

    def _environment(self, scratch: Path) -> dict[str, str]:
        return {
            "PATH": os.pathsep.join([str(self.path.parent), os.environ.get("PATH", os.defpath)]),
            "HOME": str(scratch),
            "npm_config_userconfig": str(scratch / "user-npmrc"),
            "npm_config_globalconfig": str(scratch / "global-npmrc"),
            "npm_config_logs_max": "0",
        }

    def run(self, arguments: tuple[str, ...], files: Mapping[str, str], registry: str) -> NpmRun:
        """
        Run npm on a project in a folder of its own.

        :param arguments: the command and its options; flags, cache and registry are added.
        :param files: the project by path; more than the two if it has workspaces.
        :param registry: address of a registry on the loopback interface.
        """
        with tempfile.TemporaryDirectory() as made:
            scratch, project = Path(made), Path(made, "project")
            project.mkdir()
            for name, text in files.items():
                (project / name).parent.mkdir(parents=True, exist_ok=True)
                (project / name).write_text(text, encoding="utf-8", newline="")
            places = ("--cache", str(scratch / "cache"), "--registry", registry)
            done = subprocess.run(  # noqa: S603 - a fixed command; the files are its input
                [str(self.path), *arguments, *FLAGS, *places],
                cwd=project, env=self._environment(scratch), capture_output=True, text=True,
                check=False, timeout=TIMEOUT,
            )  # fmt: skip
            now = {
                name: (project / name).read_text(encoding="utf-8")
                for name in {MANIFEST: None, LOCK: None, **files}
                if (project / name).is_file()
            }
            after = {
                name: text for name, text in now.items()
                if name in (MANIFEST, LOCK) or text != files.get(name)
            }  # fmt: skip
        return NpmRun(done.returncode, done.stdout, done.stderr, after)
