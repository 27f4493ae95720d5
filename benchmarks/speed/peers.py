"""
The same trivial job in benchgate and in four other tools, each in a virtual environment that this script makes.

    python benchmarks/speed/peers.py FOLDER [CASES [ROUNDS]]

A system that returns its question in capitals, compared with the expected answer: 1 case and CASES. Whole processes,
each tool in turn in every round, so that other work on the machine meets all alike. Of wall clock, CPU (user and
system) and peak memory the medians and minima are printed as JSON. Environments that are in FOLDER already are used.
benchgate reads each case from a folder of its own and leaves a record; the others get theirs from one Python file. What
each leaves behind is in `leaves`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from overhead import REGISTRATION, make_bench

HERE = Path(__file__).resolve().parents[2]
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
PLAIN = """\
import pytest

@pytest.mark.parametrize("number", range({cases}))
def test_answer(number):
    assert "q{{}}".format(number).upper() == "Q{{}}".format(number)
"""
PYDANTIC_EVALS = """\
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

cases = [Case(name=f"c{{n}}", inputs=f"q{{n}}", expected_output=f"Q{{n}}") for n in range({cases})]
dataset = Dataset(name="trivial", cases=cases, evaluators=[EqualsExpected()])

async def system(question):
    return question.upper()

report = dataset.evaluate_sync(system, progress=False)
assert report.averages().assertions == 1.0
"""
INSPECT = """\
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import exact
from inspect_ai.solver import solver

@solver
def system():
    async def solve(state, generate):
        state.output.completion = state.input_text.upper()
        return state
    return solve

samples = [Sample(input=f"q{{n}}", target=f"Q{{n}}") for n in range({cases})]
task = Task(dataset=MemoryDataset(samples), solver=system(), scorer=exact())
(log,) = eval(task, model="mockllm/model", log_dir="logs", display="none")
assert log.status == "success", log.error
assert log.results.scores[0].metrics["mean" if "mean" in log.results.scores[0].metrics else "accuracy"].value == 1.0
"""
PYTEST_EVALS = """\
import pytest

@pytest.mark.eval(name="trivial")
@pytest.mark.parametrize("number", range({cases}))
def test_answer(number, eval_bag):
    eval_bag.right = "q{{}}".format(number).upper() == "Q{{}}".format(number)

@pytest.mark.eval_analysis(name="trivial")
def test_analysis(eval_results):
    assert all(row.result.right for row in eval_results)
"""
PYTEST_BENCHMARK = """\
import pytest

@pytest.mark.parametrize("number", range({cases}))
def test_answer(number, benchmark):
    answer = benchmark.pedantic("q{{}}".format(number).upper, rounds=1, iterations=1)
    assert answer == "Q{{}}".format(number)
"""
RUBRIC = """\
from benchgate import BenchScore

class Constant:
    def score(self, case, harness_output, /):
        right = harness_output["answer"] == "?"
        return BenchScore(passed=right, score=float(right), safety_penalty=0.0)
