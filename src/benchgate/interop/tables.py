"""CSV and JSON lines with any fields: of one's own scripts, and of tools that write such files."""

from __future__ import annotations

import csv
import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from benchgate.errors import SampleError, Unreadable
from benchgate.interop.documents import KEY, Rows, json_rows
from benchgate.interop.log import Layout, Log, Row, lines_of
from benchgate.interop.roles import CASES, SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.interop.log import LogFile, Raw

HEAD: Final = 100
"""Rows among which the first sample is looked for: before it may be what a tool says of the whole."""

SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs"}
QUOTED: Final = re.compile(r'"[^"]*(?:"|$)')
BLANKS: Final = re.compile(r"\s*([,;])\s*")

OTHERS: Final = {
    "trial": ("trial", "epoch", "trial_name"),
    "cluster": ("cluster",),
    "penalty": ("safety_penalty",),
    "error": ("error",),
    "input": ("input",),
    "target": ("target",),
    "answer": ("output", "response", "completion", "prediction"),
}
"""Fields of the other roles; each row may have another one of them, or none."""


def table(tool: str, found: Rows) -> Log:
    """Return a log of rows with any fields; what they say, their names tell."""
    head = list(islice(found.rows, HEAD))
    fields = dict(OTHERS)
    fields["case"] = (KEY,) if found.by_id else _case_of(head)
    rows = _rows(chain(head, found.rows))
    return Log(tool=tool, rows=rows, rows_at=found.at, layout=Layout(fields=fields))


def _case_of(head: Sequence[Raw]) -> tuple[str, ...]:
    """Return the field of the case: that of the first row that has a score too, for others may be no samples."""
    found = [
        ([one for one in CASES if one in row], any(one in row for one in SCORES)) for _, row in head
    ]
    scored = next((names for names, has_score in found if names and has_score), [])
    first = next((names for names, _ in found if names), [])
    return tuple(scored or first)[:1]


def _rows(rows: Iterator[Raw]) -> Iterator[Row]:
    for line, fields in rows:
        yield Row(line, fields, [name for name in SCORES if name in fields])


def open_csv(file: LogFile) -> Log:
    """Open a CSV with a header line."""
    separator = _separator_of(file)
    tool = "csv"
    if separator != ",":
        tool = f"csv with {SEPARATORS[separator]}"
    return table(tool, Rows(csv_rows(file)))


def separators_in(head: bytes) -> list[str]:
    """Return what may separate values: what of :data:`SEPARATORS` is in the first line that is no comment, unquoted."""
    lines = head.decode(errors="replace").splitlines()
    header = next((line for line in lines if not line.startswith("#")), "")
    # A tab beside a comma is a blank there.
    bare = BLANKS.sub(r"\1", QUOTED.sub("", header).strip())
    return [one for one in SEPARATORS if one in bare]


def _separator_of(file: LogFile) -> str:
    """
    Return what separates the values of a CSV; one of a single column has nothing, and is as good as one with commas.

    :raises SampleError: its header has several, and nobody can tell.
    """
    found = separators_in(file.head)
    if len(found) > 1:
        names = " and ".join(SEPARATORS[one] for one in found)
        why = f"has {names} in its first line: which of them separates values? Quote names that have the other one"
        raise SampleError(file.path, why)
    return found[0] if found else ","


def csv_rows(file: LogFile) -> Iterator[Raw]:
    """
    Yield line and fields of each row of a CSV.

    :raises SampleError: it is no CSV, a column is there twice, or a row has more or fewer values than the header.
    """
    path = file.path
    separator = _separator_of(file)
    rows = None
    comments = 0
    try:
        comments, lines = _after_comments(
            line.decode("utf-8-sig" if n == 1 else "utf-8") for n, line in lines_of(file)
        )
        rows = csv.DictReader(lines, strict=True, delimiter=separator)
        names = [name.strip() for name in rows.fieldnames or ()]
        if len({*names}) != len(names):
            raise SampleError(path, f"columns {names}: one is there twice", line=1 + comments)
        rows.fieldnames = names
        for row in rows:
            if None in row or None in row.values():
                line = rows.line_num + comments
                raise SampleError(path, f"expected {len(names)} values", line=line)
            yield rows.line_num + comments, row
    except csv.Error as error:
        line = rows.line_num + comments if rows else 1
        raise SampleError(path, f"no CSV: {error}", line=line) from error
    except (OSError, ValueError) as error:
        raise Unreadable(path, f"cannot be read as CSV: {error}") from error


def _after_comments(lines: Iterator[str]) -> tuple[int, Iterator[str]]:
    """Return how many lines before the header begin with ``#``, and all lines after them."""
    comments = 0
    for line in lines:
        if not line.startswith("#"):
            return comments, chain((line,), lines)
        comments += 1
    return comments, lines


def open_json(file: LogFile) -> Log:
    """Open JSON lines, an array of objects, or a document that has one list of rows."""
    return table("json", json_rows(file))
