"""
Write the cases: two strengths of wind, twelve starts each.

    python bench/gridworld-policy/tools/make_cases.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from benchgate.loader.imports import bench_package

CLASS: Final = Path(__file__).resolve().parent.parent
MAP: Final = ("............", "............", "............", "SCCCCCCCCCCG")
WIDTH: Final = len(MAP[0])
HORIZON: Final = 100
WINDS: Final = {"light": 0.05, "breeze": 0.1}
STARTS: Final = (
    (3, 0),
    (2, 0),
    (2, 1),
    (2, 2),
    (2, 3),
    (2, 4),
    (2, 5),
    (2, 6),
    (1, 0),
    (1, 2),
    (1, 4),
    (1, 6),
)
HELD_OUT: Final = frozenset({(2, 1), (2, 5), (1, 4)})
CASE: Final = """\
[case]
case_id = "{case_id}"
task_class = "gridworld-policy"
disposition = "positive"
difficulty = "{difficulty}"
source = "curated"
added_at = 2026-11-21T00:00:00Z
last_validated_at = 2026-11-21T00:00:00Z
held_out = {held_out}
tags = ["{wind}", "row-{row}"]
cluster = "row-{row}-col-{column}"
timeout_seconds = 60

[facts]
environment = "CliffWalking-v1"
slip = {slip}
"""


def main() -> None:
    """Write every case, over an existing one; none is removed."""
    with bench_package(CLASS.parent):
        places = [(wind, start) for wind in WINDS for start in STARTS]
        for number, (wind, start) in enumerate(places, start=1):
            write(number, wind, start)


def write(number: int, wind: str, start: tuple[int, int]) -> None:
    """Write one case."""
    from _benchgate_bench.gridworld_policy.cliff import Task

    row, column = start
    case_id = f"{number:03d}-{wind}-row{row}-col{column}"
    fields = {
        "case_id": case_id,
        "difficulty": "hard" if row == 3 else "medium" if row == 2 else "easy",
        "held_out": str(start in HELD_OUT).lower(),
        "wind": wind,
        "row": row,
        "column": column,
        "slip": WINDS[wind],
    }
    task = {"map": MAP, "start": row * WIDTH + column, "horizon": HORIZON, "slip": WINDS[wind]}
    folder = CLASS / "cases" / case_id
    for name in ("input", "expected"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "case.toml").write_text(CASE.format(**fields), encoding="utf-8")
    _write_json(folder / "input" / "task.json", task)
    best = -Task.read(folder / "input").fewest_steps()
    bounds = {"best_return": best, "worst_return": -HORIZON}
    _write_json(folder / "expected" / "bounds.json", bounds)


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
