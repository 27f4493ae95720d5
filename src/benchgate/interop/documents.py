"""Where the rows of a JSON file are: one a line, an array of them, or a list or an object of them in one document."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.errors import SampleError, Unreadable, excerpt
from benchgate.interop.log import found_in, lines_of, parsed, whole_json
from benchgate.interop.roles import SCORES
from benchgate.interop.values import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.interop.log import LogFile, Raw

KEY: Final = "key"
"""The field of a row that has its id, where a document has rows by their ids."""

DEEPEST: Final = 4
"""Objects within each other in which lists are looked for."""

MOST_NAMED: Final = 8
"""Lists that a message names."""


class Rows(NamedTuple):
    """
    The rows of a file.

    :param rows: line and fields of each.
    :param at: the field of the document that has them; empty if the file is nothing but rows.
    :param by_id: each has its id in :data:`KEY`.
    """

    rows: Iterator[Raw]
    at: str = ""
    by_id: bool = False


def json_rows(file: LogFile, lists: Sequence[str] | None = None) -> Rows:
    """
    Find the rows of a file.

    :param lists: where a document of its format has rows, ``""`` if it is a row itself; ``None`` if nobody knows.
    :raises Unreadable: it is no JSON, or a document in which no list is, or several are.
    """
    lines = ((number, line) for number, line in lines_of(file) if line.strip())
    first = next(lines, None)
    if first is None:
        return Rows(iter(()))
    start = first[1].removeprefix(b"\xef\xbb\xbf").strip()
    if start == b"{" or start.startswith(b"["):
        return _of_document(file, whole_json(file), lists)
    document = _parsed(file.path, *first)
    second = next(lines, None)
    if _is_document(file, document, lists, is_alone=second is None):
        if second is not None:
            why = "more after a whole document; expected one, or a sample in each line"
            raise SampleError(file.path, why, line=second[0])
        return _of_document(file, document, lists)
    head = [(first[0], document)]
    others = chain(filter(None, (second,)), lines)
    parsed_lines = chain(head, ((n, _parsed(file.path, n, line)) for n, line in others))
    return Rows((n, _object(file.path, row, n)) for n, row in parsed_lines)


def _parsed(path: Path, number: int, line: bytes) -> Any:
    try:
        return parsed(line)
    except (ValueError, RecursionError) as error:
        raise Unreadable(path, f"line {number}: no JSON: {error}") from error


def _is_document(file: LogFile, line: Any, lists: Sequence[str] | None, *, is_alone: bool) -> bool:
    """Say whether a line is a document that has rows, and no row."""
    of_format = [found_in(line, at) for at in lists or ()]
    has_list = any(isinstance(one, list) for one in of_format)
    has_object = is_alone and any(isinstance(one, dict) for one in of_format)
    if file.rows is not None or has_list or has_object:
        return True
    if lists is not None or not is_alone or not isinstance(line, dict):
        return False
    places = _places(line)
    is_row = any(name in line for name in SCORES)
    return len(places) == 1 or (len(places) > 1 and not is_row)


def _of_document(file: LogFile, document: Any, lists: Sequence[str] | None) -> Rows:
    """Return the rows of a document: where somebody says, else where its format has them, else of its only list."""
    path = file.path
    if isinstance(document, dict) and "report_kind" in document:
        raise Unreadable(path, "is a file of benchgate, no log")
    if file.rows is not None:
        return _named(path, document, file.rows)
    if isinstance(document, list):
        return Rows(_objects(path, document))
    of_format = [_rows_in(path, found_in(document, at)) for at in lists or ()]
    found = [one for one in of_format if one is not None]
    if found:
        by_id = any(one.by_id for one in found)
        return Rows(chain.from_iterable(one.rows for one in found), by_id=by_id)
    if lists is not None and "" in lists:
        return Rows(_objects(path, [document]))
    places = _places(document)
    if not places:
        why = "is one JSON object without a list of rows; expected a line or an array element for each sample"
        raise Unreadable(path, why)
    if len(places) > 1:
        longest = max(places, key=places.__getitem__)
        why = f"has several lists of rows: {_listed(places)}; name one: --rows {longest}"
        raise Unreadable(path, why)
    at = next(iter(places))
    rows = _rows_in(path, found_in(document, at) if at else document)
    assert rows is not None  # noqa: S101 - that is what a place is
    return rows._replace(at=at)


def _named(path: Path, document: Any, at: str) -> Rows:
    """Return the rows at a place that somebody named."""
    found = found_in(document, at)
    rows = None if _has_one_list(found) else _rows_in(path, found)
    if rows is None:
        places = _places(document) if isinstance(document, dict) else {}
        there = f"; there are {_listed(places)}" if places else ""
        raise Unreadable(path, f"has no list of rows at {excerpt(at, 60)!r}{there}")
    return rows._replace(at=at)


def _has_one_list(found: Any) -> bool:
    """Say whether an object is but around a list, which is then no case whose trials it has."""
    if not isinstance(found, dict) or len(found) != 1:
        return False
    return isinstance(next(iter(found.values())), list)


def _listed(places: Mapping[str, int]) -> str:
    """Return places with the numbers of their rows, the longest first."""
    ordered = sorted(places.items(), key=lambda one: -one[1])
    texts = [f"{at} ({count})" for at, count in ordered[:MOST_NAMED]]
    if len(ordered) > MOST_NAMED:
        texts.append(f"{len(ordered) - MOST_NAMED} more")
    return ", ".join(texts)


def _rows_in(path: Path, found: Any) -> Rows | None:
    """Return the rows of a list, or of an object that has them by their ids; ``None`` if it is none of the two."""
    if isinstance(found, list):
        return Rows(_objects(path, found))
    if not isinstance(found, dict):
        return None
    values = list(found.values())
    if all(isinstance(one, list) for one in values):
        repeated = ((key, n, row) for key, rows in found.items() for n, row in enumerate(rows, 1))
        rows = ((0, {"trial": n, **_object(path, row), KEY: key}) for key, n, row in repeated)
        return Rows(rows, by_id=True)
    if all(isinstance(one, dict) or one is None for one in values):
        return Rows(((0, {**(row or {}), KEY: key}) for key, row in found.items()), by_id=True)
    if any(isinstance(one, (dict, list)) for one in values):
        return None
    role = "passed"
    if any(_is_number(one) for one in values):
        role = "score"
    return Rows(((0, {KEY: key, role: value}) for key, value in found.items()), by_id=True)


def _places(document: Mapping[str, Any], within: str = "", depth: int = 0) -> dict[str, int]:
    """Return where rows are in a document, and how many; ``""`` stands for the document itself."""
    if _has_objects_by_id(document) or (depth == 0 and _has_results_by_id(document)):
        return {within: len(document)}
    places: dict[str, int] = {}
    for name, value in document.items():
        at = name
        if within:
            at = f"{within}.{name}"
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            places[at] = len(value)
        elif isinstance(value, dict) and depth < DEEPEST:
            places |= _places(value, at, depth + 1)
    return places


def _has_objects_by_id(document: Mapping[str, Any]) -> bool:
    """Say whether all values are objects, and alike: of their fields all share half of those that the smallest has."""
    values = list(document.values())
    if len(values) < 2 or not all(isinstance(one, dict) for one in values):
        return False
    shared = set.intersection(*({*one} for one in values))
    return bool(shared) and 2 * len(shared) >= min(map(len, values))


def _has_results_by_id(document: Mapping[str, Any]) -> bool:
    """Say whether all values are scores, or say that something passed or failed, or nothing."""
    values = [one for one in document.values() if one is not None]
    return len(document) > 1 and bool(values) and all(map(_is_result, values))


def _is_result(value: Any) -> bool:
    is_word = isinstance(value, str) and value.strip().lower() in WORDS
    return is_word or isinstance(value, (bool, int, float))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _objects(path: Path, rows: Iterable[Any]) -> Iterator[Raw]:
    return ((0, _object(path, row)) for row in rows)


def _object(path: Path, row: Any, line: int = 0) -> dict[str, Any]:
    if isinstance(row, dict):
        return row
    where = f"line {line}: " if line else ""
    why = f"{where}expected an object for each sample, not {excerpt(repr(row), 40)}"
    raise Unreadable(path, why)
