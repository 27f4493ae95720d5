"""Prints one line of JSON for each trial of a job of Harbor: rows.py jobs/JOB > JOB.jsonl."""

import glob
import json
import sys

# Failures that are the agent's own, so that its reward counts; see ErrorPolicy of Harbor.
ITS_OWN = {
    "AgentTimeoutError",
    "AgentSafetyRefusalError",
    "ContentPolicyViolationError",
    "ContextLengthExceededError",
    "ContextWindowExceededError",
    "OutputLengthExceededError",
    "OutputTokenExceededError",
}

for path in sorted(glob.glob(f"{sys.argv[1]}/*/result.json")):
    with open(path) as file:
        trial = json.load(file)
    failure = trial["exception_info"]
    row = {
        "task_name": trial["task_name"],
        "trial_name": trial["trial_name"],
        "reward": ((trial["verifier_result"] or {}).get("rewards") or {}).get("reward"),
        "error": None if failure and failure["exception_type"] in ITS_OWN else failure,
    }
    print(json.dumps(row))
