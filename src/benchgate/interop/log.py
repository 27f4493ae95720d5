"""What a log of any format is read as: rows with fields, and which fields say what."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import Unreadable, excerpt
from benchgate.wire.files import open_regular, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

ROLES: Final = (
    "case",
    "score",
    "trial",
    "cluster",
    "penalty",
    "error",
    "reruns",
    "input",
    "target",
    "answer",
)
"""What a field of a row may say; see :func:`benchgate.interop.read`."""

Row = tuple[int, dict[str, Any]]
"""The line of a sample in its file, 0 if it has none, and its fields."""

MAX_LOG_BYTES: Final = 16 * 2**30
"""Largest log of which a digest is computed; no reader has a log in memory as a whole."""

MAX_LINE: Final = 64 * 2**20
MAX_WHOLE: Final = 64 * 2**20
"""Largest line of JSON, and largest file that has to be parsed in one piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """
    A log that was opened.

    :param rows: of its samples, one by one.
    :param fields: the field of each role, or several of which a row has one; a role that is left out is in none.
    :param metrics: returns the fields of a row that may be its score.
    :param metric_prefix: of these fields, which is not part of a metric's name.
    :param task: name of what was run, and ``system`` of what ran it, if the log says.
    :param started: when it was run, if the log says.
    :param named: returns, once all rows were read, the cases that the log names.
    :param ended_early: the log says that it is not whole.
    """

    tool: str
    version: str | None = None
    rows: Iterable[Row]
    fields: Mapping[str, tuple[str, ...]]
    metrics: Callable[[Mapping[str, Any]], list[str]]
    metric_prefix: str = ""
    task: str | None = None
    system: str | None = None
    started: datetime | None = None
    named: Callable[[], Iterable[str]] = field(default=tuple)
    ended_early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """
    A format of logs.

    :param what: the format in words.
    :param looks_like: takes the first bytes of a file and its name in lower case.
    :param open: reads a file of it.
    """

    name: str
    what: str
    looks_like: Callable[[bytes, str], bool]
    open: Callable[[Path], Log]


def found_in(row: Any, path: str) -> Any:
    """
    Return the value of a field; ``None`` if the row lacks it.

    :param path: the name of a field, or names joined by dots for one within another; a number counts in a list.
    """
    if isinstance(row, dict) and path in row:
        return row[path]
    head, dot, rest = path.partition(".")
    while dot:
        inner = _child(row, head)
        if inner is not None:
            return found_in(inner, rest)
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return _child(row, head)


def _child(row: Any, name: str) -> Any:
    if isinstance(row, dict):
        return row.get(name)
    if isinstance(row, list) and name.isdecimal() and len(name) < 9:
        return row[int(name)] if int(name) < len(row) else None
    return None


CASES: Final = (
    *("case", "case_id", "instance_id", "sample_id", "task_id", "task_name", "question_id"),
    *("doc_id", "test_id", "id", "name"),
)
SCORES: Final = ("score", "resolved", "passed", "correct", "success", "reward", "accuracy")
"""Fields of a table that are case and score unless others are named: those of its first row."""

PROMPTFOO_ERROR: Final = 2
"""The ``failureReason`` of promptfoo that is no failed assertion."""

OTHERS: Final = {
    "trial": ("trial", "epoch"),
    "cluster": ("cluster",),
    "penalty": ("safety_penalty",),
    "error": ("error",),
    "input": ("input",),
    "target": ("target",),
    "answer": ("answer", "output"),
}
"""Fields of the other roles; each row may have another one of them, or none."""


def table(tool: str, rows: Iterator[Row]) -> Log:
    """Return a log of rows with any fields; what they say, their names tell."""
    first = next(rows, None)
    names = first[1] if first else {}
    cases = [name for name in CASES if name in names]
    return Log(
        tool=tool,
        rows=() if first is None else chain((first,), rows),
        fields=OTHERS | ({"case": (cases[0],)} if cases else {}),
        metrics=_metrics,
    )


