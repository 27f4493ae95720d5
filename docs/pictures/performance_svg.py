"""
Draw ``performance.svg`` from ``benchmarks/speed/performance.json``.

::

    python docs/pictures/performance_svg.py
"""
# ruff: noqa: INP001

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "benchmarks" / "speed" / "performance.json"
PICTURE = Path(__file__).with_name("performance.svg")
WIDTH, ROW, LEFT = 760, 26, 150
INK, MUTED, BAR, OWN = "#1f2328", "#59636e", "#9aa4b0", "#0b7a75"


def text(x: float, y: float, said: str, *, anchor: str = "start", fill: str = INK) -> str:
    """Return a line of text."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{escape(said)}</text>'


def bars(y: float, title: str, rows: list[tuple[str, float]], own: str) -> tuple[str, float]:
    """Return bars below a title, the shortest first, and where they end; `own` begins the names that stand out."""
    found = [text(16, y, title)]
    most = max(value for _, value in rows)
    for name, value in sorted(rows, key=lambda row: row[1]):
        y += ROW
        length = max(2.0, (WIDTH - LEFT - 90) * value / most)
        fill = OWN if name.startswith(own) else BAR
        found += [
            text(LEFT - 8, y, name, anchor="end"),
            f'<rect x="{LEFT}" y="{y - 13:g}" width="{length:.1f}" height="17" fill="{fill}"/>',
            text(LEFT + length + 6, y, f"{value:.2f} s", fill=MUTED),
        ]
    return "\n".join(found), y


def picture(figures: dict[str, Any]) -> str:
    """Return the picture."""
    peers, scale = figures["peers"], figures["scale"]
    cases = peers["cases"]
    tools = [(row["tool"], row[f"cpu_s_of_{cases}"]["min"]) for row in peers["rows"]]
    # Runs with failures have rows in the table of the page; their names are too long for the picture.
    drawn = [name for name in scale if name.startswith("run ") and "failing" not in name]
    runs = [(name, scale[name]["cpu_s"]) for name in drawn]
    first, end = bars(28, f"A job of {cases:,} trivial cases, CPU seconds", tools, "benchgate")
    second, end = bars(end + 46, "Runs of benchgate, cases x trials, CPU seconds", runs, "run")
    height = end + 24
    size = f'viewBox="0 0 {WIDTH} {height:g}" font-family="sans-serif" font-size="13"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    back = f'<rect width="{WIDTH}" height="{height:g}" fill="#ffffff"/>'
    return f"{head}\n{back}\n{first}\n{second}\n</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(json.loads(FIGURES.read_bytes())), encoding="utf-8")
