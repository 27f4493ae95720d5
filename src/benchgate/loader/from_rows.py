"""Makes rows of a table the cases of a class: the folder of each, and what is new or changed since it was made."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import tomli

from benchgate.errors import BenchCaseLoadError, Fault, LocatedError, Unreadable
from benchgate.loader.case_folder import CASE_FILE, folder_names
from benchgate.loader.case_toml import check_case_toml, id_faults, read_case_toml
from benchgate.loader.new import case_toml
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import MAX_TREE_BYTES, read_bytes
from benchgate.wire.model import MAX_ENTRIES, MAX_NAME, banned_token, check_text
from benchgate.wire.toml import MAX_TOML_BYTES, KeyLines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

LONGEST: Final = 64
STEM: Final = 40
"""Most characters of the name of a case, and of an id in a name that ends with its digest."""

ROW_ID: Final = "id"
"""The key of ``[facts]`` that has the id of a row, where the folder cannot have that name."""

PARTS: Final = ("input", "expected")


class CaseRow(NamedTuple):
    """
    A row that is to be a case.

    :param line: in its file, 0 if it has none; ``number`` is that among the rows, from 1.
    """

    line: int
    number: int
    id: str
    input: Any
    expected: Any
    tags: tuple[str, ...] = ()
    cluster: str | None = None

    def fault(self, message: str) -> Fault:
        """Return what is wrong with it, as errors of its file list it."""
        return at_row(self.line, self.number, message)

    @property
    def place(self) -> str:
        """Where it is in its file."""
        return f"line {self.line}" if self.line else f"row {self.number}"


def at_row(line: int, number: int, message: str) -> Fault:
    """Return what is wrong with a row, at its line, else with its number."""
    if line:
        return line, "", message
    return 0, f"row {number}", message


class Changed(NamedTuple):
    """A row of which there is a case that has something else."""

    row: CaseRow
    case_id: str
    what: tuple[str, ...]


class CasesOfRows(NamedTuple):
    """
    What rows are to a class.

    :param new: the files of each case to be made, by its id and by their path in its folder.
    :param changed: those that are not what their case has.
    :param same: how many are.
    """

    new: Mapping[str, Mapping[str, str]]
    changed: tuple[Changed, ...]
    same: int


def cases_of_rows(
    path: Path, rows: Iterable[CaseRow], class_path: Path, *, now: datetime
) -> CasesOfRows:
    """
    Compare rows with the cases of a class, which may not be there yet.

    :param path: the file that the rows are from.
    :raises LocatedError: with each row that cannot be a case.
    """
    there = _Cases(class_path)
    new: dict[str, Mapping[str, str]] = {}
    changed = []
    faults = []
    same = 0
    for row in rows:
        case_id = there.case_of(row.id)
        if case_id is not None:
            what = tuple(_differences(row, class_path / "cases" / case_id, class_path.name))
            if what:
                changed.append(Changed(row, case_id, what))
            same += not what
            continue
        case_id = there.add(row.id)
        try:
            new[case_id] = _texts(row, class_path, case_id, now)
        except ValueError as error:
            faults.append(row.fault(str(error)))
        except BenchCaseLoadError as error:
            faults += [row.fault(f"{key}: {message}") for _, key, message in error.faults]
    if faults:
        raise LocatedError(path, faults)
    return CasesOfRows(new, tuple(changed), same)


def has_rows(class_path: Path) -> bool:
    """Say whether a case of a class is made from a row."""
    cases = (class_path / "cases" / name for name in folder_names(class_path))
    return any(_value(case / "input", "input") is not None for case in cases)


class _Cases:
    """The cases of a class by the ids of their rows: the name of a folder, unless its case says another one."""

    def __init__(self, class_path: Path) -> None:
        self._of_row: dict[str, str] = {}
        self._named: set[str] = set()
        self._taken = {*folder_names(class_path)}
        for name in self._taken:
            row_id = _row_id(class_path / "cases" / name)
            if row_id is None:
                self._named.add(name)
            self._of_row[row_id or name] = name

    def case_of(self, row_id: str) -> str | None:
        """Return the case that is made from a row; ``None`` if there is none yet."""
        found = self._of_row.get(row_id)
        if found is None and case_name(row_id) in self._named:
            return case_name(row_id)
        return found

    def add(self, row_id: str) -> str:
        """Return the name of the case of a row that is new."""
        name = case_name(row_id)
        if name in self._taken:
            name = _with_digest(name, row_id)
        self._taken.add(name)
        self._of_row[row_id] = name
        return name


def _row_id(folder: Path) -> str | None:
    """Return the id of its row that a case says; ``None`` if it says none, or cannot be read."""
    try:
        tables, _ = read_case_toml(folder / CASE_FILE, folder.parents[1].name)
    except (BenchCaseLoadError, Unreadable):
        return None
    found = tables.facts.get(ROW_ID)
    return found if isinstance(found, str) else None


def case_name(row_id: str) -> str:
    """
    Return what the case of a row is called: its id, as far as the name of a folder can have it.

    Where more is lost than capital letters and signs, the name ends with a digest of the id.
    """
    plain = unicodedata.normalize("NFKD", row_id).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9_-]+", "-", plain).strip("-_")
    is_name = 0 < len(name) <= LONGEST and not any(id_faults(name))
    return name if is_name and row_id.isascii() else _with_digest(name, row_id)


def _with_digest(name: str, row_id: str) -> str:
    stem = name[:STEM].strip("-_") or "case"
    return f"{stem}-{sha256_hex(row_id.encode(errors='surrogatepass'))[:8]}"


def _texts(row: CaseRow, class_path: Path, case_id: str, now: datetime) -> dict[str, str]:
    """
    Return the files of a new case.

    :raises ValueError: a value of the row cannot be in a file. :raises BenchCaseLoadError: it is no valid case.
    """
    labels: dict[str, Any] = {"tags": list(row.tags)}
    if row.cluster is not None:
        labels["cluster"] = row.cluster
    facts = {} if case_id == row.id else {ROW_ID: row.id}
    for text in (row.id, *row.tags, row.cluster or ""):
        check_text(text)
    text = case_toml(class_path.name, case_id, now, facts, labels)
    size = len(text.encode())
    if size > MAX_TOML_BYTES:
        raise ValueError(f"its {CASE_FILE} would have {size} bytes; at most {MAX_TOML_BYTES}")
    path = class_path / "cases" / case_id / CASE_FILE
    check_case_toml(path, tomli.loads(text), KeyLines(text), task_class=class_path.name)
    _check_axes(row.expected)
    return {
        CASE_FILE: text,
        **_file("input", row.input),
        **_file("expected", row.expected),
    }


def _file(part: str, value: Any) -> dict[str, str]:
    """Return the file that has a value: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return {f"{part}/{part}.txt": check_text(value)}
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    except (ValueError, RecursionError):
        message = f"{part}: is no JSON: it has a number that is not finite, or is nested too deeply"
        raise ValueError(message) from None
    return {f"{part}/{part}.json": check_text(text) + "\n"}


