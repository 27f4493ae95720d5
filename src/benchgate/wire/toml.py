"""TOML that a person wrote: its tables, and the line of whatever is wrong in it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import tomli
from pydantic import BaseModel, ValidationError

from benchgate.wire.files import read_regular

if TYPE_CHECKING:
    from pathlib import Path


MAX_TOML_BYTES: Final = 64 * 1024


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """
    Read a TOML file that a person wrote; return its tables and its text.

    :raises ValueError: too large, not UTF-8, not TOML, or nested beyond reason; the message holds a line if known.
    :raises OSError: it cannot be opened.
    """
    text = read_regular(path, limit=MAX_TOML_BYTES).decode("utf-8")
    try:
        return tomli.loads(text), text
    except RecursionError:
        msg = "tables or arrays are nested too deeply"
        raise ValueError(msg) from None


Problem = tuple[int, str, str]


class KeyLines:
    """Finds the line of a key. TOML parsers give no positions, so this looks for its text."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def header(self, table: str) -> int:
        """Return the 1-based line of ``[table]``, or 1."""
        pattern = re.compile(rf"\s*\[\s*{re.escape(table)}\s*[\].]")
        return next((n for n, line in enumerate(self._lines, 1) if pattern.match(line)), 1)

    def key(self, location: tuple[Any, ...]) -> int:
        """Return the 1-based line of the key at a location, else the line of its table."""
        if not location:
            return 1
        start = self.header(str(location[0]))
        for part in location[1:]:
            pattern = re.compile(rf"\s*(\[.*)?[\"']?{re.escape(str(part))}[\"']?\s*[=\].]")
            found = (
                n for n, line in enumerate(self._lines[start - 1 :], start) if pattern.match(line)
            )
            start = next(found, start)
        return start


def line_of(error: BaseException | None) -> int:
    """Return the line that a parser stumbled over, or 1."""
    return int(getattr(error, "lineno", None) or 1)


def one_line(error: Exception) -> str:
    """Return what is wrong with a file that cannot be read, on one line."""
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    return " ".join(str(error).split())


def explain(
    error: ValidationError, model: type[BaseModel], lines: KeyLines, prefix: tuple[str, ...] = ()
) -> list[Problem]:
    """Turn a validation error of what a person wrote into located problems that name the nearest valid key."""
    problems = []
    for fault in error.errors(include_url=False):
        location = (*prefix, *fault["loc"])
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = f"unknown key{_suggestion(model, fault['loc'])}"
        elif fault["type"] == "missing":
            message = "missing"
        elif fault["type"] == "timezone_aware":
            message = f"{fault['input']}: needs its offset, such as Z"
        elif not isinstance(fault["input"], Mapping):
            message = f"{message}; found {fault['input']!r}"
        problems.append((lines.key(location), ".".join(map(str, location)), message))
    return problems


def _suggestion(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    known: type[BaseModel] | None = model
    for part in location[:-1]:
        field = known.model_fields.get(str(part)) if known else None
        inner = field.annotation if field else None
        known = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
    if known is None:
        return ""
    near = difflib.get_close_matches(str(location[-1]), known.model_fields, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known.model_fields)}"
