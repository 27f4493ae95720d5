"""The report of a SWE-bench evaluation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import Unreadable
from benchgate.interop.log import Log, whole_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.interop.log import Row

PARTS: Final = {
    "resolved_ids": (1, None),
    "unresolved_ids": (0, None),
    "empty_patch_ids": (0, None),
    "error_ids": (None, "EvaluationError: the patch could not be evaluated"),
}
"""Lists of a report, each with the score of its instances, or why they have none."""


def open_swebench(path: Path) -> Log:
    """
    Open the report of ``swebench.harness.run_evaluation``.

    An empty patch is not resolved. An instance that could not be evaluated is an error, and one that was not submitted
    has no result. The field ``repo`` is what the id of an instance begins with.
    """
    report = whole_json(path)
    for part in PARTS:
        ids = report.get(part) if isinstance(report, dict) else None
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            raise Unreadable(path, f"no report of SWE-bench: {part} is no list of ids")
    version = report.get("schema_version")
    submitted = {one for part in PARTS for one in report[part]}
    rest = [*report.get("incomplete_ids", ()), *report.get("submitted_ids", ())]
    return Log(
        tool="swebench",
        version=f"schema {version}" if version is not None else None,
        rows=_rows(report),
        fields={"case": "instance_id", "error": "error"},
        metrics=lambda _: ["resolved"],
        task="swe-bench",
        named=lambda: [str(one) for one in rest if one not in submitted],
    )


def _rows(report: dict[str, Any]) -> Iterator[Row]:
    for part, (score, error) in PARTS.items():
        for one in report[part]:
            repo = re.sub(r"-\d+$", "", one)
            yield 0, {"instance_id": one, "repo": repo, "resolved": score, "error": error}
