"""Writes the events of an experiment as Braintrust's API returns them, with the fields of its own type: sums.py old|new."""

import json
import sys

from braintrust._generated_types import ExperimentEvent

IS_NEW = sys.argv[1] == "new"
events = []
for n in range(24):
    right = n % 6 != 1 if IS_NEW else n % 2 == 0
    erred = IS_NEW and n == 5
    root = f"{sys.argv[1]}-{n:02}"
    common = {
        "_xact_id": "1000197000000000000",
        "created": "2026-11-25T00:00:00.000Z",
        "project_id": "4f1ad3b4-0000-4000-8000-000000000001",
        "experiment_id": f"4f1ad3b4-0000-4000-8000-00000000000{2 + IS_NEW}",
        "root_span_id": root,
    }
    origin = {
        "object_type": "dataset",
        "object_id": "d",
        "id": f"sum-{n:02}",
        "_xact_id": "1",
        "created": None,
    }
    events.append(
        common
        | {
            "id": root,
            "span_id": root,
            "span_parents": None,
            "is_root": True,
            "input": {"n": n},
            "expected": 2 * n,
        }
        | {
            "output": None if erred else 2 * n if right else -1,
            "origin": origin,
            "metadata": {},
            "tags": None,
        }
        | {"error": "TimeoutError: the model did not answer" if erred else None}
        | {
            "scores": {} if erred else {"Exact": float(right), "Short": 1.0},
            "metrics": {"start": 1.0, "end": 2.0},
        }
        | {"span_attributes": {"name": "eval", "type": "eval"}}
    )
    events.append(
        common
        | {
            "id": f"{root}-t",
            "span_id": f"{root}-t",
            "span_parents": [root],
            "is_root": False,
            "input": {"n": n},
        }
        | {"scores": None, "error": None, "span_attributes": {"name": "task", "type": "task"}}
    )
for event in events:
    assert event.keys() <= ExperimentEvent.__annotations__.keys()
with open(f"{sys.argv[1]}.json", "w") as out:
    json.dump({"events": events, "cursor": None}, out)
