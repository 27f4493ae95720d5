"""
Record what ``npm audit fix`` does to each case, or check that it still does the same.

    python bench/vuln-remediation/tools/record_npm.py [--check | --force] [CASE ...]

npm runs against a registry on the loopback interface, which serves the metadata of the case and the frozen
advisories, and contacts nothing else. The npm beside this Python is used, else the one on the path.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.loader.imports import bench_package
from benchgate.testing import load_cases

if TYPE_CHECKING:
    from _benchgate_bench.vuln_remediation.tools.npm import Npm

BENCH: Final = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    """Record the cases, or compare them with their cassettes."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 on a difference"
    )
    options.add_argument("cases", nargs="*", metavar="CASE")
    options.add_argument(
        "--force", action="store_true", help="print how npm audit fix --force scores"
    )
    given = options.parse_args()
    with bench_package(BENCH):
        from _benchgate_bench.vuln_remediation.tools import cassettes
        from _benchgate_bench.vuln_remediation.tools.npm import Npm

        npm, cases = Npm.find(), given.cases or cassettes.every_case()
        if npm is None:
            _say("no npm beside this Python or on the path")
            return 2
        return _forced(npm, cases) if given.force else _record(npm, cases, check=given.check)


def _forced(npm: Npm, cases: list[str]) -> int:
    from _benchgate_bench.vuln_remediation.observers.npm_test import npm_test
    from _benchgate_bench.vuln_remediation.rubric import VulnRemediationRubric
    from _benchgate_bench.vuln_remediation.tools import cassettes

    known, passed, points = load_cases(cassettes.CLASS), 0, 0.0
    runs = cassettes.forced(npm, cases)
    for case_id, run in runs.items():
        answer = {"files": run.files}
        score = VulnRemediationRubric().score(npm_test.seen(known[case_id], answer), answer)
        passed += score.passed
        points += score.score
        failed = next((line for line in run.stderr.splitlines() if "npm error code" in line), "")
        _say(f"{case_id}: {score.score:.2f}{'' if score.passed else ' failed'} {failed}".rstrip())
    _say(
        f"npm {npm.version} audit fix --force: {passed} of {len(runs)} pass, mean {points / len(runs):.3f}"
    )
    return 0


def _record(npm: Npm, cases: list[str], *, check: bool) -> int:
    from _benchgate_bench.vuln_remediation.systems.npm_audit_fix import SYSTEM
    from _benchgate_bench.vuln_remediation.tools import cassettes

    differing, recorded = 0, cassettes.record(npm, cases)
    for case_id, made in recorded.items():
        if not check:
            cassettes.store(case_id, made)
            continue
        path = cassettes.CLASS / "cases" / case_id / "cassettes" / f"{SYSTEM}.json"
        if found := cassettes.differences(path.read_bytes(), made):
            differing += 1
            _say(f"{case_id}: {', '.join(found)} differ")
    _say(f"npm {npm.version} on Node.js {npm.node}: {differing} of {len(recorded)} differ")
    return 1 if differing else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
