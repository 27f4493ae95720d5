"""What somebody says of a log: which field is what, which rows are its samples, and which failures are errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from benchgate.errors import EvalError, LocatedError, excerpt
from benchgate.interop.log import found_in
from benchgate.interop.patterns import Pattern
from benchgate.interop.roles import NONE, ROLES, ROW
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.toml import MAX_TOML_BYTES, read_toml

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from benchgate.interop.log import Log, Row

HARM: Final = ("harm", "safety", "penalty")
"""Roles of which a field may have one: how bad a sample was, apart from its score."""


SIDES: Final = ("A", "B")
"""Baseline and candidate, as the help of ``benchgate gate`` calls them."""

Side = Literal["A", "B"]
MOST_VALUES: Final = 5
"""Values of a field that are said of rows that were not asked for."""
NEXT_ROLE: Final = re.compile(r",(?=\s*(?:[AB]:)?\w+\s*=)")


class Asked(NamedTuple):
    """
    How a log is to be read.

    :param fields: by role; that of a role in ``without`` is left out.
    :param patterns: by role, what finds its value in the text of its field.
    :param without: roles that nothing is read for.
    :param typed: the map as somebody wrote it, and ``source`` where.
    :param where: what a row has that is a sample.
    :param rows: the field that has all rows.
    :param told: what of it a record says.
    :param shown: cases of which the texts are kept.
    """

    fields: Mapping[str, str]
    patterns: Mapping[str, Pattern]
    without: frozenset[str]
    typed: Mapping[str, str]
    source: str
    where: Mapping[str, str]
    rows: str | None
    errors_by: Pattern | None
    told: tuple[str, ...]
    shown: AbstractSet[str] = frozenset()

    @property
    def in_full(self) -> bool:
        """Whether texts are needed that say nothing of a score: to show them, or to see that there are some."""
        return bool(self.shown) or "answer" in self.fields


def asked(
    fields: Mapping[str, str] | Path | None,
    where: Iterable[str],
    errors_by: str | None,
    rows: str | None = None,
    roles: Collection[str] = ROLES,
) -> Asked:
    """
    Return what a reader of rows is asked, such as :func:`benchgate.interop.read`.

    :param roles: those that a map may have.
    :raises EvalError: it is wrong, or a file is unusable.
    """
    source = "--map"
    told = []
    wanted = _pairs(where)
    if isinstance(fields, Path):
        source = str(fields)
        told.append(f"map {source} {sha256_hex(read_bytes(fields, limit=MAX_TOML_BYTES))}")
        fields, of_file, rows_of_file = _table(fields, roles)
        wanted = of_file | wanted
        rows = rows or rows_of_file
    if fields:
        told.append("map " + ",".join(f"{role}={name}" for role, name in fields.items()))
    if rows:
        told.append(f"rows {rows}")
    told += [f"where {name}={value}" for name, value in sorted(wanted.items())]
    if errors_by:
        told.append(f"errors-by {errors_by}")
    typed = dict(fields or {})
    _check_roles(typed, roles)
    # Only of a trial can nothing be read; any other role may have a field of that name.
    without: frozenset[str] = frozenset()
    if typed.get("trial") == NONE:
        without = frozenset({"trial"})
    names, patterns = _fields_of(typed, without, source)
    error_pattern = None
    if errors_by:
        error_pattern = Pattern("errors-by", errors_by)
    return Asked(
        fields=names,
        patterns=patterns,
        without=without,
        typed=typed,
        source=source,
        where=wanted,
        rows=rows or None,
        errors_by=error_pattern,
        told=tuple(told),
    )


def _fields_of(
    typed: Mapping[str, str], without: AbstractSet[str], source: str
) -> tuple[dict[str, str], dict[str, Pattern]]:
    """Return the field of each role, and the pattern of those that are given as ``FIELD~REGEX``."""
    names: dict[str, str] = {}
    patterns: dict[str, Pattern] = {}
    for role, text in typed.items():
        if role in without:
            continue
        names[role], sign, expression = text.partition("~")
        if sign:
            patterns[role] = _pattern(f"{source}: {role}", expression)
    return names, patterns


def _check_roles(fields: Iterable[str], roles: Collection[str]) -> None:
    """Refuse a map that names a role which is none."""
    unknown = sorted({*fields} - {*roles})
    if unknown:
        raise EvalError(f"map: {unknown[0]!r} is none of {', '.join(roles)}")


def _pattern(what: str, text: str) -> Pattern:
    pattern = Pattern(what, text)
    if not pattern.groups:
        why = f"'{text}' has no group; expected (...) around what is the value, as in name~(\\d+)$"
        raise EvalError(f"{what}: {why}")
    return pattern


def _pairs(where: Iterable[str]) -> dict[str, str]:
    """Return the value that each field of a row must have; two values of one field are refused."""
    rows: dict[str, str] = {}
    for word in where:
        name, value = _pair("where", word)
        before = rows.setdefault(name, value)
        if before != value:
            why = f"{name} is given twice, as {before} and as {value}, which no row can have"
            raise EvalError(f"where: {why}")
    return rows


def _pair(what: str, word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign or not name.strip() or (what == "map" and not value):
        expected = "FIELD=VALUE"
        if what == "map":
            expected = "ROLE=FIELD, each role once, or FILE.toml"
        raise EvalError(f"{what}: {word!r}; expected {expected}")
    return name.strip(), value.strip()


def _table(path: Path, roles: Collection[str]) -> tuple[dict[str, str], dict[str, str], str | None]:
    """Return the fields by role of a TOML file, its table ``where``, and its ``rows``."""
    table, lines = read_toml(path, LocatedError)
    where: dict[str, str] = {}
    if isinstance(table.get("where"), dict):
        where = table.pop("where")
    rows = None
    if isinstance(table.get("rows"), str):
        rows = table.pop("rows")
    for parts, prefix in ((table, ()), (where, ("where",))):
        for name, value in parts.items():
            if not isinstance(value, str) or not (prefix or name in roles):
                why = f"{name} = {value!r}; expected FIELDs in quotes of {', '.join(roles)}, rows, and [where]"
                raise LocatedError(path, why, line=lines.key(*prefix, name))
    return table, where, rows


def of_side(words: Iterable[str], side: Side) -> list[str]:
    """Return what is said of both sides, and, without its ``A:`` or ``B:``, of one."""
    found = []
    for word in words:
        whose, sign, said_of_it = word.strip().partition(":")
        if not sign or whose not in SIDES:
            found.append(word)
        elif whose == side:
            found.append(said_of_it)
    return found


def parse_rows(texts: Iterable[str]) -> str | None:
    """Return the field that has the rows; :raises EvalError: there are two."""
    fields = list(dict.fromkeys(texts))
    if len(fields) > 1:
        raise EvalError(f"rows: {fields[0]} and {fields[1]}; expected one field for a side")
    if not fields:
        return None
    return fields[0]


def parse_map(texts: Iterable[str], side: Side = "A") -> dict[str, str] | Path:
    """
    Parse ``case=id,score=resolved``, given once or in parts, or the name of a TOML file.

    :param side: of which it is; what is after the name of the other one does not count.
    :raises EvalError: it is none of the two, there are two files, or a role is given twice.
    """
    # Not at the comma of a field such as acc,none.
    parts = [part for text in texts if text for part in NEXT_ROLE.split(text)]
    given = of_side(parts, side)
    files = [text for text in given if text.endswith(".toml") and "=" not in text]
    if files and len(given) > 1:
        raise EvalError(f"map: {files[0]} says all; give that file alone, or ROLE=FIELD")
    if files:
        return Path(files[0])
    pairs: dict[str, str] = {}
    for part in given:
        role, name = _pair("map", part)
        if role in pairs:
            raise EvalError(f"map: {part!r}; expected ROLE=FIELD, each role once")
        pairs[role] = name
    return pairs


def role_of_harm(fields: Mapping[str, str], metric: str | None) -> str:
    """Return which of :data:`HARM` a map names; a map that cannot be is refused."""
    if "score" in fields and metric is not None:
        raise EvalError("metric and the score of the map name one thing: give one of them")
    roles = [role for role in HARM if role in fields]
    if len(roles) > 1:
        raise EvalError(f"map: {roles[0]} and {roles[1]} name one thing: give one of them")
    if not roles:
        return "penalty"
    return roles[0]


def chosen(log: Log, how: Asked, left: Counter[str]) -> Iterator[Row]:
    """Yield the rows of a log that are samples; count in ``left`` the others, by why they are none."""
    wanted = {**log.layout.where, **how.where}
    is_case = how.fields.get("case") == ROW
    seen: dict[str, set[str]] = {}
    for number, row in enumerate(log.rows, 1):
        lacks = next((one for one in wanted.items() if said(row.fields, one[0]) != one[1]), None)
        if lacks is None:
            fields = row.fields
            if is_case:
                fields = {ROW: number, **fields}
            yield row._replace(number=number, fields=fields)
        else:
            field, value = lacks
            why = f"{field} is not {value or 'empty'}"
            if field in how.where:
                why += _value(row, field, seen.setdefault(field, set()))
            left[why] += 1


def _value(row: Row, field: str, seen: set[str]) -> str:
    """Return which value a row has instead, for the first few that there are: one of them may have been meant."""
    value = said(row.fields, field)
    if len(seen) < MOST_VALUES:
        seen.add(value)
    if not value or value not in seen:
        return ""
    return f" but {excerpt(value, 60)}"


def said(row: Any, name: str) -> str:
    """Return the value of a field as a command line has it; ``""`` of none."""
    value = found_in(row, name)
    if value is None or value == []:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
