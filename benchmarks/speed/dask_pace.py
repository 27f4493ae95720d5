"""
How close 200 trials of 200 ms on 8 threads of Dask workers come to the 5 seconds of no overhead.

    python benchmarks/speed/dask_pace.py [ROUNDS [WORKERS]]
    python benchmarks/speed/dask_pace.py 20 2 --trials 1000 --seconds 0.6 --threads 128

Starts a scheduler and 2 workers of 4 threads on this machine; the second command looks whether a session ever stands
still (it fails if a trial has no result, and says how many were started again). In each round a whole session of pytest
runs; it counts what passes from the first start of a trial to the last end, as the trials themselves log it, and the
whole process. After each, Dask alone runs the same sleeps, all submitted at once, so that other work on the machine
shows.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from overhead import make_bench

REGISTRATION = """\
import time
from benchgate import register_task_class
from .rubric import Constant

def system(case):
    started = time.time()
    time.sleep({0})
    return {{"started": started, "ended": time.time()}}

register_task_class("trivial", systems={{"sleeps": system}})(Constant)
"""


def start(folder: Path, program: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a process of Dask."""
    with (folder / program).open("ab") as log:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments, "--no-dashboard"]
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)


def address(folder: Path) -> str:
    """Return where the scheduler listens."""
    for _ in range(300):
        text = (folder / "dask_scheduler").read_text()
        if found := re.search(r"Scheduler at:\s+tcp://(\S+)", text):
            return found[1]
        time.sleep(0.1)
    raise TimeoutError(text)


class Ran(NamedTuple):
    """A session: seconds from the first start of a trial to the last end, those of the process, its CPU, retries."""

    span: float
    whole: float
    cpu: float
    retries: int


def cpu() -> float:
    """Return the CPU seconds of the sessions so far; the processes of Dask have not ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def session(root: Path, where: str, number: int, trials: int) -> Ran:
    """Run a session."""
    out = f"out{number}"
    command = [sys.executable, "-m", "pytest", "-q", "--bench=trivial", "--bench-baseline=none"]
    given = [f"--bench-out={out}", f"--bench-executor=dask://{where}"]
    started, cpu_before = time.perf_counter(), cpu()
    subprocess.run([*command, *given], cwd=root, check=True, stdout=subprocess.DEVNULL)
    whole = time.perf_counter() - started
    files = (root / out).glob("runs/trivial/*/cases/*.json")
    read = [json.loads(path.read_bytes()) for path in files]
    if len(read) != trials:
        sys.exit(f"{len(read)} of {trials} trials ran")
    found = [trial["output"] for trial in read]
    span = max(t["ended"] for t in found) - min(t["started"] for t in found)
    retries = sum(trial["result"]["retries"] for trial in read)
    return Ran(span, whole, cpu() - cpu_before, retries)


def plain(where: str, trials: int, seconds: float) -> float:
    """Return the seconds from the first start to the last end of the same work in bare Dask."""
    from distributed import Client

    def work(_: int) -> tuple[float, float]:
        started = time.time()
        time.sleep(seconds)
        return started, time.time()

    with Client(f"tcp://{where}", set_as_default=False) as client:
        found = client.gather(client.map(work, range(trials), pure=False))
    return max(end for _, end in found) - min(start for start, _ in found)


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("workers", type=int, nargs="?", default=2)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--threads", type=int, default=8)
    given = parser.parse_args()
    trials, seconds = given.trials, given.seconds
    ideal = -(-trials // given.threads) * seconds
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        make_bench(root, trials)
        (root / "bench/trivial/registration.py").write_text(REGISTRATION.format(seconds))
        (root / "pytest.ini").write_text("[pytest]\n")
        processes = [start(root, "dask_scheduler", "--host=127.0.0.1", "--port=0")]
        where = address(root)
        own = (f"tcp://{where}", f"--nthreads={given.threads // given.workers}", "--no-nanny")
        processes += [start(root, "dask_worker", *own) for _ in range(given.workers)]
        try:
            time.sleep(5)
            runs, bare = [], []
            for number in range(given.rounds):
                runs.append(session(root, where, number, trials))
                bare.append(plain(where, trials, seconds))
        finally:
            # Workers first, and at once: one whose scheduler is gone looks for it for minutes.
            for process in reversed(processes):
                process.kill()
                process.wait()
    spans = sorted(run.span for run in runs)
    figures = {
        "ideal_s": ideal,
        "first_start_to_last_end_s": [round(span, 2) for span in spans],
        "share_of_ideal": {
            "best": round(ideal / spans[0], 3),
            "median": round(ideal / spans[len(spans) // 2], 3),
        },
        "bare_dask_share_of_ideal": {
            "best": round(ideal / min(bare), 3),
            "median": round(ideal / sorted(bare)[len(bare) // 2], 3),
        },
        "whole_process_s": [round(run.whole, 2) for run in runs],
        "session_cpu_s": [round(run.cpu, 2) for run in runs],
        "started_again": sum(run.retries for run in runs),
        "load": os.getloadavg()[0],
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
