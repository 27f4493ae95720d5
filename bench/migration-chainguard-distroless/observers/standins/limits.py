"""What no stand-in can do: an answer that needs it is not judged, for the real image might do it."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

LIMITS: Final = MappingProxyType(
    {
        "apk-base": "takes a package of the base image away",
        "apk-root": "installs into another root",
        "cargo-bin": "names programs in [[bin]]",
        "cargo-workspace": "builds a package of a workspace",
        "dotnet-project": "publishes a solution, or a project whose file has another name",
        "gcc-preprocess": "asks the compiler for more than a program, as the real go does",
        "go-verb": "runs go generate, run, tool or work",
        "mvn-goal": "runs a goal of a plugin",
        "mvn-modules": "builds a project of several modules",
        "mvn-packaging": "makes another archive than jar, war or ear",
        "mvn-plugin": "uses a plugin that makes other files than the archive",
        "mvn-property": "names the archive by a property that the project does not have itself",
        "npm-program": "runs a script with the program of a package",
        "poetry-verb": "runs another command of poetry than config, install, sync and export",
        "program": "runs a program of the image or of a package, and nothing stands in for it",
        "uv-verb": "runs another command of uv than venv, pip install and sync",
    }
)
"""
What an answer does, by the name that a stand-in says before it ends.

Only what is named here is no verdict. Otherwise a broken answer could choose not to be judged.
"""

_SAID: Final = re.compile(r"(?m)^(?:#\d+ )?(?:\d+\.\d+ )?stand-in limit: ([a-z-]+)\r?$")
"""As a program says it, after the number of a step and the time; the text of a step stands behind other words."""


def limit_in(output: str) -> str | None:
    """Return what the output of a build or a container says that a stand-in could not do, None if it says nothing."""
    return next((LIMITS[name] for name in _SAID.findall(output) if name in LIMITS), None)
