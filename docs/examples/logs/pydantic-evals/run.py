import sys, json, asyncio
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected
def ds():
    return Dataset(name="sums", cases=[Case(name=f"sum-{i:02}", inputs=i, expected_output=2*i) for i in range(24)], evaluators=[EqualsExpected()])
def make(kind):
    def sums(i: int) -> int:
        if kind == "new" and i == 5: raise TimeoutError("the model did not answer")
        right = i % 2 == 0 if kind == "old" else i % 6 != 1
        return 2*i if right else -1
    return sums
for kind in ("old", "new"):
    report = ds().evaluate_sync(make(kind), progress=False)
    with open(f"{kind}.jsonl", "w") as out:
        for case in report.cases:
            print(json.dumps({"case": case.name, "passed": all(a.value for a in case.assertions.values())}), file=out)
        for case in report.failures:
            print(json.dumps({"case": case.name, "error": f"{case.error_message}"}), file=out)
