"""What somebody says of a log: which field is what, which rows are its samples, and which failures are errors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError, SampleError
from benchgate.interop.log import ROLES, found_in
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.toml import MAX_TOML_BYTES, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.interop.log import Log, Row

HARM: Final = ("harm", "safety", "penalty")
"""Roles of which a field may have one: how bad a sample was, apart from its score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """
    How a log is to be read, where not as its format is.

    :param fields: by role, and ``source``, which says so.
    :param where: what a row must have to be a sample: the value of each of these fields, ``""`` for none.
    :param errors_by: a failed test whose message matches is an error.
    :param told: what of it a record says.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    source: str = "--map"
    where: Mapping[str, str] = field(default_factory=dict)
    errors_by: re.Pattern[str] | None = None
    told: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        fields: Mapping[str, str] | Path | None = None,
        where: Iterable[str] = (),
        errors_by: str | None = None,
    ) -> Asked:
        """
        Return what is asked by options.

        :param fields: by role, or a TOML file with them and with a table ``where``.
        :raises SampleError: the file cannot be used. :raises EvalError: an option is wrong.
        """
        source, told, rows = "--map", [], dict(map(_pair, where))
        if isinstance(fields, Path):
            source, digest, (fields, of_file) = str(fields), _digest(fields), _table(fields)
            rows = of_file | rows
            told.append(f"map {source} {digest}")
        told += [f"where {name}={value}" for name, value in sorted(rows.items())]
        try:
            pattern = re.compile(errors_by) if errors_by else None
        except re.error as error:
            raise EvalError(f"errors-by: {errors_by!r} is no regular expression: {error}") from None
        told += [f"errors-by {errors_by}"] if errors_by else []
        return cls(
            fields=dict(fields or {}),
            source=source,
            where=rows,
            errors_by=pattern,
            told=tuple(told),
        )


def _pair(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign or not name.strip():
        raise EvalError(f"where: {word!r}; expected FIELD=VALUE")
    return name.strip(), value


def _digest(path: Path) -> str:
    return sha256_hex(read_bytes(path, limit=MAX_TOML_BYTES))


def _table(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the fields by role of a TOML file, and its table ``where``."""
    table, lines = read_toml(path, SampleError)
    where = table.pop("where") if isinstance(table.get("where"), dict) else {}
    places: list[tuple[tuple[str, ...], Any]] = [((role,), name) for role, name in table.items()]
    places += [(("where", key), value) for key, value in where.items()]
    for place, value in places:
        if not isinstance(value, str) or (len(place) == 1 and place[0] not in ROLES):
            why = f"{'.'.join(place)} = {value!r}; expected ROLE = 'FIELD', of {', '.join(ROLES)}, or [where]"
            raise SampleError(path, why, line=lines.key(*place))
    return table, where


def parse_map(text: str) -> dict[str, str] | Path:
    """
    Parse ``case=id,score=resolved``, or the name of a file.

    :raises EvalError: a part is no pair, or names something twice.
    """
    if text.endswith(".toml") and "=" not in text:
        return Path(text)
    pairs: dict[str, str] = {}
    # Not at the comma of a field such as acc,none.
    for part in re.split(r",(?=\s*\w+\s*=)", text) if text else ():
        role, sign, name = part.partition("=")
        if not sign or not name or role.strip() in pairs:
            raise EvalError(f"map: {part!r}; expected ROLE=FIELD, each role once, or FILE.toml")
        pairs[role.strip()] = name.strip()
    return pairs


def role_of_harm(fields: Mapping[str, str], metric: str | None) -> str:
    """Return which of :data:`HARM` a map names; a map that cannot be is refused."""
    unknown = sorted(fields.keys() - {*ROLES})
    if unknown:
        raise EvalError(f"map: {unknown[0]!r} is none of {', '.join(ROLES)}")
    if "score" in fields and metric is not None:
        raise EvalError("metric and the score of the map name one thing: give one of them")
    roles = [role for role in HARM if role in fields]
    if len(roles) > 1:
        raise EvalError(f"map: {roles[0]} and {roles[1]} name one thing: give one of them")
    return roles[0] if roles else "penalty"


class Chosen:
    """The rows of a log that are samples, and how many are none."""

    def __init__(self, log: Log, where: Mapping[str, str]) -> None:
        self._rows = log.rows
        self._where = {**log.where, **where}
        self.left: dict[str, int] = {}

    def __iter__(self) -> Any:
        for line, row in self._rows:
            other = next((one for one in self._where.items() if _said(row, one[0]) != one[1]), None)
            if other is None:
                yield line, row
            else:
                why = "=".join(other)
                self.left[why] = self.left.get(why, 0) + 1


def _said(row: Mapping[str, Any], name: str) -> str:
    """Return the value of a field as it is written on a command line; ``""`` of none."""
    value = found_in(row, name)
    if value is None or value == []:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def failure_of(row: Mapping[str, Any], errors_by: re.Pattern[str] | None) -> Any:
    """Return the text of a failure that counts as an error; ``None`` if it does not."""
    text = row.get("failure")
    return text if errors_by and isinstance(text, str) and errors_by.search(text) else None
