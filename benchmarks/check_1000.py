"""
What `benchgate check` takes for a class of many cases: whole processes, wall clock, medians of three.

    python benchmarks/check_1000.py [CASES]

With a pinned baseline every file of every case is hashed as well. The ratio says how many times the CPU goes into a
case that reading and parsing its case.toml alone would take; start-up drops out of both.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tomli
from overhead import make_bench

BENCHGATE = [sys.executable, "-c", "from benchgate.cli import main; raise SystemExit(main())"]


def make_class(root: Path, cases: int) -> Path:
    """Write a class of trivial cases that holds the contract; return its folder."""
    make_bench(root, cases)
    folder = root / "bench" / "trivial"
    (folder / "README.md").write_text("Nothing is asked and nothing is answered.\n")
    (folder / "failure_modes.toml").write_text("")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_rubric.py").write_text("def test_nothing():\n    pass\n")
    return folder


def pin(root: Path, folder: Path) -> None:
    """Run the class and pin the run."""
    run = [*BENCHGATE, "run", "--task-class=trivial", "--out=out"]
    subprocess.run(run, cwd=root, check=True, stdout=subprocess.DEVNULL)
    record = next((root / "out" / "runs" / "trivial").glob("*/record.json"))
    (folder / "baseline.json").write_bytes(record.read_bytes())


def measure(cwd: Path) -> dict[str, float]:
    """Return the medians of three checks: seconds of CPU and of wall clock."""
    runs = []
    for _ in range(3):
        before, started = os.times(), time.perf_counter()
        subprocess.run([*BENCHGATE, "check"], cwd=cwd, check=True, stdout=subprocess.DEVNULL)
        wall, after = time.perf_counter() - started, os.times()
        cpu = after.children_user + after.children_system
        runs.append((cpu - before.children_user - before.children_system, wall))
    return {
        "cpu": statistics.median(cpu for cpu, _ in runs),
        "wall": statistics.median(wall for _, wall in runs),
    }


def parse_seconds(folder: Path) -> float:
    """Return the CPU seconds that reading and parsing every case.toml takes."""
    started = time.process_time()
    for path in (folder / "cases").glob("*/case.toml"):
        tomli.loads(path.read_text())
    return time.process_time() - started


def main() -> None:
    """Print the figures as JSON."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as name:
        few, many = Path(name) / "few", Path(name) / "many"
        make_class(few, 10)
        folder = make_class(many, cases)
        one, plain = measure(few), measure(many)
        parsed = parse_seconds(folder)
        pin(many, folder)
        pinned = measure(many)
    per_case = (plain["cpu"] - one["cpu"]) / (cases - 10)
    figures = {
        "cases": cases,
        "wall_s": round(plain["wall"], 3),
        "wall_s_with_baseline": round(pinned["wall"], 3),
        "cpu_ms_per_case": round(per_case * 1000, 3),
        "ratio": round(per_case / (parsed / cases), 2),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