def _check_axes(expected: Any) -> None:
    """Refuse an answer whose fields cannot be axes of a score, as the rubric of the class has them."""
    fields = expected if isinstance(expected, dict) else ()
    if len(fields) > MAX_ENTRIES:
        raise ValueError(f"expected: has {len(fields)} fields; at most {MAX_ENTRIES} are compared")
    for name in fields:
        token = banned_token(name)
        if token is not None or len(name) > MAX_NAME:
            why = f"has more than {MAX_NAME} characters"
            if token is not None:
                why = f"contains {token!r}, and a score is never a self-assessment"
            raise ValueError(
                f"expected: its field {name[:60]!r} {why}; name one field: expected=FIELD.NAME"
            )


def _differences(row: CaseRow, folder: Path, task_class: str) -> Iterator[str]:
    """Yield what of a row is not what its case has."""
    for part in PARTS:
        if _value(folder / part, part) != (getattr(row, part),):
            yield part
    try:
        case = read_case_toml(folder / CASE_FILE, task_class)[0].case
    except (BenchCaseLoadError, Unreadable):
        yield CASE_FILE
        return
    if not {*row.tags} <= {*case.tags}:
        yield "tag"
    if row.cluster not in (None, case.cluster):
        yield "cluster"


def _value(folder: Path, part: str) -> tuple[Any] | None:
    """Return the value that a case has in one of its parts; ``None`` if nothing there is made from a row."""
    try:
        if (folder / f"{part}.txt").is_file():
            return (read_bytes(folder / f"{part}.txt", limit=MAX_TREE_BYTES).decode(),)
        return (json.loads(read_bytes(folder / f"{part}.json", limit=MAX_TREE_BYTES)),)
    except (Unreadable, ValueError):
        return None