def _metrics(row: Mapping[str, Any]) -> list[str]:
    told = row.get("metrics")  # of lm-evaluation-harness: names of other fields
    if isinstance(told, list) and told and all(isinstance(one, str) for one in told):
        return [one for one in told if one in row]
    return [name for name in SCORES if name in row]


def ahead(rows: Iterator[Row]) -> Iterator[Row]:
    """Return rows of which the first one was read, so that its reader has seen what stands before it."""
    first = next(rows, None)
    return iter(()) if first is None else chain((first,), rows)


def moment(text: str) -> datetime | None:
    """Return a time in ISO 8601; ``None`` if it is none, or has no offset."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


def open_csv(path: Path) -> Log:
    """Open a CSV with a header line."""
    return table("csv", _csv_rows(path))


def _csv_rows(path: Path) -> Iterator[Row]:
    rows = None
    try:
        with open_regular(path) as file:
            lines = (line.decode("utf-8-sig" if n == 0 else "utf-8") for n, line in _lines(file))
            rows = csv.DictReader(lines, strict=True)
            names = rows.fieldnames or []
            if len({*names}) != len(names):
                raise Unreadable(path, f"columns {list(names)}: one is there twice")
            for row in rows:
                if None in row or None in row.values():
                    raise Unreadable(path, f"line {rows.line_num}: expected {len(names)} values")
                yield rows.line_num, row
    except csv.Error as error:
        raise Unreadable(path, f"no CSV: line {rows.line_num if rows else 1}: {error}") from error
    except (OSError, ValueError) as error:
        raise Unreadable(path, f"cannot be read as CSV: {error}") from error


def open_json(path: Path) -> Log:
    """Open JSON lines, or a JSON array of objects."""
    return table("json", _json_rows(path))


def _json_rows(path: Path) -> Iterator[Row]:
    try:
        with open_regular(path) as file:
            for number, line in _lines(file):
                if number == 0 and (rows := _whole(path, line)) is not None:
                    yield from ((0, _row(path, 0, one)) for one in rows)
                    return
                if line.strip():
                    yield number + 1, _row(path, number + 1, json.loads(line.decode("utf-8-sig")))
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(path, f"no JSON lines: {error}") from error


def _whole(path: Path, line: bytes) -> list[Any] | None:
    """Return the samples of a file that is one array, or one result of promptfoo; ``None`` if it has lines."""
    start = line.removeprefix(b"\xef\xbb\xbf").strip()
    if not start.startswith(b"[") and start != b"{" and b'"results":' not in start[:200]:
        return None
    found = whole_json(path)
    rows = found_in(found, "results.results") if isinstance(found, dict) else found
    if isinstance(rows, list):
        return rows
    if isinstance(found, dict) and "report_kind" in found:
        raise Unreadable(
            path, "is a file of benchgate, no log; for records there is benchgate compare"
        )
    raise Unreadable(
        path, "is one JSON object; expected a line or an array element for each sample"
    )


def _row(path: Path, line: int, row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        where = f"line {line}: " if line else ""
        raise Unreadable(
            path, f"{where}expected an object for each sample, not {excerpt(repr(row), 40)}"
        )
    if "failureReason" in row and "promptIdx" in row and row["failureReason"] != PROMPTFOO_ERROR:
        return {**row, "error": None}  # promptfoo puts there which assertion failed
    return row


def whole_json(path: Path) -> Any:
    """
    Parse a file in one piece.

    :raises Unreadable: it is no JSON, or larger than :data:`MAX_WHOLE`.
    """
    try:
        return json.loads(read_bytes(path, limit=MAX_WHOLE).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(path, f"no JSON: {error}") from error


def _lines(file: Any) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            msg = f"line {number + 1} has more than {MAX_LINE} bytes"
            raise ValueError(msg)
        yield number, line
        number += 1
