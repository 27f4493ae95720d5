"""What the rows of a tool say that is in none of their fields: what follows from several, and contradictions."""

from __future__ import annotations

import json
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import excerpt
from benchgate.interop.log import found_in

if TYPE_CHECKING:
    from collections.abc import Mapping

HARBOR_GRADES: Final = frozenset(
    {
        "AgentTimeoutError",
        "AgentSafetyRefusalError",
        "ContentPolicyViolationError",
        "ContextLengthExceededError",
        "ContextWindowExceededError",
        "OutputLengthExceededError",
        "OutputTokenExceededError",
    }
)
"""Exceptions of Harbor that are the agent's own failures, so that its reward counts, where it does not say itself."""

EVALPLUS: Final = {"pass": 1, "fail": 0, "timeout": 0}


def made_for_promptfoo(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the failure of a test: what promptfoo calls an error says which assertion failed."""
    if row.get("failureReason") in (0, 1):
        return {"error": None, "failure": row.get("error")}
    return {}


def made_for_ctrf(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the id of a test, with the suites that its name lacks, its failure, and what broke around it."""
    suites = row.get("suite") or _file_of(row)
    if not isinstance(suites, list):
        suites = [suites]
    text = row.get("message") or row.get("trace") or row.get("status")
    made = {"case": _within_suites(suites, str(row.get("name") or "")), "error": None}
    if row.get("rawStatus") in ("setup_failed", "teardown_failed"):  # as pytest-json-ctrf has it
        made["error"] = text
    elif row.get("status") == "failed":
        made["failure"] = text
    return made


def _within_suites(suites: list[Any], name: str) -> str:
    """Return the name of a test with its suites before it, unless it has them already."""
    within = "::".join(str(one) for one in suites if one)
    if not within:
        return name
    if name.startswith(within):
        rest = name.removeprefix(within)
        # "a::test" of the suite "a" names it, "adds" does not.
        if not rest[:1].isalnum():
            return name
    return f"{within}::{name}"


def _file_of(row: Mapping[str, Any]) -> str:
    """Return the file of a test, which tells it from others of its name; not where it lies on one machine alone."""
    path = str(row.get("filePath") or "")
    is_absolute = PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
    if is_absolute:
        return ""
    return path


def made_for_pytest_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the failure of a test, what broke around it, and the result of one that was run again."""
    said = {
        stage: found_in(row, f"{stage}.crash.message") for stage in ("setup", "call", "teardown")
    }
    if row.get("outcome") == "error":
        return {"error": said["setup"] or said["teardown"] or "Error: its outcome is error"}
    made = {"error": None, "failure": said["call"]}
    if row.get("outcome") == "rerun":
        made["reruns"] = 1
        made["outcome"] = found_in(row, "call.outcome")
    return made


def made_for_evalplus(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether a solution passes the base tests, and, if they were run, those and the others."""
    base = EVALPLUS.get(str(row.get("base_status")))
    scores = {"base": base}
    if row.get("plus_status") is not None:
        plus = EVALPLUS.get(str(row["plus_status"]))
        scores["plus"] = None if None in (base, plus) else min(base or 0, plus or 0)
    return {"measured": scores}


def made_for_harbor(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return why the reward of a trial does not count: Harbor grades trials even if the model's provider failed."""
    failure = row.get("exception_info")
    is_valid = row.get("reward_valid")
    if is_valid is None:
        kind = failure.get("exception_type") if isinstance(failure, dict) else None
        is_valid = not failure or kind in HARBOR_GRADES
    if is_valid:
        return {"error": None}
    return {"error": failure or "Error: reward_valid is false"}


def made_for_openai_evals(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of an event."""
    return {"measured": _numbers(row.get("data"))}


def made_for_lm_eval(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of a document, which newer versions name."""
    names = row.get("metrics")
    if isinstance(names, list):
        return {"measured": {str(name): row.get(name) for name in names}}
    return {"measured": _numbers({name: row[name] for name in row if name != "doc_id"})}


def _numbers(fields: Any) -> dict[str, Any]:
    if not isinstance(fields, dict):
        return {}
    return {name: value for name, value in fields.items() if isinstance(value, (bool, int, float))}


def promptfoo_contradicts(row: Mapping[str, Any]) -> str | None:
    """Say whether a test passed of which the grading, a reason or an error says the opposite."""
    passed = found_in(row, "gradingResult.pass")
    if None not in (row.get("success"), passed) and row["success"] != passed:
        return f"success is {_shown(row['success'])}, but gradingResult.pass is {_shown(passed)}"
    if row.get("success") is not True:
        return None
    reason = row.get("failureReason")
    if reason not in (None, 0, ""):
        return f"success is true, but failureReason is {_shown(reason)}"
    said = row.get("error") or row.get("failure")
    if said:
        return f"success is true, but it has an error: {said}"
    return None


def deepeval_contradicts(row: Mapping[str, Any]) -> str | None:
    """Say whether a case passed of which a metric did not; a case that failed may have others that are not listed."""
    if row.get("success") is not True:
        return None
    for name, metric in named("metricsData", row.get("metricsData")):
        if isinstance(metric, dict) and not metric.get("error") and metric.get("success") is False:
            return f"success is true, but that of its metric {name!r} is false"
    return None


def langsmith_contradicts(row: Mapping[str, Any]) -> str | None:
    """Say whether a run ended in an error that it does not have."""
    if row.get("status") == "error" and not row.get("error"):
        return "its status is error, but it has no error"
    return None


def _shown(value: Any) -> str:
    """Return a value as the file has it."""
    return excerpt(json.dumps(value), 60)


def named(path: str, found: Any) -> list[tuple[str, Any]]:
    """Return the scores of a field by name: its parts, or itself."""
    if isinstance(found, dict):
        return [*found.items()]
    if isinstance(found, list):
        return [(str(one.get("name")), one) for one in found if isinstance(one, dict)]
    if found is None:
        return []
    return [(path, found)]
