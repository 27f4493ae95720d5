"""Reads rows that are to be cases: JSON, JSON lines and CSV, with the fields that somebody maps."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError, Fault, LocatedError, SampleError, Unreadable, excerpt
from benchgate.interop.asked import asked, chosen
from benchgate.interop.documents import json_rows
from benchgate.interop.fields import Fields
from benchgate.interop.formats import Beginning
from benchgate.interop.kinds import FieldNeeded, kinds_of
from benchgate.interop.log import Layout, found_in, open_file, whole_json
from benchgate.interop.roles import CASE_ROLES
from benchgate.interop.tables import open_csv, table
from benchgate.loader.from_rows import CaseRow, at_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.interop.asked import Asked
    from benchgate.interop.log import Log, LogFile, Row

FIELDS: Final = {
    "input": ("input", "inputs"),
    "expected": ("expected", "expected_output", "target"),
}
"""The fields of a role that nobody names; the second ones are those of a dataset of pydantic-evals."""

MUST_HAVE: Final = ("case", *FIELDS)


def read_rows(
    path: Path,
    fields: Mapping[str, str] | Path | None = None,
    rows: str | None = None,
    where: Iterable[str] = (),
) -> list[CaseRow]:
    """
    Read rows, each of which is to be a case.

    :param fields: the field of each role, as :func:`benchgate.interop.read` takes them.
    :param rows: the field of a JSON document that has the rows. :param where: ``FIELD=VALUE`` that a row must have.
    :raises LocatedError: with each row that lacks an id, an input or an answer, or has the id of another.
    :raises EvalError: the file, or what was said of it, cannot be used.
    """
    how = asked(fields, where, None, rows, CASE_ROLES)
    with _opened(path, how) as log:
        reader = _Reader(log, how)
        found = [reader.read(row) for row in chosen(log, how, Counter())]
    lacking = [role for role in (*MUST_HAVE, *how.fields) if not reader.fields.is_seen(role)]
    if found and lacking:
        with _opened(path, how) as log:
            raise FieldNeeded(path, f"{_unknown(lacking[0], how)}; {kinds_of(log)}")
    if reader.faults:
        raise LocatedError(path, reader.faults)
    if not found:
        raise SampleError(path, "has no rows")
    return [row for row in found if row is not None]


def _unknown(role: str, how: Asked) -> str:
    if role in how.fields:
        return f"no row has {how.typed[role]!r}, which is to be the {role}"
    question = f"which field is the {role}? Name it: --map {role}=FIELD"
    if role == "case":
        return f"{question} (case=row takes the number of the row)"
    return question


@contextmanager
def _opened(path: Path, how: Asked) -> Iterator[Log]:
    with open_file(path, rows=how.rows) as file:
        head = Beginning.of(path.name, file.head)
        if not head.head.strip():
            raise SampleError(path, "is empty")
        if head.head.lstrip().startswith((b"<", b"PK")):
            raise SampleError(path, "is none of these: JSON, JSON lines, CSV")
        yield _log(file, head, how)


def _log(file: LogFile, head: Beginning, how: Asked) -> Log:
    if not head.is_json and file.rows is not None:
        raise SampleError(file.path, "is CSV; --rows is for JSON")
    if not head.is_json:
        log = open_csv(file)
    elif file.rows is None and head.keys >= {"cases", "inputs"}:
        # A dataset of pydantic-evals, which has a list of evaluators too.
        log = table("json", json_rows(file, ("cases",)))
    elif _is_one_row(file, how):
        log = table("json", json_rows(file, ()))
    else:
        log = table("json", json_rows(file))
    return replace(log, layout=Layout(fields={**FIELDS, "case": log.layout.fields["case"]}))


def _is_one_row(file: LogFile, how: Asked) -> bool:
    """Say whether a file is one row, by the fields that somebody named: its list may be the messages of a chat."""
    others = file.head.partition(b"\n")[2].strip()
    if others or len(how.fields) < len(MUST_HAVE) or file.rows is not None:
        return False
    try:
        row = whole_json(file)
    except Unreadable:
        return False
    finally:
        file.file.seek(0)
    return isinstance(row, dict) and all(
        found_in(row, name) is not None for name in how.fields.values()
    )


class _Reader:
    """Makes rows of a file those of cases, and keeps what is wrong with them."""

    def __init__(self, log: Log, how: Asked) -> None:
        self.fields = Fields(log, how, None)
        self.faults: list[Fault] = []
        self._seen: dict[str, str] = {}

    def read(self, row: Row) -> CaseRow | None:
        """Return a row as that of a case; ``None`` if it cannot be one."""
        values = {role: self._value(row, role) for role in CASE_ROLES}
        try:
            found = CaseRow(
                line=row.line,
                number=row.number,
                id=_text("case", values["case"]),
                input=values["input"],
                expected=values["expected"],
                tags=_tags(values["tag"]),
                cluster=_text("cluster", values["cluster"]) or None,
            )
        except EvalError as error:
            self.faults.append(at_row(row.line, row.number, str(error)))
            return None
        faults = [found.fault(fault) for fault in self._faults(found)]
        self.faults += faults
        return None if faults else found

    def _value(self, row: Row, role: str) -> Any:
        """Return what a row has in a role; ``None`` of an empty cell too."""
        value = self.fields.value(row.fields, role)
        if value == "":
            return None
        return value

    def _faults(self, row: CaseRow) -> Iterator[str]:
        shown = excerpt(row.id, 60)
        if not row.id:
            yield f"has no id{self._named('case')}"
        elif row.id in self._seen:
            yield f"id {shown!r} is that of {self._seen[row.id]} too"
        else:
            self._seen[row.id] = row.place
        for role in FIELDS:
            if getattr(row, role) is None:
                yield f"{shown} has no {role}{self._named(role)}".strip()

    def _named(self, role: str) -> str:
        """Return the fields that a value was looked for in."""
        fields = " or ".join(dict.fromkeys(self.fields.of(role)))
        if not fields:
            return ""
        return f" ({fields})"


def _text(role: str, value: Any) -> str:
    """Return a text or a number as text; empty if there is none."""
    if isinstance(value, dict):
        raise EvalError(f"its {role} is an object: name a field of it by a dot")
    if isinstance(value, list):
        raise EvalError(f"its {role} is a list")
    if value is None:
        return ""
    return str(value).strip()


def _tags(value: Any) -> tuple[str, ...]:
    """Return one tag, or those of a list."""
    if not isinstance(value, list):
        value = [value]
    texts = [_text("tag", part) for part in value]
    return tuple(dict.fromkeys(text for text in texts if text))
