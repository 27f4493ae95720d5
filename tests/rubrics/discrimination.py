"""
What the rubrics tell apart: per case the score of rubbish, controls and systems, per axis of the breakdown its range.

    python tests/rubrics/discrimination.py [--write] [CLASS...]

Prints the tables of the READMEs; ends with 1 if a rubric raises, or if no case moves one of its axes. With ``--write``
it also puts them into the READMEs in the place of those that are there.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import scoring

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchgate import BenchCase, BenchScore
    from benchgate.loader.loaded_class import LoadedClass

WRITE = "--write"
RUBBISH = "rubbish"
CONTROLS = ("do-nothing", "claims-success")

Rows = dict[str, dict[str, "BenchScore | None"]]
"""By case and by who made the output; None: the rubric raised."""


def main(arguments: list[str]) -> int:
    names = [argument for argument in arguments if argument != WRITE]
    found = {name: table(name) for name in scoring.classes(names)}
    sys.stdout.write("\n".join(text for text, _ in found.values()))
    for name, (text, _) in found.items() if WRITE in arguments else ():
        put(scoring.BENCH / name / "README.md", body(text))
    return int(not all(holds for _, holds in found.values()))


def body(text: str) -> str:
    """Return what a README holds of the text for its class: all but the title."""
    return text.partition("\n\n")[2].strip()


def put(readme: Path, tables: str) -> None:
    """Replace the tables of a README, from the first line that they always have to the last."""
    told = readme.read_text(encoding="utf-8")
    pattern = rf"^\| case \| {RUBBISH} \|.*?^Axes that no case moves: [^\n]*"
    new, times = re.subn(pattern, lambda _: tables, told, flags=re.DOTALL | re.MULTILINE)
    if times != 1:
        raise SystemExit(f"{readme}: expected the old tables once, found them {times} times")
    readme.write_text(new, encoding="utf-8")


def table(name: str) -> tuple[str, bool]:
    """Return the text for a class, and whether nothing is wrong with its rubric."""
    with scoring.loaded(name) as bench:
        rows = {case.case_id: dict(scores(bench, case)) for case in scoring.cases(bench)}
    axes = ranges(rows)
    still = [axis for axis, (_, _, movers) in axes.items() if not movers]
    raised = [case_id for case_id, row in rows.items() if None in row.values()]
    lines = [
        f"### {name}",
        "",
        *case_lines(rows),
        "",
        *axis_lines(axes),
        "",
        f"Axes that no case moves: {listed(still)}. Cases on which the rubric raises: {listed(raised)}.",
        "",
    ]
    return "\n".join(lines), not still and not raised


def scores(bench: LoadedClass, case: BenchCase) -> Iterator[tuple[str, BenchScore | None]]:
    yield RUBBISH, worst(bench, case)
    made = scoring.made_by(bench, case)
    for name in sorted(made, key=lambda name: (name not in CONTROLS, name)):
        yield name, attempt(bench, case, made[name])


def worst(bench: LoadedClass, case: BenchCase) -> BenchScore | None:
    """Return the score of the piece of rubbish that the rubric likes best."""
    found = [attempt(bench, case, text) for text in scoring.rubbish_texts()]
    known = [score for score in found if score is not None]
    return max(known, key=lambda score: score.score) if len(known) == len(found) else None


def attempt(bench: LoadedClass, case: BenchCase, text: str) -> BenchScore | None:
    try:
        return scoring.scored(bench, case, text)
    except Exception as error:
        sys.stderr.write(f"{case.case_id}: {type(error).__name__}: {error}: {text[:200]}\n")
        return None


def ranges(rows: Rows) -> dict[str, tuple[float, float, int]]:
    """Return for each axis its lowest and highest value, and on how many cases the systems differ in it."""
    found: dict[str, list[set[float]]] = {}
    for row in rows.values():
        values: dict[str, set[float]] = {}
        for score in row.values():
            for axis, value in score.breakdown.items() if score else ():
                values.setdefault(axis, set()).add(value)
        for axis, held in values.items():
            found.setdefault(axis, []).append(held)
    return {
        axis: (min(map(min, held)), max(map(max, held)), sum(len(one) > 1 for one in held))
        for axis, held in found.items()
    }


def markdown_table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


def case_lines(rows: Rows) -> Iterator[str]:
    names = list(next(iter(rows.values()), {}))
    cells = ([case_id, *(cell(row[name]) for name in names)] for case_id, row in rows.items())
    return markdown_table(["case", *names], cells)


def cell(score: BenchScore | None) -> str:
    if score is None:
        return "raised"
    return f"{score.score:.2f}{'' if score.passed else ' failed'}"


def axis_lines(axes: dict[str, tuple[float, float, int]]) -> Iterator[str]:
    rows = (
        [f"`{axis}`", f"{low:g}", f"{high:g}", str(movers)]
        for axis, (low, high, movers) in axes.items()
    )
    return markdown_table(["axis", "lowest", "highest", "cases that move it"], rows)


def listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
