"""
Kill runs at random moments and resume them: no finished trial is run twice, the report is as if nobody had killed it.

    python benchmarks/kill_loop.py --kills 200 [--seed 0]

Each round runs a bench of 24 cases in one of five ways, kills it with SIGKILL until its share of the kills is reached
or it ends, then lets it end. Rounds go on until the number of kills is reached and every way was killed.
The system logs each call with a line that is appended when it begins.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

CASES = 24
MOST = 12
"""Kills of one run at most."""
WAYS = {
    "serial": ("pytest",),
    "-n2": ("pytest", "-n2"),
    "jobs 16": ("pytest", "--bench-jobs=16"),
    "-n2, jobs 16": ("pytest", "-n2", "--bench-jobs=16"),
    "benchgate run": ("benchgate", "run", "--task-class=echo", "--out=.benchgate"),
}
FILES = {
    "registration.py": """
from benchgate import register_task_class
from .rubric import EchoRubric
from .system import agent

register_task_class("echo", systems={"agent": agent})(EchoRubric)
""",
    "rubric.py": """
from benchgate import BenchScore

class EchoRubric:
    def score(self, case, output, /):
        right = output["answer"] == f"Q{case.case_id}"
        return BenchScore(passed=right, score=float(right), safety_penalty=0.0)
""",
    "system.py": """
import asyncio, os, random

async def agent(case):
    log = os.open("calls.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{case.case_id}\\n".encode())
    os.close(log)
    await asyncio.sleep(random.Random(case.seed).uniform(0.01, 0.12))
    return {"answer": f"Q{case.case_id}" if case.seed % 4 else "wrong"}
""",
    "failure_modes.toml": "",
}
CASE = """[case]
case_id = "{0}"
task_class = "echo"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2026-11-01T00:00:00Z
last_validated_at = 2026-11-01T00:00:00Z
"""


def make_bench(root: Path) -> None:
    """Write a bench of one class below a folder."""
    bench = root / "bench" / "echo"
    for name, text in FILES.items():
        (bench / name).parent.mkdir(parents=True, exist_ok=True)
        (bench / name).write_text(text)
    for number in range(CASES):
        folder = bench / "cases" / f"{number:03}"
        for part in ("input", "expected"):
            (folder / part).mkdir(parents=True)
            (folder / part / "data.txt").write_text(f"{number}")
        (folder / "case.toml").write_text(CASE.format(f"{number:03}"))
    (root / "pytest.ini").write_text("[pytest]\n")


def command(way: str) -> list[str]:
    """Return the command that runs or resumes the class."""
    module, *arguments = WAYS[way]
    if module == "pytest":
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "--bench=echo",
                "--bench-resume", "--bench-exit=gate", *arguments]  # fmt: skip
    return [sys.executable, "-m", module, *arguments, "--resume"]


def finished(root: Path) -> set[str]:
    """Return the trials whose file is complete in the folder that a killed run left."""
    found = set()
    for path in root.glob(".benchgate/runs/echo/incomplete-*/cases/*.json"):
        try:
            json.loads(path.read_bytes())
        except (ValueError, FileNotFoundError):
            continue
        found.add(path.stem)
    return found


def recorded(root: Path) -> list[Path]:
    """Return the records."""
    return sorted(root.glob(".benchgate/runs/echo/0*/record.json"))


def calls(root: Path) -> Counter[str]:
    """Return how often the system was called with each case."""
    log = root / "calls.log"
    return Counter(log.read_text().split() if log.exists() else ())


def start(way: str, root: Path) -> subprocess.Popen[bytes]:
    """Start a run in a session of its own, so that what it leaves can be ended."""
    return subprocess.Popen(
        command(way),
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill(going: subprocess.Popen[bytes], after: float, *, workers: bool) -> bool:
    """Kill a run after some seconds unless it has ended; its workers too or not."""
    try:
        going.wait(after)
    except subprocess.TimeoutExpired:
        (os.killpg if workers else os.kill)(going.pid, signal.SIGKILL)
        going.wait()
        return True
    return False


def await_call(going: subprocess.Popen[bytes], root: Path, before: Counter[str]) -> None:
    """Wait until a run calls the system, or ends."""
    while going.poll() is None and calls(root) == before:
        time.sleep(0.005)


def report(record: Path) -> Any:
    """Return the report of a record without times."""
    found = json.loads(record.read_bytes())["report"]
    for trial in found["per_case"]:
        trial["duration_seconds"] = 0
    return found


def kill_round(
    way: str, root: Path, chance: random.Random, longest: float, most: int
) -> tuple[int, int]:
    """
    Run a class once, with some kills, until it is recorded.

    :param longest: seconds after the first call.
    :param most: kills at most.

    :returns: kills, and finished trials that were run again.
    """
    kills = again = 0
    while not recorded(root):
        done, before = finished(root), calls(root)
        going = start(way, root)
        if kills < most:
            if chance.random() < 0.8:  # else perhaps before the first call
                await_call(going, root, before)
            kills += kill(going, chance.uniform(0, longest), workers=chance.random() < 0.5)
        elif going.wait() > 1:
            sys.exit(f"{way}: ended with {going.returncode}")
        again += sum((calls(root) - before)[case] for case in done)
    return kills, again


def main() -> None:
    """Kill until the number is reached, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311 - it picks moments
    base = Path(tempfile.mkdtemp(prefix="kill-loop-"))
    expected, wanted, total, lost = None, Counter[str](), 0, Counter[str]()
    longest: dict[str, float] = {}
    try:
        for way in WAYS:
            root = base / f"whole-{way.replace(' ', '')}"
            make_bench(root)
            going = start(way, root)
            await_call(going, root, Counter())
            began = time.perf_counter()
            going.wait()
            longest[way] = 0.7 * (time.perf_counter() - began)
            (whole,) = recorded(root)
            expected = expected or report(whole)
            if report(whole) != expected:
                sys.exit(f"{way}: another report without any kill")
        rounds = 0
        most = max(1, min(MOST, given.kills // len(WAYS)))
        while total < given.kills or not all(wanted[way] for way in WAYS):
            way = list(WAYS)[rounds % len(WAYS)]
            root = base / f"round-{rounds}"
            make_bench(root)
            kills, again = kill_round(way, root, chance, longest[way], most)
            rounds, total = rounds + 1, total + kills
            wanted[way] += kills
            (record,) = recorded(root)
            calling = [sys.executable, "-m", "benchgate", "verify", "--require-complete"]
            verified = subprocess.run(calling, cwd=root, check=False, capture_output=True)
            if again or report(record) != expected or verified.returncode:
                sys.exit(
                    f"{way}, {root}: {again} finished trials run again, report equal: "
                    f"{report(record) == expected}, verify: {verified.stderr.decode()}"
                )
            lost[way] += calls(root).total() - CASES
            shutil.rmtree(root)
            print(f"{way:14} {kills:3} kills; {total} so far", flush=True)
        print(f"{total} kills in {rounds} runs; no finished trial was run again; all reports equal")
        for way in WAYS:
            print(
                f"  {way:14} {wanted[way]:4} kills, {lost[way] / max(1, wanted[way]):.1f} calls lost in flight a kill"
            )
    finally:
        print(base) if sys.exc_info()[0] else shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
