"""
Where the time of one more case goes, with a profiler and without.

    python benchmarks/speed/further_case.py [CASES]

Runs a class of trivial cases under pytest, CASES of them and 100, and takes the difference, so that the start drops
out. Once each function call is counted and timed by cProfile, which makes functions that do little look slow; once the
stack is looked at every few milliseconds of CPU, which changes nothing and sees C code as part of what calls it. Prints
JSON: shares in percent by whose code it is and by part of the run, and calls for each case.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from overhead import PLUGIN, PYTEST, environment, make_bench

if TYPE_CHECKING:
    from types import FrameType

FEW = 100
EVERY = 0.001
PARTS = {
    "record_of": "trial: ask the system, score, write the file",
    "runtestprotocol": "pytest around it: hooks, capture, reports",
    "perform_collect": "collection: read and check the case",
    "_plan": "plan: digest of the case",
    "_finish": "end: report, record, views",
}
"""Functions of pytest and the plugin that a part of a run is in, the innermost first."""
OWNERS = {
    "benchgate": "benchgate",
    "_pytest": "pytest",
    "pytest_timeout": "pytest",
    "pluggy": "pluggy",
    "pydantic": "pydantic",
}
COUNTED = {
    "all functions": "",
    "hook calls": "_hookexec",
    "models": "validate_python",
    "opened files": "posix.open",
}


def owner(file: str, name: str = "") -> str:
    """Return whose code a function is."""
    if file == "~":
        return "pydantic" if "pydantic_core" in name else "builtins"
    for word, whose in OWNERS.items():
        if word in file:
            return whose
    return "standard library"


def profiled() -> dict[str, Counter[str]]:
    """Run pytest with a profiler; return seconds by owner, and calls."""
    import pytest

    profile = cProfile.Profile(time.process_time)
    profile.enable()
    pytest.main(arguments())
    profile.disable()
    seconds: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for (file, _, name), (_, count, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        seconds[owner(file, name)] += own
        for what, word in COUNTED.items():
            if word in name:
                calls[what] += count
    return {"owners": seconds, "calls": calls}


def sampled() -> dict[str, Counter[str]]:
    """Run pytest without a profiler; return samples by owner and by part."""
    import pytest

    owners: Counter[str] = Counter()
    parts: Counter[str] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        if frame is None:
            return
        owners[owner(frame.f_code.co_filename)] += 1
        while frame is not None:
            if frame.f_code.co_name in PARTS:
                parts[PARTS[frame.f_code.co_name]] += 1
                return
            frame = frame.f_back

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    pytest.main(arguments())
    signal.setitimer(signal.ITIMER_PROF, 0)
    return {"owners": owners, "parts": parts}


def arguments() -> list[str]:
    """Return the arguments of pytest."""
    return [*PYTEST[2:], *PLUGIN, "--bench=trivial", "--bench-baseline=none"]


WAYS = {"profiled": profiled, "sampled": sampled}


def measured(way: str, folder: Path) -> dict[str, Counter[str]]:
    """Return what a way to look finds in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        found = Path(name, "found.json")
        command = [sys.executable, os.path.abspath(__file__), way, str(found)]
        subprocess.run(
            command, cwd=folder, env=environment(), check=True, stdout=subprocess.DEVNULL
        )
        return {what: Counter(counts) for what, counts in json.loads(found.read_text()).items()}


def shares(many: Counter[str], few: Counter[str]) -> dict[str, float]:
    """Return how much of the difference each has, in percent, the most first."""
    further = {what: many[what] - few[what] for what in many}
    whole = sum(further.values())
    ordered = sorted(further.items(), key=lambda pair: -pair[1])
    return {what: round(100 * part / whole, 1) for what, part in ordered}


def main() -> None:
    """Print the figures as JSON."""
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(WAYS[sys.argv[1]]()))
        return
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    found: dict[str, dict[int, dict[str, Counter[str]]]] = {}
    with tempfile.TemporaryDirectory() as name:
        for way in WAYS:
            found[way] = {}
            for count in (FEW, cases):
                folder = Path(name, f"{way}{count}")
                make_bench(folder, count)
                (folder / "pytest.ini").write_text("[pytest]\n")
                found[way][count] = measured(way, folder)
    few, many = found["profiled"][FEW], found["profiled"][cases]
    less, more = found["sampled"][FEW], found["sampled"][cases]
    calls = {
        what: round((many["calls"][what] - few["calls"][what]) / (cases - FEW), 1)
        for what in COUNTED
    }
    figures = {
        "with a profiler, by owner": shares(many["owners"], few["owners"]),
        "without, by owner": shares(more["owners"], less["owners"]),
        "without, by part": shares(more["parts"], less["parts"]),
        "calls for each case": calls,
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
