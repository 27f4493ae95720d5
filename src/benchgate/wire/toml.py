"""Reading TOML files that people write; reports all faults of a file at once, each with its line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_origin

import tomli
from pydantic import BaseModel, ValidationError

from benchgate.errors import Unreadable
from benchgate.wire.files import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.errors import Fault, LocatedError

MAX_TOML_BYTES: Final = 64 * 1024
Model = TypeVar("Model", bound=BaseModel)


class KeyLines:
    """Finds the line of a key by its text, because TOML parsers report no positions of values."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def key(self, *location: Any) -> int:
        """Return the 1-based line of the key at a path of names, else of the nearest table around it, else 1."""
        line = 1
        for depth, part in enumerate(location):
            name = re.escape(str(part))
            table = re.compile(rf"\s*\[\s*{name}\s*[\].]")
            key = re.compile(rf"\s*(\[.*)?[\"']?{name}[\"']?\s*[=\].]")
            line = self._find(key if depth else table, line) or self._find(key, line) or line
        return line

    def _find(self, pattern: re.Pattern[str], start: int) -> int | None:
        lines = enumerate(self._lines[start - 1 :], start)
        return next((number for number, line in lines if pattern.match(line)), None)


def read_toml(path: Path, error: type[LocatedError]) -> tuple[dict[str, Any], KeyLines]:
    """
    Read a TOML file of at most 64 KiB.

    :param error: class of the error to raise.
    :raises LocatedError: it cannot be read, or is too large, not UTF-8, not TOML, or nested too deeply.
    """
    try:
        text = read_bytes(path, limit=MAX_TOML_BYTES).decode("utf-8")
        return tomli.loads(text), KeyLines(text)
    except Unreadable as unreadable:
        raise error(path, unreadable.why, line=1) from unreadable
    except RecursionError:
        raise error(path, "tables or arrays are nested too deeply", line=1) from None
    except ValueError as invalid:
        line = getattr(invalid, "lineno", 1)  # UnicodeDecodeError has none
        raise error(path, " ".join(str(invalid).split()), line=line) from None


def check_tables(
    path: Path,
    tables: Mapping[str, Any],
    lines: KeyLines,
    model: type[Model],
    error: type[LocatedError],
) -> Model:
    """
    Validate the tables of a file against a model.

    :param error: class of the error to raise.
    :raises LocatedError: with all faults, in the order of the lines.
    """
    try:
        return model.model_validate(tables)
    except ValidationError as invalid:
        raise error(path, sorted(faults_of(invalid, model, lines))) from None


def faults_of(
    error: ValidationError,
    model: type[BaseModel],
    lines: KeyLines | None,
    prefix: tuple[str, ...] = (),
) -> list[Fault]:
    """
    Turn a validation error into faults; for an unknown key the message suggests a similar one.

    :param lines: lines of the keys; ``None`` if they do not come from a file.
    :param prefix: path of names to put before the model's own.
    """
    faults = []
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
        line = lines.key(*location) if lines else 0
        faults.append((line, ".".join(map(str, location)), message))
    return faults


def _suggestion(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    known: Any = model
    for part in location[:-1]:
        if isinstance(known, type) and issubclass(known, BaseModel):
            field = known.model_fields.get(str(part))
            known = field.annotation if field else None
        else:
            known = get_args(known)[-1] if get_origin(known) is dict else None
    if not (isinstance(known, type) and issubclass(known, BaseModel)):
        return ""
    near = difflib.get_close_matches(str(location[-1]), known.model_fields, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known.model_fields)}"
