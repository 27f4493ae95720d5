"""The parser directive ``# syntax=``: the image that reads the Dockerfile and makes of it what it likes."""

from __future__ import annotations

import re
from typing import Final

_DIRECTIVE: Final = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.+?)\s*")
_NAMES: Final = ("syntax", "escape", "check")
_OFFICIAL: Final = re.compile(
    r"(?:docker\.io/)?docker/dockerfile(?:-upstream)?(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?"
)


def foreign_frontend(text: str) -> bool:
    """Return whether another program than Docker's own would read the file; only comments above all else name one."""
    for line in text.removeprefix("\ufeff").split("\n"):
        found = _DIRECTIVE.fullmatch(line.strip())
        if not found or found[1].lower() not in _NAMES:
            break
        if found[1].lower() == "syntax":
            return not _OFFICIAL.fullmatch(found[2])
    return False
