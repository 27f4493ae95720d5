"""What no stand-in can do: an answer that needs it is not judged, for the real image might do it."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from . import brings

LIMITS: Final = MappingProxyType(
    {
        "apk-base": "takes a package of the base image away",
        "apk-files": "uses a file of a package that nobody listed",
        "apk-root": "installs into another root",
        "cargo-bin": "names programs in [[bin]]",
        "cargo-install": "installs a program by cargo",
        "cargo-run": "runs its program while it is built",
        "cargo-workspace": "builds a package of a workspace",
        "bundle-verb": "runs another command of bundler than install, config and exec",
        "composer-verb": "runs scripts or programs by composer",
        "corepack-verb": "runs another command of corepack than enable, disable and prepare",
        "dotnet-project": "publishes a solution, or a project whose file has another name",
        "gcc-preprocess": "asks the compiler for more than a program, as the real go does",
        "gem-install": "installs a gem by its name",
        "gem-place": "installs gems where its user must not write",
        "go-verb": "runs go generate, run, tool or work",
        "module": "imports a module, and nobody knows of which package",
        "mvn-goal": "runs a goal of a plugin",
        "mvn-modules": "builds a project of several modules",
        "mvn-packaging": "makes another archive than jar, war or ear",
        "mvn-plugin": "uses a plugin that makes other files than the archive",
        "mvn-property": "names the archive by a property that the project does not have itself",
        "npm-global": "installs a package of npm for everybody, whose programs nobody listed",
        "npm-program": "runs a script with the program of a package",
        "poetry-verb": "runs another command of poetry than config, install, sync, run and export",
        "program": "runs a program of the image or of a package, and nothing stands in for it",
        "ruby-program": "runs a program of a gem",
        "uv-verb": "runs another command of uv than venv, pip install and sync",
    }
)
"""
What an answer does, by the name that a stand-in says before it ends.

Only what is named here is no verdict. Otherwise a broken answer could choose not to be judged.
"""

_SAID: Final = re.compile(r"(?m)^(?:#\d+ )?(?:\d+\.\d+ )?stand-in (limit|brought): ([\w.+-]+)\r?$")
"""As a program says it, after the number of a step and the time; the text of a step stands behind other words."""

_STEP: Final = re.compile(
    r"(?m)^(?:#\d+ \[[^\]]*\] |STEP \d+/\d+: )(RUN .*|COPY .*--from=.*(?= \S+$))"
)
_SYSTEM: Final = re.compile(
    r"(?<![\w.*/-])/(?:usr/(?:local/)?)?(?:include|lib|lib64|libexec|share)/[^\s'\",;)]+"
)
_WORD: Final = re.compile(r"[a-z]{3,}")
_GENERAL: Final = {
    "base", "client", "common", "config", "data", "default", "dev", "doc", "full", "lib", "libs", "tools", "utils",
}  # fmt: skip
"""Words of packages' names that say nothing about their files."""

_FOREIGN: Final = re.compile(r"/\w+-linux-(?:gnu|musl)/")
"""A folder of Debian's, which no package of Wolfi has."""

MARKS: Final = ("stand-in limit:", "stand-in brought:")
"""What no answer may say."""


def limit_in(output: str) -> str | None:
    """Return what the output of a build or a container says that a stand-in could not do, None if it says nothing."""
    said = _SAID.findall(output)
    brought = [name for kind, name in said if kind == "brought"]
    limits = [LIMITS[name] for kind, name in said if kind == "limit" and name in LIMITS]
    if any(_is_of(path, name) for path in _system_files(output) for name in brought):
        limits.append(LIMITS["apk-files"])
    return limits[0] if limits else None


def _system_files(output: str) -> set[str]:
    """Return the paths below folders of the system that steps name."""
    return {path for step in _STEP.findall(output) for path in _SYSTEM.findall(step)}


def _is_of(path: str, package: str) -> bool:
    """
    Return whether a path may be of a package, and no table says what it has there.

    A library of a table is known by the name that programs load; the file itself is called by a longer one.
    """
    known = brings.libraries(package)
    if known and ".so" in path:
        return any(path.startswith(f"{one}.") for one in known if one[-1].isdigit())
    if _FOREIGN.search(path):
        return False
    words = {word.removeprefix("lib") for word in _WORD.findall(package.lower())} - _GENERAL
    return any(len(word) > 2 and word in path.lower() for word in words)
