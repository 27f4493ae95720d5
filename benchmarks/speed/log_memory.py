"""
How much memory it takes to gate logs of 200 MB: the peak of a process, for each format, beside that of a small log.

    python benchmarks/speed/log_memory.py [MEGABYTES]

Of a log of inspect_ai only the summaries are read, so that it is not its size that counts but its number of samples.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = 5000


def jsonl(path: Path, size: int, side: int) -> None:
    """Write JSON lines with long transcripts."""
    filler = "x" * (size // SAMPLES)
    with path.open("w") as file:
        for n in range(SAMPLES):
            row = {"id": n, "score": (n + side) % 2 or side, "transcript": filler}
            print(json.dumps(row), file=file)


def csv(path: Path, size: int, side: int) -> None:
    """Write a CSV with a long column."""
    filler = "x" * (size // SAMPLES)
    with path.open("w") as file:
        print("id,transcript,score", file=file)
        for n in range(SAMPLES):
            print(f"{n},{filler},{(n + side) % 2 or side}", file=file)


def junit(path: Path, size: int, side: int) -> None:
    """Write JUnit XML with long outputs."""
    filler = "x" * (size // SAMPLES)
    with path.open("w") as file:
        print('<testsuite name="s">', file=file)
        for n in range(SAMPLES):
            failure = "" if (n + side) % 2 or side else '<failure message="m"/>'
            out = f"<system-out>{filler}</system-out>"
            print(f'<testcase classname="a" name="t{n}">{failure}{out}</testcase>', file=file)
        print("</testsuite>", file=file)


def peak(folder: Path, name: str) -> tuple[float, float]:
    """Return the peak memory in MB and the seconds of a gate over two logs, in a process of its own."""
    code = (
        "import resource, sys; from benchgate.cli import main; main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr)"
    )
    logs = [str(folder / f"{side}.{name}") for side in (0, 1)]
    words = [sys.executable, "-c", code, "gate", *logs, f"--out={folder / 'proof'}"]
    began = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(done.stderr.split()[-1]), time.perf_counter() - began


def main() -> None:
    """Print a line for each format."""
    megabytes = int(sys.argv[1]) if sys.argv[1:] else 200
    makers: dict[str, Callable[[Path, int, int], None]] = {
        "jsonl": jsonl,
        "csv": csv,
        "xml": junit,
    }
    for name, make in makers.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            found = []
            for size in (1, megabytes):
                for side in (0, 1):
                    make(folder / f"{side}.{name}", size * 1_000_000, side)
                found.append(peak(folder, name))
        (small, _), (large, seconds) = found
        print(
            f"{name:6} {SAMPLES} samples: {small:.0f} MB of memory for logs of 1 MB, "
            f"{large:.0f} MB for {megabytes} MB, {seconds:.1f} s"
        )


if __name__ == "__main__":
    main()
