"""Reading TOML files that people write; reports all faults of a file at once, each with its line."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_origin

import tomli
from pydantic import BaseModel, ValidationError

from benchgate.errors import MAX_PROBLEMS, Unreadable, excerpt
from benchgate.wire.files import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from benchgate.errors import Fault, LocatedError

MAX_TOML_BYTES: Final = 64 * 1024
MAX_FOUND: Final = 200
"""Most characters of a value that a message shows."""
_NAME: Final = re.compile(r"""(?:"([^"]*+)"|'([^']*+)'|(?<![\w-])([\w-]++))\s*+(?=[=\].])""")
_UNQUOTED: Final = re.compile(r"\s*[\w.\"-]+\s*=\s*(?!True|False)([A-Za-z][\w-]*)\s*(?:#.*)?$")
Model = TypeVar("Model", bound=BaseModel)


class KeyLines:
    """Finds the line of a key by its text, because TOML parsers report no positions of values."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _lines(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """The lines of tables and those of keys; each line is read once, for a file may have a fault on each."""
        tables: dict[str, list[int]] = {}
        keys: dict[str, list[int]] = {}
        for number, line in enumerate(map(str.lstrip, self._text.splitlines()), 1):
            header = line.startswith("[")
            matches = _NAME.finditer(line) if header else filter(None, [_NAME.match(line)])
            names = ["".join(match.groups("")) for match in matches]
            for name in dict.fromkeys(names):
                keys.setdefault(name, []).append(number)
            if header and names:
                tables.setdefault(names[0], []).append(number)
        return tables, keys

    def table(self, name: str) -> int:
        """Return the 1-based line of a table's header, else 1; faster than :meth:`key`, which reads all lines."""
        match = re.search(rf"^\s*\[{name}\]", self._text, re.MULTILINE)
        if match is None:
            return 1
        return self._text.count("\n", 0, match.end()) + 1

    def key(self, *location: Any) -> int:
        """Return the 1-based line of the key at a path of names, else of the nearest table around it, else 1."""
        tables, keys = self._lines
        line = 1
        for depth, part in enumerate(map(str, location)):
            places = [keys]
            if depth == 0:
                places = [tables, keys]
            if part.isdecimal() and depth == 1:  # of an array of tables
                line = dict(enumerate(tables.get(str(location[0]), ()))).get(int(part), line)
            lines_of_part = (_first(place.get(part, ()), line) for place in places)
            line = next((number for number in lines_of_part if number), line)
        return line


def _first(lines: Sequence[int], start: int) -> int | None:
    """Return the first of some sorted lines that is not before ``start``."""
    at = bisect_left(lines, start)
    if at == len(lines):
        return None
    return lines[at]


def read_toml(
    path: Path,
    error: type[LocatedError],
    limit: int = MAX_TOML_BYTES,
    data: bytes | None = None,
) -> tuple[dict[str, Any], KeyLines]:
    """
    Read a TOML file of at most 64 KiB, or ``limit`` bytes.

    :param data: its bytes, if they were read before.
    :raises LocatedError: it cannot be read, or is too large, not UTF-8, not TOML, or nested too deeply.
    """
    try:
        text = (read_bytes(path, limit=limit) if data is None else data).decode("utf-8")
        return tomli.loads(text), KeyLines(text)
    except Unreadable as unreadable:
        raise error(path, unreadable.why, line=1) from unreadable
    except RecursionError:
        raise error(path, "tables or arrays are nested too deeply", line=1) from None
    except ValueError as invalid:
        line = getattr(invalid, "lineno", 1)  # UnicodeDecodeError has none
        message = " ".join(str(invalid).split())
        if isinstance(invalid, tomli.TOMLDecodeError):
            word = _UNQUOTED.match(_line(invalid))
            if word is not None:
                message += f'; text needs quotes: "{word[1]}"'
        raise error(path, message, line=line) from None


def _line(invalid: tomli.TOMLDecodeError) -> str:
    return [*invalid.doc.splitlines(), ""][invalid.lineno - 1]


def check_tables(
    path: Path,
    tables: Mapping[str, Any],
    lines: KeyLines,
    model: type[Model],
    error: type[LocatedError],
) -> Model:
    """Validate the tables of a file against a model; :raises LocatedError: with all faults, by line."""
    try:
        return model.model_validate(tables)
    except ValidationError as invalid:
        raise error(path, faults_of(invalid, model, lines)) from None


def faults_of(
    error: ValidationError,
    model: type[BaseModel],
    lines: KeyLines | None,
    prefix: tuple[str, ...] = (),
) -> list[Fault]:
    """
    Turn a validation error into faults, in the order of the lines; similar keys are suggested for unknown ones.

    :param lines: lines of the keys; ``None`` if they do not come from a file.
    :param prefix: path of names to put before the model's own.
    """
    places = []
    for fault in error.errors(include_url=False):
        location = (*prefix, *fault["loc"])
        there = location[:-1] if fault["type"] == "missing" else location
        line = lines.key(*there) if lines else 0
        places.append((line, ".".join(map(str, location)), fault))
    places.sort(key=lambda place: place[:2])
    # To look for similar keys takes long, so only for those that a message can list.
    return [
        (line, excerpt(key, MAX_FOUND), _message(fault, model if n < MAX_PROBLEMS else None))
        for n, (line, key, fault) in enumerate(places)
    ]


def _message(fault: ErrorDetails, model: type[BaseModel] | None) -> str:
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        return f"unknown key{_suggestion(model, fault['loc']) if model else ''}"
    if fault["type"] == "missing":
        return "missing"
    shown = excerpt(repr(fault["input"]), MAX_FOUND)
    if fault["type"] == "timezone_aware":
        return f"{fault['input']}: needs its offset, such as Z"
    return message if isinstance(fault["input"], Mapping) else f"{message}; found {shown}"


def _suggestion(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    place: Any = model
    for part in location[:-1]:
        if isinstance(place, type) and issubclass(place, BaseModel):
            field = place.model_fields.get(str(part))
            place = field.annotation if field else None
        else:
            place = get_args(place)[-1] if get_origin(place) is dict else None
    if not (isinstance(place, type) and issubclass(place, BaseModel)):
        return ""
    unknown = str(location[-1])[: 2 * max(map(len, place.model_fields))]
    near = difflib.get_close_matches(unknown, place.model_fields, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(place.model_fields)}"
