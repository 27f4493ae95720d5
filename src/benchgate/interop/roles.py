"""
What a field of a log may say.

The command line names the roles in a help text that every command builds, so this module imports nothing heavy.
"""

from __future__ import annotations

from typing import Final

ROLES: Final = (
    "case",
    "score",
    "passed",
    "trial",
    "cluster",
    "harm",
    "safety",
    "penalty",
    "error",
    "reruns",
    "input",
    "target",
    "answer",
)
"""What ``--map`` takes; docs/how-to/gate-existing-logs.md explains each."""

CASE_ROLES: Final = ("case", "input", "expected", "tag", "cluster")
"""What ``--map`` takes where rows become cases."""

CASES: Final = (
    *("case", "case_id", "instance_id", "sample_id", "task_id", "task_name", "question_id"),
    *("doc_id", "test_id", "id", "name"),
)
SCORES: Final = (
    "score",
    "resolved",
    "is_resolved",
    "passed",
    "correct",
    "success",
    "reward",
    "accuracy",
)
"""Fields of a table that are case and score unless others are named."""

ROW: Final = "row"
"""In place of a field, the number of the row in its file: ``case=row``; a field of that name is taken before it."""

NONE: Final = "none"
"""In place of a field, that nothing is read for a role: ``trial=none``."""

IN_ONE_FILE: Final = (
    "where one file has both, say which rows are whose, --where A:FIELD=VALUE --where B:FIELD=VALUE, or which fields, "
    "--map A:score=FIELD,B:score=FIELD"
)
"""What to do if both sides are one file."""
