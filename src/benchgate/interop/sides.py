"""What each of two logs was asked alone, and that no row is on both sides: one file may have both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.errors import SampleError, counted
from benchgate.interop.asked import HARM
from benchgate.interop.roles import IN_ONE_FILE
from benchgate.wire.files import is_same_file

if TYPE_CHECKING:
    from benchgate.interop.log import Samples

RESULTS: Final = ("score", "passed", "error", *HARM)
"""Roles of which a field says how a sample did."""


def own(log: Samples, other: Samples) -> tuple[str, ...]:
    """Return what was asked of a log and not of the other one: where its rows are, which they are, its fields."""
    rows = [said.partition(" ")[2] for said in _told(log) if said not in other.told]
    fields = [f"{role}={name}" for role, name in log.map.items() if other.map.get(role) != name]
    return (*rows, *fields)


def apart(before: Samples, after: Samples) -> frozenset[str]:
    """Return the roles of which somebody named a field for each side, and which rows were asked of one side alone."""
    rows = {*_told(before)} ^ {*_told(after)}
    roles = {role for role in RESULTS if _has_two_fields(before, after, role)}
    return frozenset(rows | roles)


def check_apart(before: Samples, after: Samples) -> None:
    """
    Refuse a row that is on both sides: compared with itself, it cannot lose.

    :raises SampleError: both are of one file, their results are read of the same fields, and they share a row.
    """
    if not is_same_file(before.path, after.path) or before.header.rows_at != after.header.rows_at:
        return
    if before.metric != after.metric:
        return
    if any(before.map.get(role) != after.map.get(role) for role in RESULTS):
        return
    shared = before.rows & after.rows
    if shared:
        what = f"{counted(len(shared), 'row')} of it would be on both sides, the first is row {min(shared)}"
        raise SampleError(before.path, f"{what}: no loss could show there; {IN_ONE_FILE}")


def _told(log: Samples) -> list[str]:
    return [said for said in log.told if not said.startswith("map ")]


def _has_two_fields(before: Samples, after: Samples, role: str) -> bool:
    fields = (before.map.get(role), after.map.get(role))
    return None not in fields and fields[0] != fields[1]
