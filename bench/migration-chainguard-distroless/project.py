"""The files of a project: those that a case gives, and those that a system returned."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from .dockerfile.instruction import Refused
from .dockerfile.parser import MAX_TEXT

if TYPE_CHECKING:
    from pathlib import Path

DOCKERFILE: Final = "Dockerfile"
IGNORE: Final = ".dockerignore"
POLICY: Final = "policy.json"
"""Which registry and tags a system may use; not part of the project."""

MAX_FILES: Final = 50
MAX_NAME: Final = 100
"""Files of an answer, and characters of a path, beyond which it is not read."""

_PART: Final = r"(?!\.\.(?:/|\Z))[\w.][\w.@+-]*"
_NAME: Final = re.compile(rf"(?=.{{1,{MAX_NAME}}}\Z){_PART}(?:/{_PART})*", re.ASCII)


def read_input(folder: Path) -> dict[str, str]:
    """Return the files of a project by their path."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    files = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}
    files.pop(POLICY, None)
    return files


def read_output(before: Mapping[str, str], output: Mapping[str, Any]) -> dict[str, str]:
    """
    Return the migrated project: the given files, with those that the system returned added or replaced.

    :raises Refused: ``files`` lacks a Dockerfile, or a file in it is malformed or too large.
    """
    files = output.get("files")
    if not isinstance(files, Mapping) or not isinstance(files.get(DOCKERFILE), str):
        raise Refused("output_missing_file")
    held = (*files.values(), *files)
    if not all(isinstance(one, str) for one in held) or not all(map(_NAME.fullmatch, files)):
        raise Refused("output_malformed")
    if len(files) > MAX_FILES or any(len(text) > MAX_TEXT for text in files.values()):
        raise Refused("output_malformed")
    return {**before, **files}
