"""The report of a SWE-bench evaluation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import Unreadable
from benchgate.interop.log import Layout, Log, Row, whole_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.interop.log import LogFile

PARTS: Final = {"resolved_ids": 1, "unresolved_ids": 0, "empty_patch_ids": 0, "error_ids": None}
"""Lists of a report, each with the score of its instances."""

FAILED: Final = "infra_failure_ids"
"""Instances whose environment broke; a report has them among the others too."""


def open_swebench(file: LogFile) -> Log:
    """
    Open the report of ``swebench.harness.run_evaluation``.

    An empty patch is not resolved. An instance that could not be evaluated, or whose environment broke, is an error,
    and one that was not submitted has no result. The field ``repo`` is what the id of an instance begins with.
    """
    path = file.path
    report = whole_json(file)
    if not isinstance(report, dict):
        raise Unreadable(path, "no report of SWE-bench: no JSON object")
    ids = {part: _ids(path, report, part) for part in (*PARTS, FAILED, "incomplete_ids")}
    rows = list(_rows(ids, report.get("failure_reasons")))
    version = report.get("schema_version")
    return Log(
        tool="swebench",
        version=None if version is None else f"schema {version}",
        rows=rows,
        layout=Layout(fields={"case": ("instance_id",), "error": ("error",)}),
        task="swe-bench",
        named=lambda: [*ids["incomplete_ids"], *_ids(path, report, "submitted_ids")],
    )


def _ids(path: Path, report: dict[str, Any], part: str) -> list[str]:
    if part not in report and part not in PARTS:
        return []  # only the lists that say how an instance did must be there
    names = report.get(part)
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise Unreadable(path, f"no report of SWE-bench: {part} is no list of ids")
    return names


def _rows(ids: dict[str, list[str]], reasons: Any) -> Iterator[Row]:
    why = reasons if isinstance(reasons, dict) else {}
    broken = {one: f"InfraFailure: {why.get(one, 'environment')}" for one in ids[FAILED]}
    places: dict[str, tuple[str, int | None]] = {}
    for part, score in PARTS.items():
        for one in ids[part]:
            before = places.setdefault(one, (part, score))
            if before[0] != part and before[1] == score:
                continue  # some tools list an empty patch as unresolved too
            error = "EvaluationError: it could not be evaluated" if score is None else None
            fields = {
                "instance_id": one,
                "repo": re.sub(r"-\d+$", "", one),
                "resolved": score,
                "error": None if score == 1 else broken.get(one, error),
            }
            yield Row(0, fields, metrics=("resolved",))
