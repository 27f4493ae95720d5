"""CSV and JSON lines with any fields: of one's own scripts, and of tools that write such files."""

from __future__ import annotations

import csv
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import SampleError, Unreadable, excerpt
from benchgate.interop.log import MAX_LINE, Log, Row, ahead, found_in, parsed, whole_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.interop.log import LogFile, Raw

Line = tuple[int, bytes]
CASES: Final = (
    *("case", "case_id", "instance_id", "sample_id", "task_id", "task_name", "question_id"),
    *("doc_id", "test_id", "id", "name"),
)
SCORES: Final = ("score", "resolved", "passed", "correct", "success", "reward", "accuracy")
"""Fields of a table that are case and score unless others are named: those of its first row."""

OTHERS: Final = {
    "trial": ("trial", "epoch"),
    "cluster": ("cluster",),
    "penalty": ("safety_penalty",),
    "error": ("error",),
    "input": ("input",),
    "target": ("target",),
}
"""Fields of the other roles; each row may have another one of them, or none."""


def table(tool: str, rows: Iterator[Raw]) -> Log:
    """Return a log of rows with any fields; what they say, their names tell."""
    first, rows = ahead(rows)
    fields = dict(OTHERS)
    if first is not None:
        fields["case"] = tuple(name for name in CASES if name in first[1])[:1]
    return Log(tool=tool, rows=_rows(rows), fields=fields)


def _rows(rows: Iterator[Raw]) -> Iterator[Row]:
    for line, fields in rows:
        yield Row(line, fields, _metrics(fields))


def _metrics(row: Mapping[str, Any]) -> list[str]:
    metrics = row.get("metrics")  # of lm-evaluation-harness: names of other fields
    if isinstance(metrics, list) and metrics and all(isinstance(one, str) for one in metrics):
        return [one for one in metrics if one in row]
    return [name for name in SCORES if name in row]


def open_csv(file: LogFile) -> Log:
    """Open a CSV with a header line."""
    return table("csv", csv_rows(file))


def csv_rows(file: LogFile) -> Iterator[Raw]:
    """
    Yield line and fields of each row of a CSV.

    :raises SampleError: it is no CSV, a column is there twice, or a row has more or fewer values than the header.
    """
    rows, path = None, file.path
    try:
        lines = (line.decode("utf-8-sig" if n == 1 else "utf-8") for n, line in _lines(file))
        rows = csv.DictReader(lines, strict=True)
        names = [name.strip() for name in rows.fieldnames or ()]
        if len({*names}) != len(names):
            raise SampleError(path, f"columns {names}: one is there twice", line=1)
        rows.fieldnames = names
        for row in rows:
            if None in row or None in row.values():
                raise SampleError(path, f"expected {len(names)} values", line=rows.line_num)
            yield rows.line_num, row
    except csv.Error as error:
        raise SampleError(path, f"no CSV: {error}", line=rows.line_num if rows else 1) from error
    except (OSError, ValueError) as error:
        raise Unreadable(path, f"cannot be read as CSV: {error}") from error


def open_json(file: LogFile) -> Log:
    """Open JSON lines, or a JSON array of objects."""
    return table("json", json_rows(file))


def json_rows(file: LogFile, lists: Sequence[str] = ()) -> Iterator[Raw]:
    """Yield line and fields of each row of JSON lines, an array, or a document that has rows in ``lists``."""
    lines = ((number, line) for number, line in _lines(file) if line.strip())
    first = next(lines, None)
    if first is not None and (samples := _whole(file, first, lines, lists)) is not None:
        yield from ((0, _row(file.path, 0, one)) for one in samples)
        return
    for number, line in chain(filter(None, (first,)), lines):
        yield number, _row(file.path, number, _parsed(file.path, number, line))


def _parsed(path: Path, number: int, line: bytes) -> Any:
    try:
        return parsed(line)
    except (ValueError, RecursionError) as error:
        raise Unreadable(path, f"line {number}: no JSON: {error}") from error


def _whole(
    file: LogFile, first: Line, others: Iterator[Line], lists: Sequence[str]
) -> list[Any] | None:
    """Return the samples of a file that is one array or one document; ``None`` if it has lines."""
    start = first[1].removeprefix(b"\xef\xbb\xbf").strip()
    is_part = start == b"{" or start.startswith(b"[")
    document = whole_json(file) if is_part else _parsed(file.path, *first)
    samples = document if is_part else None
    if not isinstance(samples, list):
        found = [one for path in lists if isinstance(one := found_in(document, path), list)]
        samples = [*chain(*found)] if found else None
    if samples is None and is_part:
        why = "is one JSON object; expected a line or an array element for each sample"
        if "report_kind" in document:
            why = "is a file of benchgate, no log"
        raise Unreadable(file.path, why)
    if samples is not None and not is_part and (more := next(others, None)) is not None:
        why = "more after a whole document; expected one, or a sample in each line"
        raise SampleError(file.path, why, line=more[0])
    return samples


def _row(path: Path, line: int, row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        where = f"line {line}: " if line else ""
        raise Unreadable(
            path, f"{where}expected an object for each sample, not {excerpt(repr(row), 40)}"
        )
    return row


def _lines(file: LogFile) -> Iterator[Line]:
    number = 0
    while line := file.file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise Unreadable(file.path, f"line {number} has more than {MAX_LINE} bytes")
        yield number, line
