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
    # Concatenated as text: the output may be large, and it is JSON already.
    data = (
        f'{{"schema_version": {SCHEMA_VERSION}, "report_kind": "case", "task_class": {json.dumps(task_class)}, '
        f'"case_id": {json.dumps(result.case_id)}, "result": {result.model_dump_json(ensure_ascii=True)}, '
        f'"output": {output_json or "null"}, "scorer": {json.dumps(scorer)}}}\n'
    ).encode()
    name, sha256 = f"cases/{case_file_name(result, side)}", sha256_hex(data)
    write_file(f"{folder}/{name}", data, durable=False)
    add_whole(folder, name, sha256)
    return sha256
