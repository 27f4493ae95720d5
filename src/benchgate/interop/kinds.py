"""The kinds of rows that a log has: what a message offers if nobody knows which field is what."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import SampleError, counted, printable
from benchgate.interop.asked import said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.interop.log import Log

MOST_ROWS: Final = 10_000
MOST_KINDS: Final = 6
MOST_FIELDS: Final = 16
MOST_VALUES: Final = 8
"""Rows that are looked at; kinds, and fields of each, that are named; values of a field that are kept."""

TYPES: Final = ("type", "kind", "event")
"""Fields that say of which kind a row is."""

WORD: Final = re.compile(r"[\w.:/@-]{1,40}")
"""A value that is typed without quotes."""

MADE: Final = ("scores", "measured")
"""Fields that a reader put into a row; what is in them is offered by its own name."""


class FieldNeeded(SampleError):
    """A log of which nobody knows what its fields say; the message has a line for each kind of its rows."""

    _keep = "\n"


class Kind:
    """Rows that have the same fields: how many there are, and the first values of each field."""

    def __init__(self) -> None:
        self.count = 0
        self.values: dict[str, set[str]] = {}

    def add(self, fields: Mapping[str, Any]) -> None:
        """Count one more."""
        self.count += 1
        for name in fields:
            values = self.values.setdefault(name, set())
            if len(values) < MOST_VALUES:
                values.add(said(fields, name))

    def may_say(self, name: str, value: str) -> bool:
        """Say whether a row of this kind may have a value in a field."""
        values = self.values.get(name, set())
        return value in values or len(values) == MOST_VALUES


def kinds_of(log: Log) -> str:
    """Return which fields the rows of a log have, which was opened anew, so that its first rows are seen too."""
    kinds = _kinds(log)
    if len(kinds) < 2:
        return f"there are {', '.join(_shown(next(iter(kinds), ())))}"
    ordered = sorted(kinds.items(), key=lambda one: -one[1].count)
    lines = [f"its rows are of {len(kinds)} kinds, and --where FIELD=VALUE reads a part:"]
    for names, kind in ordered[:MOST_KINDS]:
        line = f"  {counted(kind.count, 'row')} with {', '.join(_shown(names))}"
        telling = _telling(kind, [other for other in kinds.values() if other is not kind])
        if telling is not None:
            line += f": --where {telling}"
        lines.append(line)
    if len(ordered) > MOST_KINDS:
        lines.append(f"  {len(ordered) - MOST_KINDS} more kinds")
    return "\n".join(lines)


def _kinds(log: Log) -> dict[tuple[str, ...], Kind]:
    """Return the kinds of the first rows, by their fields."""
    kinds: dict[tuple[str, ...], Kind] = {}
    for row in islice(log.rows, MOST_ROWS):
        metrics = [name.removeprefix(log.metric_prefix) for name in row.metrics]
        fields = dict(_flat(row.fields))
        names = tuple(dict.fromkeys((*metrics, *fields)))
        kinds.setdefault(names, Kind()).add(fields)
    return kinds


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a row, and those of objects in it, as --map names them."""
    for name, value in row.items():
        if name in MADE:
            continue
        if isinstance(value, dict) and value:
            yield from ((f"{name}.{inner}", part) for inner, part in value.items())
        else:
            yield name, value


def _shown(names: Iterable[str]) -> list[str]:
    every = [printable(name) for name in names]
    if len(every) > MOST_FIELDS:
        return [*every[:MOST_FIELDS], f"{len(every) - MOST_FIELDS} more"]
    return every


def _telling(kind: Kind, others: Iterable[Kind]) -> str | None:
    """Return ``FIELD=VALUE`` that all rows of a kind have, and no row of another; ``None`` if there is none."""
    if kind.count < 2:
        return None
    # First what is there to tell kinds apart; an id is that of a run, and another one in the other log.
    names = [name for name in kind.values if not name.lower().endswith("id")]
    for name in sorted(names, key=lambda name: name not in TYPES):
        values = kind.values[name]
        value = next(iter(values))
        is_told = len(values) == 1 and WORD.fullmatch(name) and WORD.fullmatch(value)
        if is_told and not any(other.may_say(name, value) for other in others):
            return f"{name}={value}"
    return None
