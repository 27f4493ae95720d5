"""
Let npm check every output of every system, and damaged locks, and print how often the rubric agrees.

    python bench/vuln-remediation/tools/judge_systems.py [--seeds N]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.loader.systems import find_system
from benchgate.testing import load_cases, loaded_class

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.registry import System

CLASS: Final = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print the counts and what differs."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument("--seeds", type=int, default=1, help="damaged locks of each case")
    given = options.parse_args()
    with loaded_class(CLASS) as bench:
        systems = {
            name: find_system(bench.task_class, name).call for name in bench.task_class.systems
        }
        return _judge(systems, given.seeds)


def _judge(systems: Mapping[str, System], seeds: int) -> int:
    from _benchgate_bench.vuln_remediation.tools import judges
    from _benchgate_bench.vuln_remediation.tools.npm import Npm

    cases = list(load_cases(CLASS).values())
    npm = Npm.find()
    if npm is None:
        sys.stdout.write("no npm beside this Python or on the path\n")
        return 2
    differing = 0
    made = judges.outputs(cases, systems)
    for items in (made, judges.damaged_inputs(cases, seeds)):
        verdicts = judges.judge(npm, judges.distinct(items))
        sys.stdout.write(judges.sentence(len(items), verdicts) + "\n")
        for found in verdicts:
            if not found.agrees:
                differing += 1
                sys.stdout.write(f"  {found.item.case_id}, {found.item.label}\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
