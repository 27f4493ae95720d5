"""The tables and bars of the rows in looks_rows.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shares import interval, simulated, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVEL = 0.025


def looks_tables(results: dict[str, Any]) -> Iterator[str]:
    """Yield each table of which there are rows."""
    rows = [
        [
            row["scenario"],
            str(row["n"]),
            *(
                simulated(row["any"][rule][k], row["repetitions"])
                for rule in row["any"]
                for k in row["any"][rule]
            ),
        ]
        for row in rows_of(results, "looks")
    ]
    columns = ["`count`, 10 looks", "`count`, 20 looks", "`spend`, 10 looks", "`spend`, 20 looks"]
    if rows:
        yield table_of(["any of a series", "n"], columns, rows)
    rows = [
        [
            row["scenario"],
            str(row["n"]),
            f"+{row['gain']:g}",
            *(simulated(count, row["repetitions"]) for count in row["promoted"].values()),
        ]
        for row in rows_of(results, "looks power")
    ]
    if rows:
        yield table_of(["`spend`", "n", "gain"], ["look 1", "look 5", "look 20"], rows)
    rows = [
        [
            row["scenario"],
            row["kind"],
            *(simulated(row[name], row["repetitions"]) for name in ("accepted", "mistakes")),
            f"{row['gain']:+.2f}",
        ]
        for row in rows_of(results, "climb")
    ]
    if rows:
        columns = ["any accepted", "any not better", "gain at the end"]
        yield table_of(["a loop of 200 steps", "candidates"], columns, rows)
    rows = [
        [
            row["scenario"],
            str(row["n"]),
            f"+{row['gain']:g}",
            f"{100 * row['predicted']:.1f}",
            simulated(row["promoted"], row["repetitions"]),
        ]
        for row in rows_of(results, "forecast")
    ]
    if rows:
        yield table_of(["a planned run", "n", "gain"], ["predicted", "promoted"], rows)
    rows = [
        [
            row["scenario"],
            str(row["n"]),
            f"+{row['gain']:g}",
            f"{row['named']:g}",
            *(simulated(row[name], row["repetitions"]) for name in ("predicted", "promoted")),
        ]
        for row in rows_of(results, "named cases")
    ]
    if rows:
        columns = ["cases that it names", "predicted", "promoted"]
        yield table_of(["a hold", "n", "gain"], columns, rows)


def looks_bars(results: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each bar."""
    for looks in ("10", "20"):
        cells = [
            (row["any"]["spend"][looks], row["repetitions"], f"{row['scenario']}, n = {row['n']}")
            for row in rows_of(results, "looks")
        ]
        if cells:
            yield at_most(f"any of {looks} useless candidates promoted, spend", cells)
    climbs = [
        (row["accepted"], row["repetitions"], row["scenario"])
        for row in rows_of(results, "climb")
        if row["kind"] == "noise"
    ]
    if climbs:
        yield at_most("any of 200 steps on noise accepted", climbs)
    off = [
        (
            abs(row["predicted"] - row["promoted"] / row["repetitions"]),
            f"{row['scenario']}, n = {row['n']}",
        )
        for row in rows_of(results, "forecast")
        if "tasks differ, 1 trial" not in row["scenario"]
    ]
    if off:
        most, where = max(off)
        verdict = "within" if most <= 0.05 else "over"
        yield f"predicted power: off by at most {100 * most:.1f} points ({where}); bar 5: {verdict} the bar"
    named = [
        (row["promoted"] / row["repetitions"], f"{row['scenario']}, n = {row['n']}")
        for row in rows_of(results, "named cases")
        if "3 and 1 trials, Welch" not in row["scenario"]
    ]
    if named:
        (least, low), (most, high) = min(named), max(named)
        verdict = "within" if least >= 0.72 and most <= 0.88 else "over"
        yield (
            f"found among the cases that a hold names: {least:.1%} ({low}) to {most:.1%} ({high}); bar 72 % to 88 %: "
            f"{verdict} the bar"
        )


def at_most(name: str, cells: list[tuple[int, int, str]]) -> str:
    """Return the line of a bar that a share must not exceed."""
    count, reps, where = max(cells, key=lambda cell: cell[0] / cell[1])
    verdict = "over the bar" if interval(count, reps)[0] > LEVEL else "within the bar"
    return f"{name}: at most {simulated(count, reps)} % ({where}); bar {LEVEL:.1%}: {verdict}"


def rows_of(results: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the rows of a kind."""
    return [row for row in results["rows"] if row["what"] == kind]
