"""Writes the file of a trial."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import case_file_name
from benchgate.audit.whole_files import add_whole
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.writing import write_file

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.models import Side, TrialResult


def write_trial(
    folder: Path,
    task_class: str,
    result: TrialResult,
    output_json: str | None,
    scorer: str | None,
    *,
    side: Side = "candidate",
) -> str:
    """
    Write the file of a trial into the folder of its run, and return its SHA-256.

    Whole or not at all, whenever the process is killed. Not synced: the record has the digest, so that a file which a
    power cut took is noticed.

    :raises ArtifactError: it cannot be written.
    """
    head = json.dumps(
        {
            "schema_version": SCHEMA_VERSION,
            "report_kind": "case",
            "task_class": task_class,
            "case_id": result.case_id,
        }
    )
    # Concatenated as text: the output may be large, and it is JSON already.
    told = result.model_dump_json(ensure_ascii=True)
    data = (
        f'{head[:-1]}, "result": {told}, "output": {output_json or "null"}, '
        f'"scorer": {json.dumps(scorer)}}}\n'
    ).encode()
    name, sha256 = f"cases/{case_file_name(result, side)}", sha256_hex(data)
    write_file(folder / name, data, durable=False)
    add_whole(folder, name, sha256)
    return sha256
