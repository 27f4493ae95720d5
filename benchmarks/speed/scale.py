"""
How time and memory grow with the number of cases, and what a long history takes: whole processes, start-up included.

    python benchmarks/speed/scale.py [ROUNDS]

Runs, lists and selects from trivial classes of 1,000 to 10,000 cases, runs them with a third failing, and 1,000 cases
of 10 trials; gates two recorded runs of 10,000 cases; writes the page of a run; verifies 100 runs of 100 cases. Of each
the fewest seconds of wall clock and of CPU and the smallest peak memory of all rounds are printed as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from overhead import PLUGIN, PYTEST, environment, make_bench

REGISTRATION = """\
from benchgate import register_task_class
from .rubric import Drawn

def draw(case, lift):
    return {"score": (case.seed32 % 1000) / 1250 + lift}

register_task_class(
    "trivial",
    systems={
        "old": lambda case: draw(case, 0.0),
        "new": lambda case: draw(case, 0.05),
        "third": lambda case: {**draw(case, 0.0), "fails": case.seed32 % 3 == 0},
    },
    default_system="old",
)(Drawn)
"""
RUBRIC = """\
from benchgate import BenchScore

class Drawn:
    def score(self, case, harness_output, /):
        score = harness_output["score"]
        passed = not harness_output.get("fails")
        return BenchScore(passed=passed, score=score, safety_penalty=0.0)
"""
HISTORY = """\
import sys, warnings
from pathlib import Path
from benchgate.runner.run import RunSettings, run_class

warnings.simplefilter("ignore")
for seed in range(int(sys.argv[1])):
    run = run_class(RunSettings(task_class="trivial", out=Path("history"), baseline="none", seed=seed))
    assert not run.problems, run.problems
"""
BENCHGATE = ("-c", "from benchgate.cli import main; raise SystemExit(main())")


def make_class(root: Path, cases: int) -> Path:
    """Write a class whose scores differ from case to case; return where it is."""
    make_bench(root, cases)
    folder = root / "bench" / "trivial"
    (folder / "registration.py").write_text(REGISTRATION)
    (folder / "rubric.py").write_text(RUBRIC)
    (folder / "gate.toml").write_text('test = "auto"\n')
    (root / "pytest.ini").write_text("[pytest]\n")
    return root


def measure(cwd: Path, *command: str, statuses: tuple[int, ...] = (0,)) -> tuple[float, ...]:
    """Run Python; return its seconds of wall clock, of CPU, and its peak memory in MB."""
    started = time.perf_counter()
    done = subprocess.Popen(
        [sys.executable, *command], cwd=cwd, env=environment(), stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(done.pid, 0)
    if os.waitstatus_to_exitcode(status) not in statuses:
        sys.exit(f"{' '.join(command)} failed in {cwd}: {status}")
    wall = time.perf_counter() - started
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


class Rows:
    """The rows of the table; each is measured in turn in every round."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self.rows: dict[str, dict[str, float]] = {}

    def add(self, name: str, cwd: Path, *command: str, statuses: tuple[int, ...] = (0,)) -> None:
        """Measure a row."""
        runs = [measure(cwd, *command, statuses=statuses) for _ in range(self._rounds)]
        best = [min(run[place] for run in runs) for place in range(3)]
        row = {"wall_s": round(best[0], 2), "cpu_s": round(best[1], 2), "mb": round(best[2])}
        self.rows[name] = row
        print(f"{name}: {row}", file=sys.stderr, flush=True)


def record(root: Path, out: str) -> str:
    """Return the path of the newest record of a run."""
    return str(max((root / out / "runs" / "trivial").glob("*/record.json")))


def main() -> None:
    """Print the figures as JSON."""
    rows = Rows(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    pytest = (*PYTEST, *PLUGIN, "--bench-exit=gate")
    with tempfile.TemporaryDirectory() as name:
        for cases in (1_000, 3_000, 10_000):
            root = make_class(Path(name, str(cases)), cases)
            bench = (*pytest, "--bench=trivial", "--bench-baseline=none")
            rows.add(f"run {cases}", root, *bench)
            third = ("--bench-system=third", "--bench-out=third")
            rows.add(f"run {cases}, a third failing", root, *bench, *third, statuses=(0, 1, 10))
            rows.add(f"--co {cases}", root, *bench, "--co")
            middle = f"c{cases // 2:05}"
            rows.add(
                f"by id {cases}", root, *pytest, f"bench/trivial/cases/{middle}/case.toml::{middle}"
            )
            page = ("report", str(Path(record(root, ".benchgate")).parent), "--html", "page.html")
            rows.add(f"page {cases}", root, *BENCHGATE, *page)
            rows.rows[f"page {cases}"]["page_mb"] = round(
                (root / "page.html").stat().st_size / 1e6, 1
            )
        new = ("--bench-system=new", "--bench-out=new")
        measure(root, *bench, *new)
        both = (record(root, ".benchgate"), record(root, "new"))
        rows.add("gate 10000", root, *BENCHGATE, "gate", *both, statuses=(0, 1, 10))
        rows.add("verify one run of 10000", root, *BENCHGATE, "verify", "new")
        trials = make_class(Path(name, "trials"), 1_000)
        rows.add("run 1000 x 10", trials, *bench, "--bench-trials=10")
        history = make_class(Path(name, "history"), 100)
        measure(history, "-c", HISTORY, "100")
        rows.add("verify 100 runs of 100", history, *BENCHGATE, "verify", "history")
    print(json.dumps(rows.rows, indent=1))


if __name__ == "__main__":
    main()
