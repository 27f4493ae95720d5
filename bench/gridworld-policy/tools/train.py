"""
Train the three checkpoints and write them to ``checkpoints/``.

    python bench/gridworld-policy/tools/train.py [--check]

The same seed gives the same bytes, in any process. With ``--check`` nothing is written; the exit status is 1 if a file
differs from the result of the training.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import Final

from benchgate.loader.imports import bench_package

CLASS: Final = Path(__file__).resolve().parent.parent


def main() -> int:
    """Write or compare the checkpoints, and print the SHA-256 of each."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument("--check", action="store_true", help="compare, write nothing")
    check = options.parse_args().check
    with bench_package(CLASS.parent):
        from _benchgate_bench.gridworld_policy.tools.training import checkpoints

        made = checkpoints()
    differing = 0
    for name, text in made.items():
        path = CLASS / "checkpoints" / f"{name}.json"
        same = path.is_file() and path.read_text(encoding="utf-8") == text
        differing += not same
        if not check:
            path.write_text(text, encoding="utf-8")
        digest = hashlib.sha256(text.encode()).hexdigest()
        sys.stdout.write(f"{digest}  {name}.json{'' if same else '  differs'}\n")
    return int(check and differing > 0)


if __name__ == "__main__":
    sys.exit(main())
