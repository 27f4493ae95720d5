"""What a log of any format is read as: rows with fields, which fields say what, and the samples that rows are."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from benchgate.errors import Unreadable
from benchgate.wire.files import open_regular
from benchgate.wire.parsing import unique_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from io import BufferedReader
    from pathlib import Path

Raw = tuple[int, dict[str, Any]]
"""The line of a row in its file, 0 if it has none, and its fields."""

AnyRow = TypeVar("AnyRow")

MAX_LOG_BYTES: Final = 16 * 2**30
"""Largest log that is read; no reader has a log in memory as a whole."""

BEGINNING: Final = 64 * 1024
"""Bytes of a file by which its format is known."""

MAX_LINE: Final = 64 * 2**20
MAX_WHOLE: Final = 64 * 2**20
"""Largest line of JSON, and largest file that has to be parsed in one piece."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """
    A file that is open: whatever is read of it, its digest too, is read from this one descriptor.

    :param rows: the field that has its rows, if somebody named it.
    :param in_full: texts are read too that say nothing of a score, where reading them takes time.
    """

    path: Path
    file: BufferedReader
    rows: str | None = None
    in_full: bool = False

    @property
    def head(self) -> bytes:
        """The first bytes, by which its format is known, without a byte order mark."""
        self.file.seek(0)
        beginning = self.file.read(BEGINNING).removeprefix(b"\xef\xbb\xbf")
        self.file.seek(0)
        return beginning


@contextmanager
def open_file(
    path: Path, limit: int = MAX_LOG_BYTES, rows: str | None = None, *, in_full: bool = False
) -> Iterator[LogFile]:
    """
    Open a file, to read it and do nothing else meanwhile.

    :param limit: the most bytes that it may have. :param rows: as :class:`LogFile` has it, and ``in_full``.
    :raises Unreadable: it cannot be read, is larger, or changed before the block ended.
    """
    try:
        with open_regular(path) as file:
            state = _state(file)
            if state[0] > limit:
                raise Unreadable(path, f"{state[0]} bytes; at most {limit} are read")
            yield LogFile(path, file, rows, in_full)
            if _state(file) != state:
                raise Unreadable(path, "changed while it was read; expected a finished file")
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        raise Unreadable(path, why, missing=isinstance(error, FileNotFoundError)) from error
    except ValueError as error:  # it is no regular file, or its path has a zero byte
        raise Unreadable(path, str(error)) from error


def _state(file: BufferedReader) -> tuple[int, int, int]:
    """Return what is another as soon as something was written; nobody can set the last of it."""
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


class Row(NamedTuple):
    """
    One row of a log.

    :param line: in its file, 0 if it has none.
    :param fields: as the log has them.
    :param metrics: those of the fields that may be its score.
    :param directions: by score, whether ``more`` or ``less`` of it is better, as far as the row shows.
    :param contradiction: how the row contradicts itself, which is an error of it; ``None`` if it does not.
    :param number: among all rows of the log, from 1; 0 until it is read.
    """

    line: int
    fields: dict[str, Any]
    metrics: Sequence[str]
    directions: Mapping[str, str] = {}
    contradiction: str | None = None
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """
    Which fields of a row say what.

    :param fields: the field of each role, or several of which a row has one; a role that is left out is in none.
    :param where: what a row has that is a sample; the others are passed over.
    :param letters: values of a score that are no numbers, and the number of each.
    :param asks_for_trials: names may be those of repetitions, and a person has to say whether they are.
    """

    fields: Mapping[str, tuple[str, ...]]
    where: Mapping[str, str] = field(default_factory=dict)
    letters: Mapping[str, float] = field(default_factory=dict)
    asks_for_trials: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """
    A log that was opened.

    :param rows: of its samples, one by one; ``rows_at`` is the field of the file that has them, if it is in one.
    :param metric_prefix: of the fields that may be a score, which is not part of a metric's name.
    :param overall: the one of them that is the score if none is named.
    :param task: name of what was run, and ``system`` of what ran it, if the log says.
    :param started: when it was run, if the log says.
    :param named: returns, once all rows were read, the cases that the log names; ``unrun`` the rows of those that have
        no result, such as tests that were skipped.
    :param ended_early: the log says that it is not whole.
    """

    tool: str
    version: str | None = None
    rows: Iterable[Row]
    rows_at: str = ""
    layout: Layout
    metric_prefix: str = ""
    overall: str | None = None
    task: str | None = None
    system: str | None = None
    started: datetime | None = None
    named: Callable[[], Iterable[str]] = field(default=tuple)
    unrun: Callable[[], Iterable[dict[str, Any]]] = field(default=tuple)
    ended_early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """
    One sample of a log.

    :param trial: what the log calls the repetition; empty if it numbers none.
    :param score: as the log has it; ``None`` if it has none.
    :param error: why there is no score, with its type; ``None`` if there is one. ``error_type`` is that type alone.
    :param penalty: harm done, 0 or more; ``None`` if the log does not say.
    :param passed: whether it passes, by the field of that role; ``None`` if none was named.
    :param reruns: earlier attempts at the same trial.
    :param of: digests of its input and of its target, as far as the log has them.
    :param texts: its input and its answer, of the cases that somebody wants to see; ``None`` of all others.
    """

    case_id: str
    trial: str
    score: float | None
    error: str | None
    cluster: str | None = None
    penalty: float | None = None
    passed: bool | None = None
    reruns: int = 0
    of: tuple[str | None, str | None] = (None, None)
    error_type: str | None = None
    texts: tuple[str | None, str | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """
    All samples of a log, none left out: those without a score say why.

    :param header: what the log says of itself, such as ``tool``, ``version``, ``task`` and ``system``.
    :param case_field: which field pairs the cases, and ``other_fields`` that might.
    :param metric: which score was read.
    :param ungated: scores of the log that were not read.
    :param fields: each role that samples have something in, its field, and who said so, ``None`` for the format.
    :param rows: numbers of the rows that were read; ``left`` is how many are no samples, by why they are none.
    :param map: what somebody said of fields; ``told`` is all that was asked, for the record.
    :param directions: whether ``more`` or ``less`` of the score is better, each with the first case that shows it.
    :param sha256: of the file.
    :param without: cases that the log names and has no sample of, such as tests that were skipped; sorted.
    :param repeated: cases of which the log has a trial more than once, sorted; their last sample is in ``samples``.
    :param repeated_at: of those, the lines of such a trial, where the log is one file that has lines.
    :param once: cases with one trial beside others with several, for they were not repeated.
    :param files: of a folder, what its files are taken for, and which are not read.
    """

    path: Path
    format: str
    header: Log
    sha256: str
    case_field: str
    other_fields: tuple[str, ...]
    metric: str
    ungated: tuple[str, ...]
    fields: tuple[tuple[str, str, str | None], ...]
    rows: frozenset[int]
    left: Mapping[str, int]
    map: Mapping[str, str]
    told: tuple[str, ...]
    directions: Mapping[str, str]
    samples: tuple[Sample, ...]
    without: tuple[str, ...]
    repeated: tuple[str, ...]
    repeated_at: Mapping[str, tuple[int, ...]]
    once: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()

    @property
    def has_inputs(self) -> tuple[bool, bool]:
        """Whether samples have their input, and whether they have their target."""
        inputs, targets = zip(*(sample.of for sample in self.samples), strict=True)
        return any(inputs), any(targets)

    @property
    def errors(self) -> tuple[Sample, ...]:
        """The samples without a score."""
        return tuple(sample for sample in self.samples if sample.score is None)


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
    if not isinstance(row, list) or not name.isdecimal() or len(name) > 8:
        return None
    place = int(name)
    if place >= len(row):
        return None
    return row[place]


def ahead(rows: Iterator[AnyRow]) -> tuple[AnyRow | None, Iterator[AnyRow]]:
    """Return the first row, and all of them, so that their reader has seen what stands before the first."""
    first = next(rows, None)
    if first is None:
        return None, rows
    return first, chain((first,), rows)


def lines_of(file: LogFile) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers; :raises Unreadable: one is too long."""
    number = 0
    while line := file.file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise Unreadable(file.path, f"line {number} has more than {MAX_LINE} bytes")
        yield number, line


def moment(text: str) -> datetime | None:
    """Return a time in ISO 8601; ``None`` if it is none, or has no offset."""
    try:
        stamp = datetime.fromisoformat(text)
    except ValueError:
        return None
    if stamp.tzinfo is None:
        return None
    return stamp


def parsed(data: bytes) -> Any:
    """
    Parse JSON of another tool; unlike :func:`benchgate.wire.parsing.read_json`, with a byte order mark and of any size.

    :raises ValueError: it is no JSON, or a key is twice in one object. :raises RecursionError: it is nested too deeply.
    """
    return json.loads(data.decode("utf-8-sig"), object_pairs_hook=unique_keys)


def whole_json(log: LogFile) -> Any:
    """
    Parse a file in one piece.

    :raises Unreadable: it is no JSON, or larger than :data:`MAX_WHOLE`.
    """
    log.file.seek(0)
    data = log.file.read(MAX_WHOLE + 1)
    if len(data) > MAX_WHOLE:
        raise Unreadable(log.path, f"more than {MAX_WHOLE} bytes of JSON in one piece")
    try:
        return parsed(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(log.path, f"no JSON: {error}") from error
