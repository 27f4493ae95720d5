"""Evaluates a system with pydantic-evals; writes its report, and a line of JSON for each case: sums.py old|new."""

import json
import sys
from typing import Any

from pydantic import TypeAdapter
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected
from pydantic_evals.reporting import EvaluationReport


def system(number: int) -> int:
    """Double a number, as well as a version can."""
    if sys.argv[1] == "new" and number == 5:
        raise TimeoutError("the model did not answer")
    right = number % 2 == 0 if sys.argv[1] == "old" else number % 6 != 1
    return 2 * number if right else -1


dataset = Dataset(
    name="sums",
    cases=[Case(name=f"sum-{n:02}", inputs=n, expected_output=2 * n) for n in range(24)],
    evaluators=[EqualsExpected()],
)
report = dataset.evaluate_sync(system, progress=False)
for failure in report.failures:
    failure.error_stacktrace = ""  # it names the folders of a machine
with open(f"{sys.argv[1]}.json", "wb") as out:
    out.write(TypeAdapter(EvaluationReport[Any, Any, Any]).dump_json(report))
with open(f"{sys.argv[1]}.jsonl", "w") as out:
    for case in report.cases:
        passed = all(one.value for one in case.assertions.values())
        print(json.dumps({"case": case.name, "passed": passed}), file=out)
    for case in report.failures:  # not among the cases: a run that drops them looks better
        print(json.dumps({"case": case.name, "error": case.error_message}), file=out)
