"""The tables of docs/explanation/statistics.md, made from the counts in calibration.json."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COLUMNS = {
    False: ("welch", "z", "raw Welch", "BCa"),
    True: ("welch", "auto", "exact", "z", "raw Welch", "BCa"),
}
HEADS = {"welch": "`welch`", "auto": "`auto`", "exact": "`exact`", "z": "z = 1.96"}
BOUNDS = ("Gaffke", "Clopper-Pearson", "Wald (z)", "Student t", "BCa")


def tables(results: dict[str, Any]) -> list[str]:
    """Return the five tables in the order of the page."""
    return [
        *(_comparison(results, "error", paired=paired) for paired in (False, True)),
        *(_comparison(results, "power", paired=paired) for paired in (False, True)),
        _coverage(results),
    ]


def put_into(page: str, results: dict[str, Any]) -> str:
    """Return the page with its tables replaced; each is found by its head."""
    for table in tables(results):
        head = "\n".join(table.splitlines()[:2])
        old = re.compile(rf"^{re.escape(head)}(?:\n\|.*)*$", re.MULTILINE)
        page, count = old.subn(table.replace("\\", r"\\"), page)
        if count != 1:
            raise ValueError(f"{count} tables on the page have the head {head!r}; expected 1")
    return page


def percent(count: int, repetitions: int, digits: int) -> str:
    """Return a share in percent, with as many digits as its table shows."""
    return f"{100 * count / repetitions:.{digits}f}"


def _comparison(results: dict[str, Any], what: str, *, paired: bool) -> str:
    # A tenth of a point is less than the error of a share of 50 % in 1000 repetitions.
    digits = 1 if what == "error" else 0
    columns, reps = COLUMNS[paired], results["repetitions"][what]
    gain = ["gain"] if what == "power" else []
    rows = (
        [
            row["scenario"],
            str(row["n"]),
            *([f"+{row['gain']:g}"] if gain else []),
            *(percent(row["promoted"][column], reps, digits) for column in columns),
        ]
        for row in results["rows"]
        if row["what"] == what and row["paired"] == paired
    )
    return _table(["scenario", "n", *gain], [HEADS.get(c, c) for c in columns], rows)


def _coverage(results: dict[str, Any]) -> str:
    reps = results["repetitions"]["coverage"]
    rows = (
        [row["law"], str(row["n"]), *_shares(row["covered"], reps)]
        for row in results["rows"]
        if row["what"] == "coverage"
    )
    return _table(["scores", "n"], list(BOUNDS), rows)


def _shares(covered: dict[str, int], reps: int) -> Iterator[str]:
    for bound in BOUNDS:
        yield percent(covered[bound], reps, 1) if bound in covered else "-"


def _table(labels: list[str], columns: list[str], rows: Iterable[list[str]]) -> str:
    rule = ["---"] * len(labels) + ["---:"] * len(columns)
    lines = [f"| {' | '.join([*labels, *columns])} |", f"|{'|'.join(rule)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
