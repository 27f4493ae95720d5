"""
Ask npm and the rubric about the hundred changes in ``blind_mutations.py``, and print each with all three words.

    python bench/vuln-remediation/tools/judge_mutations.py [--npm PATH] [--differing]

The first word is the one of the list, written before the rubric was read. npm says ``takes`` if it installs what it
would install for the unchanged answer, ``acts`` if something else, ``refuses`` if it fails. It does not judge style,
hashes or what a range lets in later: there it takes what the rubric does not.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.testing import load_cases, loaded_class

if TYPE_CHECKING:
    from collections.abc import Iterator

CLASS: Final = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print the words on every change."""
    options = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    options.add_argument("--npm", type=Path, help="an npm; default the one found")
    options.add_argument(
        "--differing", action="store_true", help="only where list and rubric differ"
    )
    given = options.parse_args()
    with loaded_class(CLASS) as bench:
        from _benchgate_bench.vuln_remediation.tools.npm import Npm

        npm = Npm(given.npm.absolute()) if given.npm else Npm.find()
        rows = list(judged(bench.task_class.systems["ladder"], npm, only_differing=given.differing))
    for row in rows:
        sys.stdout.write(f"| {' | '.join(row)} |\n")
    same = sum(row[2] == row[4] for row in rows)
    sys.stdout.write(
        f"{len(rows)} changes, list and rubric agree on {same}, npm {npm.version if npm else 'absent'}\n"
    )
    return 0


def judged(ladder: Any, npm: Any, *, only_differing: bool = False) -> Iterator[tuple[str, ...]]:
    """Yield case, change, the list's word, npm's and the rubric's."""
    from _benchgate_bench.vuln_remediation.rubric import VulnRemediationRubric
    from _benchgate_bench.vuln_remediation.tools.blind_mutations import (
        LOCK,
        MANIFEST,
        MUTATIONS,
        Answer,
    )
    from _benchgate_bench.vuln_remediation.tools.cassettes import frozen_packages, project_files
    from _benchgate_bench.vuln_remediation.tools.hunt import Subject, seen
    from _benchgate_bench.vuln_remediation.tools.loopback_registry import LoopbackRegistry

    cases = {case_id[:3]: case for case_id, case in load_cases(CLASS).items()}
    packages = {
        number: frozen_packages(cases[number].case_id) for number in {one.case for one in MUTATIONS}
    }
    rights: dict[str, Any] = {}
    with LoopbackRegistry(packages, {}) as registry:
        for one in MUTATIONS:
            case = cases[one.case]
            right = ladder(case)
            manifest, lock = (json.loads(right["files"][name]) for name in (MANIFEST, LOCK))
            answer = Answer(manifest, lock, status=right["status"])
            one.change(answer)
            output = answer.output()
            word = "right" if VulnRemediationRubric().score(case, output).passed else "fault"
            if only_differing and word == one.word:
                continue
            npm_word = "-"
            if npm is not None:
                subject = Subject(one.case, case, {}, installable=False)
                url, beside = registry.url(one.case), project_files(case.input_path)
                if one.case not in rights:
                    rights[one.case] = seen(npm, {**beside, **right["files"]}, url, subject)
                now = seen(npm, {**beside, **output["files"]}, url, subject)
                failed = any(code for code, _ in now.values())
                npm_word = "takes" if now == rights[one.case] else "refuses" if failed else "acts"
            yield one.case, one.title, one.word, npm_word, word


if __name__ == "__main__":
    sys.exit(main())