"""


@dataclass(frozen=True)
class Peer:
    """A tool: what is installed, the file of its job, the commands that run it, what is left afterwards."""

    packages: tuple[str, ...]
    source: str
    commands: tuple[tuple[str, ...], ...]
    leaves: str


PEERS = {
    "plain pytest": Peer(("pytest==9.2.0",), PLAIN, ((*PYTEST, "test_job.py"),), "nothing"),
    "benchgate": Peer(
        (str(HERE),),
        "",
        ((*PYTEST, "--bench=trivial", "--bench-baseline=none"),),
        "record, decision, proof, a file of each case",
    ),
    "pydantic-evals": Peer(
        ("pydantic-evals==2.62.0",), PYDANTIC_EVALS, (("test_job.py",),), "nothing"
    ),
    "inspect_ai": Peer(("inspect-ai==0.3.285",), INSPECT, (("test_job.py",),), "log"),
    "pytest-evals": Peer(
        ("pytest-evals==0.3.4", "pytest==9.2.0"),
        PYTEST_EVALS,
        ((*PYTEST, "--run-eval", "test_job.py"), (*PYTEST, "--run-eval-analysis", "test_job.py")),
        "JSON of the results",
    ),
    "pytest-benchmark": Peer(
        ("pytest-benchmark==5.3.1", "pytest==9.2.0"),
        PYTEST_BENCHMARK,
        ((*PYTEST, "--benchmark-json=out.json", "--benchmark-quiet", "test_job.py"),),
        "JSON of the timings",
    ),
}


def environment(folder: Path, name: str) -> Path:
    """Return the Python of a tool's virtual environment; make it if it is not there."""
    path = folder / name.replace(" ", "-")
    python = path / "bin" / "python"
    if not (path / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", path], check=True)
        install = [python, "-m", "pip", "install", "--quiet", *PEERS[name].packages]
        subprocess.run(install, check=True)
        (path / "complete").touch()
    return python


def prepare(folder: Path, name: str, cases: int) -> None:
    """Write the job of a tool."""
    folder.mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    if name == "benchgate":
        make_bench(folder, cases)
        bench = folder / "bench" / "trivial"
        (bench / "rubric.py").write_text(RUBRIC)
        text = '{"answer": (case.input_path / "question.txt").read_text().upper()}'
        (bench / "registration.py").write_text(REGISTRATION.replace("case: {}", f"case: {text}"))
        return
    (folder / "test_job.py").write_text(PEERS[name].source.format(cases=cases))


def measure(python: Path, name: str, cwd: Path) -> tuple[float, float, float]:
    """Run a tool's commands; return seconds of wall clock and CPU, and the higher peak memory in MB."""
    wall = cpu = peak = 0.0
    kept = {
        k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    }
    for command in PEERS[name].commands:
        started = time.perf_counter()
        done = subprocess.Popen([python, *command], cwd=cwd, env=kept, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(done.pid, 0)
        if status:
            sys.exit(f"{name}: {' '.join(command)} failed in {cwd}")
        wall += time.perf_counter() - started
        cpu += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss / 1024)
    return wall, cpu, peak


def summary(values: list[float]) -> dict[str, float]:
    """Return median and minimum."""
    return {"median": round(statistics.median(values), 3), "min": round(min(values), 3)}


def main() -> None:
    """Print the figures as JSON."""
    home = Path(sys.argv[1]).resolve()
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    home.mkdir(parents=True, exist_ok=True)
    pythons = {name: environment(home, name) for name in PEERS}
    runs: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(rounds + 1):
            for count in (1, cases):
                for name, python in pythons.items():
                    folder = Path(scratch, name.replace(" ", "-"), f"{count}-{number}")
                    prepare(folder, name, count)
                    found = measure(python, name, folder)
                    if number:  # the first one of each wrote bytecode
                        runs.setdefault((name, count), []).append(found)
    print(json.dumps({"cases": cases, "rounds": rounds, "rows": rows_of(runs, cases)}, indent=1))


def rows_of(
    runs: dict[tuple[str, int], list[tuple[float, float, float]]], cases: int
) -> list[dict[str, object]]:
    """Return what is printed of each tool."""
    rows = []
    for name, peer in PEERS.items():
        row: dict[str, object] = {"tool": name, "packages": peer.packages, "leaves": peer.leaves}
        if name == "benchgate":
            row["packages"] = ["this one"]
        for count in (1, cases):
            for place, kind in enumerate(("wall_s", "cpu_s", "mb")):
                row[f"{kind}_of_{count}"] = summary([run[place] for run in runs[name, count]])
        least = [min(run[1] for run in runs[name, count]) for count in (1, cases)]
        row["cpu_ms_per_case"] = round((least[1] - least[0]) / (cases - 1) * 1000, 3)
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
