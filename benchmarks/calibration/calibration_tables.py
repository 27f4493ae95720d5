"""The tables of docs/explanation/error-rates.md, made from the counts in calibration.json."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from further_tables import further_tables
from shares import percent, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = {
    False: ("welch", "z", "raw Welch", "BCa"),
    True: ("welch", "auto", "exact", "z", "raw Welch", "BCa"),
}
HEADS = {"welch": "`welch`", "auto": "`auto`", "exact": "`exact`", "z": "z = 1.96"}
BOUNDS = ("Gaffke", "Clopper-Pearson", "Wald (z)", "Student t", "BCa")


def tables(results: dict[str, Any]) -> list[str]:
    """Return the tables in the order of the page; one of a kind of rows that was not measured is left out."""
    return [
        *(_comparison(results, "error", paired=paired) for paired in (False, True)),
        *(_comparison(results, "power", paired=paired) for paired in (False, True)),
        _coverage(results),
        *further_tables(results),
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
    return table_of(["scenario", "n", *gain], [HEADS.get(c, c) for c in columns], rows)


def _coverage(results: dict[str, Any]) -> str:
    reps = results["repetitions"]["coverage"]
    rows = (
        [row["law"], str(row["n"]), *_shares(row["covered"], reps)]
        for row in results["rows"]
        if row["what"] == "coverage"
    )
    return table_of(["scores", "n"], list(BOUNDS), rows)


def _shares(covered: dict[str, int], reps: int) -> Iterator[str]:
    for bound in BOUNDS:
        yield percent(covered[bound], reps, 1) if bound in covered else "-"
