"""
What a bench case costs beside an ordinary test: CPU per case, as a ratio, both measured in one run.

    python benchmarks/overhead.py [CASES]

Whole pytest processes; the per-case figure is the difference between CASES cases and one, so start-up drops out.
Three rounds, medians. Needs what the package itself needs and nothing else.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASE = """\
[case]
case_id = "{0}"
task_class = "trivial"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2026-01-01T00:00:00Z
last_validated_at = 2026-01-01T00:00:00Z
"""
REGISTRATION = """\
from benchgate import register_task_class
from .rubric import Constant

@register_task_class("trivial", systems={"nothing": lambda case: {}})
class Trivial(Constant):
    pass
"""
RUBRIC = """\
from benchgate import BenchScore

class Constant:
    def score(self, case, harness_output, /):
        return BenchScore(passed=True, score=1.0, safety_penalty=0.0)
"""
TESTS = """\
import pytest

@pytest.mark.parametrize("number", range({0}))
def test_nothing(number):
    pass
"""


def make_bench(root: Path, cases: int) -> None:
    """Write a bench of trivial cases."""
    folder = root / "bench" / "trivial"
    for number in range(cases):
        case = folder / "cases" / f"c{number:05}"
        (case / "input").mkdir(parents=True)
        (case / "input" / "question.txt").write_text("?")
        (case / "case.toml").write_text(CASE.format(case.name))
    (folder / "registration.py").write_text(REGISTRATION)
    (folder / "rubric.py").write_text(RUBRIC)


def measure(*arguments: str, cwd: Path) -> dict[str, float]:
    """Run pytest and return its seconds of CPU and of wall clock, and its peak memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    plugins = ["-p", "benchgate.pytest_plugin", "-p", "pytest_timeout", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, *arguments]
    done = subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(done.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "wall": time.perf_counter() - started,
        "mb": usage.ru_maxrss / 1024,
    }


def median(*arguments: str, cwd: Path) -> dict[str, float]:
    """Return the medians of three runs."""
    runs = [measure(*arguments, cwd=cwd) for _ in range(3)]
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def main() -> None:
    """Print the figures as JSON."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        figures = {}
        for count in (1, 101, cases):
            folder = root / str(count)
            make_bench(folder, count)
            (folder / "test_plain.py").write_text(TESTS.format(count))
            figures[count] = {
                "bench": median("--bench=trivial", "--bench-baseline=none", cwd=folder),
                "plain": median("test_plain.py", cwd=folder),
            }
    one, many = figures[1], figures[cases]
    per_case = {
        kind: (many[kind]["cpu"] - one[kind]["cpu"]) / (cases - 1) * 1000
        for kind in ("bench", "plain")
    }
    print(
        json.dumps(
            {
                "cases": cases,
                "cpu_ms_per_case": {kind: round(value, 3) for kind, value in per_case.items()},
                "ratio": round(per_case["bench"] / per_case["plain"], 2),
                "cold_one_case_wall_s": round(one["bench"]["wall"], 3),
                "mb_of_100_more_cases": round(figures[101]["bench"]["mb"] - one["bench"]["mb"], 1),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
