"""
Measure how long benchgate.accept takes on 50 cases, once it is imported; prints milliseconds.

    python benchmarks/speed/accept.py

Each call has scores of its own and the level of its own look, so that nothing kept from the call before helps. The
ledger waits for the disk, so each call is timed by two clocks: the processor's and the one on the wall.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from pathlib import Path

from benchgate import LookLedger, accept

CASES, CALLS = 50, 40
CLOCKS = {"processor": time.process_time, "wall": time.perf_counter}


def sides(rng: random.Random, *, passes: bool) -> list[dict[str, float]]:
    """Draw the scores of a baseline and of a candidate that is as good."""
    level = {f"case-{number:02}": rng.random() for number in range(CASES)}
    if passes:
        return [{case: float(rng.random() < p) for case, p in level.items()} for _ in range(2)]
    noisy = [{case: p + rng.gauss(0, 0.1) for case, p in level.items()} for _ in range(2)]
    return [{case: min(1.0, max(0.0, s)) for case, s in side.items()} for side in noisy]


def main() -> None:
    """Print the median and the slowest tenth for each kind of scores and each test."""
    rng = random.Random(1)  # noqa: S311
    accept(*sides(rng, passes=True), policy={"test": "auto"})
    accept(*sides(rng, passes=False), policy={"test": "auto"})
    with tempfile.TemporaryDirectory() as folder:
        for passes in (True, False):
            for test in ("auto", "welch"):
                ledger = LookLedger(Path(folder) / f"{passes}-{test}.jsonl")
                policy = {"test": test, "score_range": [0, 1], "looks": "spend"}
                taken: dict[str, list[float]] = {clock: [] for clock in CLOCKS}
                for _ in range(CALLS):
                    given = sides(rng, passes=passes)
                    began = {clock: read() for clock, read in CLOCKS.items()}
                    accept(*given, policy=policy, ledger=ledger, incumbent="one")
                    for clock, read in CLOCKS.items():
                        taken[clock].append(1000 * (read() - began[clock]))
                what = "pass or fail" if passes else "scores"
                for clock, times in taken.items():
                    tenth = statistics.quantiles(times, n=10)[-1]
                    shown = f"median {statistics.median(times):5.1f} ms, one in ten above {tenth:5.1f} ms"
                    print(f"{what:12} {test:5} {clock:9} {shown}")


if __name__ == "__main__":
    main()
