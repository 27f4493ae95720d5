"""
Score answers to Dockerfiles that are not in the class, and compare the verdicts with labels.

    BENCHGATE_BUILDER=docker python bench/migration-chainguard-distroless/tools/score_answers.py FOLDER

``FOLDER`` has a folder for each Dockerfile, with ``input/`` and ``expected/expected.json`` as a case has them, and
``answers/NAME/`` for each answer, with the files that it returns. ``answers/labels.json`` says by name whether an
answer is right. Load the stand-ins with ``record_observations.py --load DEBIAN --projects FOLDER`` before, so that they
have the packages that these projects ask for.

An answer counts as passed if it passes and has no penalty. Nothing is written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.loader.imports import bench_package
from benchgate.testing import load_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

CLASS: Final = Path(__file__).resolve().parent.parent


def main() -> int:
    """Score the answers, print each and the sum; return 1 if one could not be built."""
    with bench_package(CLASS.parent):
        found = list(scored(Path(sys.argv[1])))
    missing = sum(passed is None for passed, _ in found)
    labelled = [one for one in found if None not in one]
    refused, let_by = (labelled.count((not right, right)) for right in (True, False))
    low, high = interval(refused + let_by, len(labelled))
    sys.stdout.write(
        f"{refused + let_by} of {len(labelled)} judged wrongly: {refused} right ones refused, {let_by} broken ones "
        f"passed; 95 % interval {low:.1%} to {high:.1%}; {missing} not built\n"
    )
    return min(missing, 1)


def scored(folder: Path) -> Iterator[tuple[bool | None, bool | None]]:
    """Yield whether each answer passed, None if it could not be built, and its label, None without one."""
    from _benchgate_bench.migration_chainguard_distroless.observers.build import build
    from _benchgate_bench.migration_chainguard_distroless.project import read_input
    from _benchgate_bench.migration_chainguard_distroless.rubric import MigrationRubric

    like = next(case for case in load_cases(CLASS).values() if case.disposition == "positive")
    for app in sorted(path.parent for path in folder.glob("*/answers")):
        path = app / "answers/labels.json"
        labels = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        paths = {"input_path": app / "input", "expected_path": app / "expected"}
        case = like.model_copy(update={"case_id": app.name, **paths})
        for one in sorted(path for path in (app / "answers").iterdir() if path.is_dir()):
            output = {"files": read_input(one)}
            try:
                seen = case.model_copy(update={"observation": build(case, output)})
                score = MigrationRubric().score(seen, output)
                passed, why = score.passed and score.safety_penalty == 0, score.explanation or ""
            except Exception as error:
                passed, why = None, str(error)
            said = {True: "passed", False: "failed", None: "unknown"}
            label = labels.get(one.name)
            mark = " WRONG" if None not in (passed, label) and passed is not label else ""
            sys.stdout.write(f"{app.name}/{one.name}: {said[passed]}{mark} {why}\n")
            sys.stdout.flush()
            yield passed, label


def interval(count: int, of: int) -> tuple[float, float]:
    """Return Wilson's interval of 95 % of a share; all of [0, 1] of none."""
    from scipy.stats import binomtest

    low, high = binomtest(count, of).proportion_ci(method="wilson") if of else (0.0, 1.0)
    return float(low), float(high)


if __name__ == "__main__":
    sys.exit(main())
