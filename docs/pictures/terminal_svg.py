"""
Draw ``terminal.svg``: a run of a shipped bench as a terminal shows it. A test fails until it is drawn as it is now.

::

    python docs/pictures/terminal_svg.py

The run is a real one. Left out are the lines on the machine, such as ``platform`` and ``plugins``, and all but a few
of the cases; what is different in every run, such as times, is shown as an ellipsis.
"""
# ruff: noqa: INP001

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PICTURE = Path(__file__).with_name("terminal.svg")
TASK_CLASS = "vuln-remediation"
SHOWN = 3
"""Cases that are shown of the progress, and as many of the table."""

COLUMNS, CHARACTER, LINE, MARGIN = 100, 8.4, 19, 18
TEXT, DIM, GROUND, EDGE = "#c9d1d9", "#8b949e", "#0d1117", "#6e7681"
COLOURS = {"2": DIM, "31": "#ff7b72", "32": "#56d364", "33": "#e3b341"}
HARD_SPACE = "\u00a0"
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="t" font-size="14" font-family="Menlo, Consolas, 'DejaVu Sans Mono', monospace">
<title id="t">pytest --bench={name} --bench-exit=gate: cases, comparison with the baseline, and decision</title>
<rect width="100%" height="100%" rx="10" fill="{ground}" stroke="{edge}"/>
{texts}
</svg>
"""
SGR = re.compile("\x1b\\[([0-9;]*)m")
CASE = re.compile(r"(?:bench/.*/)?\d{3}-")
MACHINE = re.compile(r"platform |rootdir: |configfile: |testpaths: |plugins: ")


@dataclass(frozen=True)
class Cell:
    """One character on the screen."""

    text: str
    colour: str = TEXT
    bold: bool = False


def run() -> str:
    """Run the bench and return what it prints, with paths as they are without ``--bench-out``."""
    # Cases that the system fails are counted in the last line, and not shown one by one.
    options = "-p no:randomly -p no:cacheprovider --tb=no -rN"
    settings = {"COLUMNS": str(COLUMNS), "PYTEST_ADDOPTS": options}
    with tempfile.TemporaryDirectory() as out:
        command = [
            sys.executable,
            "-m",
            "pytest",
            f"--bench={TASK_CLASS}",
            "--bench-exit=gate",
            "--color=yes",
        ]
        done = subprocess.run(  # noqa: S603 - our own command
            [*command, f"--bench-out={out}"],
            cwd=ROOT,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=True,
        )
    shown = done.stdout.replace(out, ".benchgate")
    return re.sub(r"\s+--out\s+\S+\s+(--yes|--html)", r" \1", shown)


def steady(text: str) -> str:
    """Put an ellipsis for whatever is different in every run."""
    text = re.sub(r"\d{8}T\d{6}Z", "…", text)
    text = re.sub(r"=(\d+):[0-9a-f]{64}", r"=\1:…", text)
    return re.sub(r"\bin \d+\.\d+s( \(\d+:\d+:\d+\))?", "in …s", text)


def cells(line: str) -> Iterator[Cell]:
    """Yield the characters of a line, with what the colour codes before each of them say."""
    colour, bold = TEXT, False
    for number, part in enumerate(SGR.split(line)):
        if number % 2 == 0:
            yield from (Cell(character, colour, bold) for character in part)
            continue
        for code in part.split(";"):
            if code in {"", "0"}:
                colour, bold = TEXT, False
            bold = bold or code == "1"
            colour = COLOURS.get(code, colour)


def centred(line: list[Cell]) -> list[Cell]:
    """Centre a line between ``=`` again, whose length changed with the time that it named."""
    if not line or line[0].text != "=":
        return line
    edge = line[0]
    while line[0].text == "=":
        line = line[1:]
    while line[-1].text == "=":
        line = line[:-1]
    free = COLUMNS - len(line)
    return [edge] * (free // 2) + line + [edge] * (free - free // 2)


def selected(lines: list[list[Cell]]) -> Iterator[list[Cell]]:
    """Yield the lines that are shown, and one in place of the cases that are not."""
    cases = 0
    for line in lines:
        text = "".join(cell.text for cell in line)
        if MACHINE.match(text):
            continue
        if CASE.match(text):
            cases += 1
            if cases > SHOWN:
                continue
        elif cases > SHOWN:
            yield [Cell(c, DIM) for c in f"... {cases - SHOWN} more cases"]
            cases = 0
        yield line


def wrapped(line: list[Cell]) -> Iterator[list[Cell]]:
    """Yield a line as a terminal breaks it."""
    yield line[:COLUMNS]
    for start in range(COLUMNS, len(line), COLUMNS):
        yield line[start : start + COLUMNS]


def drawn(line: list[Cell], y: int) -> Iterator[str]:
    """Yield an element for each stretch of one style, without wide gaps; lengths are given, so that any font fits."""
    column = 0
    for (colour, bold), stretch in groupby(line, key=lambda cell: (cell.colour, cell.bold)):
        text = "".join(cell.text for cell in stretch)
        weight = ' font-weight="bold"' if bold else ""
        for match in re.finditer(r"\S+(?: \S+)*", text):
            shown = escape(match[0], quote=False).replace(" ", HARD_SPACE)
            place = f'x="{MARGIN + (column + match.start()) * CHARACTER:g}" y="{y}"'
            length = f'textLength="{len(match[0]) * CHARACTER:g}"'
            yield f'<text {place} {length} fill="{colour}"{weight}>{shown}</text>'
        column += len(text)


def picture(output: str) -> str:
    """Return the picture of what a run printed."""
    prompt = [
        Cell("$", DIM),
        *(Cell(c, bold=True) for c in f" pytest --bench={TASK_CLASS} --bench-exit=gate"),
    ]
    screen = [centred(list(cells(line))) for line in steady(output).splitlines()]
    lines = [part for line in [prompt, *selected(screen)] for part in wrapped(line)]
    texts = (
        text for row, line in enumerate(lines) for text in drawn(line, MARGIN + row * LINE + 14)
    )
    return FRAME.format(
        name=TASK_CLASS,
        width=round(MARGIN * 2 + COLUMNS * CHARACTER),
        height=MARGIN * 2 + len(lines) * LINE,
        ground=GROUND,
        edge=EDGE,
        texts="\n".join(texts),
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(run()), encoding="utf-8")
