"""
What a trial costs in a process of its own, against one in the session's process.

    python benchmarks/speed/isolation.py [--rounds 5]

The levels take turns, round by round, and the least of the rounds counts: what a busy machine adds is never negative.
Goals: ``process`` 6 ms and ``sandbox`` 8 ms more for a trial, 0.4 s more until the first one; sixteen live agents at
once take at most 1.1 times as long. The time on the clock is less than that of the processors, for the next process is
forked while a call runs; the second row is that of a system which imports openai and numpy, where they are installed.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchgate.errors import EvalError
from benchgate.isolation import sandbox
from benchgate.isolation.isolated import Isolated, grants
from tests.conftest import BenchFolder, write_source

NO_OP = """
def system(case):
    return {"answer": (case.input_path / "question.txt").read_text().upper()}
"""
AGENT = """
import asyncio

async def system(case):
    await asyncio.sleep(1.0)
    return {"answer": (case.input_path / "question.txt").read_text().upper()}
"""


def levels() -> list[str]:
    """Return the levels that this machine has."""
    try:
        sandbox.check()
    except EvalError as error:
        print(f"without sandbox: {error}")
        return ["none", "process"]
    return ["none", "process", "sandbox"]


def trials(bench: BenchFolder, level: str) -> list[float]:
    """Return how long each trial of a run took, in milliseconds."""
    report = bench.engine(isolation=level, baseline="none", out=None).judgement.report
    if not report.complete:
        raise RuntimeError(report.per_case)
    return [result.duration_seconds * 1000 for result in report.per_case]


def processor(bench: BenchFolder, level: str, rounds: int) -> float:
    """Return what a trial takes of all processors, in milliseconds: by what a run of more trials takes more."""
    few, many = 1, 6
    least = {few: math.inf, many: math.inf}
    for _ in range(rounds):
        for count, before in least.items():
            begun = times()
            bench.engine(isolation=level, baseline="none", out=None, trials=count)
            least[count] = min(before, times() - begun)
    cases = len(list((bench.path / "cases").iterdir()))
    return (least[many] - least[few]) / ((many - few) * cases) * 1000


def times() -> float:
    """Return the seconds of processors that this process has used, and those that it has waited for."""
    return sum(os.times()[:4])


def start(bench: BenchFolder, level: str) -> tuple[float, list[int]]:
    """Return the seconds that the helpers take to start, and the memory of each of them in KiB."""
    from benchgate.loader.imports import bench_package
    from benchgate.loader.loaded_class import load_class
    from benchgate.registry import TaskClassRegistry

    with bench_package(bench.root / "bench"):
        loaded = load_class(bench.root / "bench", bench.name, TaskClassRegistry())
        systems = dict([grants(loaded, None)])
        begun = time.perf_counter()
        isolated = Isolated(loaded, systems, level, jobs=1, limit=60.0, out=None)
        seconds = time.perf_counter() - begun
        memory = list(map(own_memory, started()))
        isolated.close()
    return seconds, memory


def started() -> list[int]:
    """Return all processes below this one."""
    found = [os.getpid()]
    for pid in found:
        found += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return found[1:]


def own_memory(pid: int) -> int:
    """Return what a process does not share with others, in KiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def live(bench: BenchFolder, level: str) -> float:
    """Return the seconds of a run of 48 agents that wait a second each, sixteen at once."""
    begun = time.perf_counter()
    bench.engine(isolation=level, baseline="none", out=None, jobs=16, trials=4)
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        bench = BenchFolder(Path(folder), cases=12)
        there = levels()
        found = {level: min(min(trials(bench, level)) for _ in range(rounds)) for level in there}
        for level in there[1:]:
            more = found[level] - found["none"]
            seconds, memory = min(start(bench, level) for _ in range(rounds))
            print(f"{level}: {more:.1f} ms more for a trial, {seconds:.2f} s until the first one")
            print(
                f"  memory of each process alone, MiB: {', '.join(str(kib // 1024) for kib in memory)}"
            )
        for name, imports in {"no-op": "", "openai and numpy": "import openai, numpy\n"}.items():
            if not all(map(find_spec, imports.replace(",", "").split()[1:])):
                print(f"{name}: not installed")
                continue
            write_source(bench.path / "system.py", imports + NO_OP)
            for level in there:
                cost = processor(bench, level, rounds)
                print(f"{name}, {level}: {cost:.1f} ms of processors for a trial")
        write_source(bench.path / "system.py", dedent(AGENT))
        took = {level: min(live(bench, level) for _ in range(2)) for level in there}
        for level in there[1:]:
            print(
                f"{level}: live agents, sixteen at once: {took[level] / took['none']:.2f} of none"
            )


if __name__ == "__main__":
    main()
