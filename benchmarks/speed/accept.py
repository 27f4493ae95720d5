"""
Measure how long benchgate.accept takes on 50 cases, once it is imported; prints milliseconds.

    python benchmarks/speed/accept.py

Each call has scores of its own and the level of its own look, so that nothing kept from the call before helps. The
clock is that of the processor; the file of the ledger waits for the disk, and is timed by the clock on the wall.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from pathlib import Path

from benchgate import LookLedger, accept

CASES, CALLS = 50, 40


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
                for kind, clock in (("memory", time.process_time), ("file", time.perf_counter)):
                    path = Path(folder) / f"{passes}-{test}.jsonl" if kind == "file" else None
                    ledger, taken = LookLedger(path), []
                    policy = {"test": test, "score_range": [0, 1], "looks": "spend"}
                    for _ in range(CALLS):
                        given = sides(rng, passes=passes)
                        began = clock()
                        accept(*given, policy=policy, ledger=ledger, incumbent="one")
                        taken.append(1000 * (clock() - began))
                    tenth = statistics.quantiles(taken, n=10)[-1]
                    what = "pass or fail" if passes else "scores"
                    shown = f"median {statistics.median(taken):5.1f} ms, one in ten above {tenth:5.1f} ms"
                    print(f"{what:12} {test:5} {kind:6} {shown}")


if __name__ == "__main__":
    main()
