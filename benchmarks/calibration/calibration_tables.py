"""The tables of docs/explanation/error-rates.md and of tables.md, made from the counts in calibration.json."""

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
UNSEEN = "pair rare break"
BOUNDS = ("Gaffke", "Clopper-Pearson", "Wald (z)", "Student t", "BCa")


def tables(results: dict[str, Any]) -> list[str]:
    """Return the tables of all pages; one of a kind of rows that was not measured is left out."""
    return [
        *(_largest(results, paired=paired) for paired in (False, True)),
        *(_comparison(results, "error", paired=paired) for paired in (False, True)),
        *(_comparison(results, "power", paired=paired) for paired in (False, True)),
        _coverage(results),
        *further_tables(results),
    ]


def put_into(pages: list[str], results: dict[str, Any]) -> list[str]:
    """Return the pages with their tables replaced; each is on one page, and found by its head."""
    for table in tables(results):
        head = "\n".join(table.splitlines()[:2])
        old = re.compile(rf"^{re.escape(head)}(?:\n\|.*)*$", re.MULTILINE)
        count = sum(len(old.findall(page)) for page in pages)
        if count != 1:
            raise ValueError(f"{count} tables on the pages have the head {head!r}; expected 1")
        pages = [old.sub(table.replace("\\", r"\\"), page) for page in pages]
    return pages


def _largest(results: dict[str, Any], *, paired: bool) -> str:
    """Return the largest error of each column by the number of cases, without the break that no test can see."""
    columns, reps = COLUMNS[paired], results["repetitions"]["error"]
    rows = [
        row
        for row in results["rows"]
        if row["what"] == "error" and row["paired"] == paired and row["scenario"] != UNSEEN
    ]
    sides = "the same cases, n" if paired else "different cases, n"
    return table_of(
        [sides],
        [HEADS.get(c, c) for c in columns],
        (
            [str(n), *(_worst(rows, n, column, reps) for column in columns)]
            for n in sorted({row["n"] for row in rows})
        ),
    )


def _worst(rows: list[dict[str, Any]], n: int, column: str, reps: int) -> str:
    return percent(max(row["promoted"][column] for row in rows if row["n"] == n), reps, 1)


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
