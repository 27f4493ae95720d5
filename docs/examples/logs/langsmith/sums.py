"""Writes runs as Client.list_runs() of langsmith returns them, a line for each, by its own model: sums.py old|new."""

import sys
from datetime import datetime, timezone
from uuid import NAMESPACE_URL, uuid5

from langsmith.schemas import Run

IS_NEW = sys.argv[1] == "new"
START = datetime(2026, 11, 25, tzinfo=timezone.utc)


def run(name, n, **fields):
    of = uuid5(NAMESPACE_URL, f"{sys.argv[1]} {name} {n}")
    times = {"start_time": START, "end_time": START}
    return Run(
        id=of,
        name=name,
        run_type="chain",
        trace_id=of,
        inputs={"n": n},
        session_id=of,
        **times,
        **fields,
    )


with open(f"{sys.argv[1]}.jsonl", "w") as out:
    for n in range(24):
        right = n % 6 != 1 if IS_NEW else n % 2 == 0
        erred = IS_NEW and n == 5
        stats = {
            "correct": {"n": 1, "avg": float(right), "values": {}},
            "harmful": {"n": 1, "avg": 0.1, "values": {}},
        }
        top = run(
            "double",
            n,
            outputs=None if erred else {"answer": 2 * n if right else -1},
            error="TimeoutError('the model did not answer')" if erred else None,
            reference_example_id=uuid5(NAMESPACE_URL, f"sum {n}"),
            feedback_stats={} if erred else stats,
        )
        # A run has its parts below it, which are in an export of all runs too.
        for one in (top, run("model", n, parent_run_id=top.id, feedback_stats=None)):
            print(one.model_dump_json(exclude_none=False), file=out)
