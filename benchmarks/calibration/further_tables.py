"""The tables of the rows in further_rows.py, and the bars that every release is held to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from looks_tables import looks_bars, looks_tables
from shares import interval, simulated, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = ("welch", "auto")
LEVEL = 0.025
SIZES = (5, 7, 10, 15, 23, 30, 40, 60, 100, 200)


def further_tables(results: dict[str, Any]) -> Iterator[str]:
    """Yield each table of which there are rows."""
    reps = results["repetitions"]["error"]
    equal = [
        [row["scenario"], str(row["n"]), *_counts(row, "rejected", row.get("repetitions", reps))]
        for row in _equal(results)
    ]
    if equal:
        yield table_of(["equal candidates", "n"], ["`welch` rejects", "`auto` rejects"], equal)
    makers = (_clusters, _noise, _margin, _enumerated, _planned, _safety)
    yield from (table for make in makers if (table := make(results)))
    yield from looks_tables(results)


def bars(results: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each bar: what was measured at worst, with its interval, and what is allowed."""
    reps = results["repetitions"]["error"]
    errors = [
        (row["promoted"][rule], reps, f"{row['scenario']}, n = {row['n']}, {rule}")
        for row in _rows(results, "error")
        if row["scenario"] != "pair rare break"
        for rule in ("welch", "auto", "exact")
        if rule in row["promoted"]
    ]
    equal = [
        (
            row["rejected"][rule],
            row.get("repetitions", reps),
            f"{row['scenario']}, n = {row['n']}, {rule}",
        )
        for row in _equal(results)
        for rule in RULES
        if rule in row["rejected"]
    ]
    clusters = [
        (row["promoted"][rule], row["repetitions"], f"{row['scenario']}, {rule}")
        for row in _rows(results, "clusters")
        if not row["gain"]
        for rule in RULES
    ]
    margins = [
        (row["passed"]["at the margin"], row["repetitions"], f"{row['scenario']}, n = {row['n']}")
        for row in _rows(results, "margin")
    ]
    yield _bar("useless candidates promoted", errors, 0.025)
    yield _bar("equal candidates rejected", equal, 0.05)
    yield _bar("useless candidates promoted, in clusters", clusters, 0.025)
    yield _bar("not worse, at the margin", margins, 0.025)
    yield from looks_bars(results)
    yield from _exact_bars(_rows(results, "enumerated"))
    found = [_found(row) for row in _rows(results, "planned")]
    if found:
        yield f"a promised power of 80 %: {min(found):.1%} to {max(found):.1%} found; bar 72 % to 88 %"


def _exact_bars(rows: list[dict[str, Any]]) -> Iterator[str]:
    if rows:
        size, shift, n = max(
            (s, shift, row["n"]) for row in rows for shift, s in row["size"].items()
        )
        where = f"difference {shift}, n = {n}; all n from {rows[0]['n']} to {rows[-1]['n']}"
        verdict = "within" if size <= LEVEL else "over"
        yield f"exact test, size: {size:.4%} ({where}); bar {LEVEL:.1%}: {verdict} the bar"
        (power,) = (row["power"]["0.2 0.15"] for row in rows if row["n"] == 23)
        verdict = "within" if power >= 0.22 else "under"
        yield f"exact test, 23 pairs, 20 % change, gain .15: {power:.1%} found; bar 22 %: {verdict} the bar"


def _bar(name: str, cells: list[tuple[int, int, str]], allowed: float) -> str:
    if not cells:
        return f"{name}: not measured"
    count, reps, where = max(cells, key=lambda cell: cell[0] / cell[1])
    low = interval(count, reps)[0]
    verdict = "over the bar" if low > allowed else "within the bar"
    return f"{name}: at most {simulated(count, reps)} % ({where}); bar {allowed:.1%}: {verdict}"


def _rows(results: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [row for row in results["rows"] if row["what"].startswith(kind)]


def _equal(results: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = ("error", "identical", "noise")
    return [row for row in results["rows"] if row["what"] in kinds and "rejected" in row]


def _counts(row: dict[str, Any], name: str, reps: int) -> list[str]:
    return [simulated(row[name][rule], reps) if rule in row[name] else "-" for rule in RULES]


def _clusters(results: dict[str, Any]) -> str | None:
    rows = [
        [
            row["scenario"],
            f"+{row['gain']:g}",
            *_counts(row, "promoted", row["repetitions"]),
            *_counts(row, "ignored", row["repetitions"]),
        ]
        for row in _rows(results, "clusters")
    ]
    columns = ["`welch`", "`auto`", "`welch`, no clusters named", "`auto`, no clusters named"]
    return table_of(["clusters", "gain"], columns, rows) if rows else None


def _noise(results: dict[str, Any]) -> str | None:
    rows = [
        [
            row["scenario"],
            str(row["n"]),
            "-" if row["flipping"] is None else f"{100 * row['flipping']:.0f}",
            *_counts(row, "promoted", row["repetitions"]),
        ]
        for row in _rows(results, "noise")
    ]
    columns = ["tasks that flip", "`welch` promotes", "`auto` promotes"]
    return table_of(["one system on both sides", "n"], columns, rows) if rows else None


def _margin(results: dict[str, Any]) -> str | None:
    rows = [
        [
            row["scenario"],
            str(row["n"]),
            f"{row['margin']:g}",
            *(
                simulated(row["passed"][name], row["repetitions"])
                for name in ("at the margin", "equal")
            ),
        ]
        for row in _rows(results, "margin")
    ]
    columns = ["worse by the margin", "equal"]
    return table_of(["`not_worse`", "n", "margin"], columns, rows) if rows else None


def _enumerated(results: dict[str, Any]) -> str | None:
    found = [row for row in _rows(results, "enumerated") if row["n"] in SIZES]
    if not found:
        return None
    shifts = [f"margin {shift[1:]}" if float(shift) else "better" for shift in found[0]["size"]]
    rows = [
        [str(row["n"]), *(f"{100 * share:.2f}" for share in row["size"].values())] for row in found
    ]
    return table_of(["pairs of pass and fail"], shifts, rows)


def _planned(results: dict[str, Any]) -> str | None:
    rows = [[row["scenario"], str(row["n"]), _plan(row)] for row in _rows(results, "planned")]
    return table_of(["an effect promised at 80 %", "n"], ["found"], rows) if rows else None


def _plan(row: dict[str, Any]) -> str:
    if "found" in row:
        return f"{100 * row['found']:.1f}"
    return simulated(row["passed"], row["repetitions"])


def _found(row: dict[str, Any]) -> float:
    return float(row["found"] if "found" in row else row["passed"] / row["repetitions"])


def _safety(results: dict[str, Any]) -> str | None:
    found = _rows(results, "safety")
    if not found:
        return None
    columns = [
        name.replace("point", "").replace(" bound", ", with the bound")
        for name in found[0]["passed"]
    ]
    columns = [f"rise {name.strip()}" for name in columns]
    rows = [
        [str(row["n"]), *(f"{100 * share:.1f}" for share in row["passed"].values())]
        for row in found
    ]
    return table_of(["n"], columns, rows)
