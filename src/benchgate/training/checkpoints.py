"""Reads the files of ``--checkpoint``, ``--baseline-checkpoint`` and ``--lineage``; checks evidence against them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchgate.errors import ArtifactError, Unreadable
from benchgate.wire.files import file_sha256, read_bytes
from benchgate.wire.model import first_fault

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.training.payloads import CheckpointRecord

MAX_LINEAGE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointFiles:
    """
    The files of checkpoint records.

    :param checkpoint: the candidate's; if given, this checkpoint is what proof and promotion are about.
    :param baseline: that of the checkpoint which the baseline was run with.
    :param lineage: a JSON array of records; by these the baseline must be an ancestor of the candidate.
    """

    checkpoint: Path | None = None
    baseline: Path | None = None
    lineage: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoints:
    """The records that were read; ``problems`` says why the baseline's is not in the candidate's lineage."""

    candidate: CheckpointRecord
    sha256: str
    baseline: CheckpointRecord | None
    problems: tuple[str, ...]


def read_checkpoints(files: CheckpointFiles) -> Checkpoints | None:
    """
    Read the files that were given; ``None`` if none was.

    :raises ArtifactError: a file is unreadable or invalid, or the candidate's is missing while another was given.
    """
    if files.checkpoint is None:
        if files.baseline or files.lineage:
            raise ArtifactError(
                str(files.baseline or files.lineage),
                "is of use only with the candidate's checkpoint",
            )
        return None
    candidate = _read(files.checkpoint)
    baseline = _read(files.baseline) if files.baseline else None
    return Checkpoints(
        candidate=candidate,
        sha256=file_sha256(files.checkpoint, limit=MAX_LINEAGE_BYTES),
        baseline=baseline,
        problems=_lineage_problems(candidate, baseline, files.lineage),
    )


def _read(path: Path) -> CheckpointRecord:
    from benchgate.training.errors import RlPayloadError
    from benchgate.training.reading import read_checkpoint

    try:
        return read_checkpoint(path)
    except (RlPayloadError, ValueError) as error:
        raise ArtifactError(path, str(error)) from error
    except OSError as error:
        raise Unreadable(path, f"cannot be read: {error.strerror}") from error


def _lineage_problems(
    candidate: CheckpointRecord, baseline: CheckpointRecord | None, path: Path | None
) -> tuple[str, ...]:
    from benchgate.training.errors import RlPayloadError
    from benchgate.training.lineage import check_in_lineage

    if path is None:
        return ()
    records = _read_lineage(path)
    try:
        check_in_lineage(
            records,
            leaf_id=candidate.checkpoint_id,
            ancestor_id=(baseline or candidate).checkpoint_id,
        )
    except RlPayloadError as error:
        return (str(error),)
    return ()


def _read_lineage(path: Path) -> list[CheckpointRecord]:
    from benchgate.training.payloads import CheckpointRecord

    data = read_bytes(path, limit=MAX_LINEAGE_BYTES)
    try:
        found = json.loads(data)
        if not isinstance(found, list):
            raise ArtifactError(path, "expected a JSON array of checkpoint records")
        return [CheckpointRecord.read_json(json.dumps(record).encode()) for record in found]
    except (ValueError, RecursionError) as error:
        message = first_fault(error) if isinstance(error, ValueError) else "nested too deeply"
        raise ArtifactError(path, message) from error


def foreign(checkpoint: CheckpointRecord, case_id: str, output_json: str | None) -> str | None:
    """Return why the output of a scored trial is not evidence about a checkpoint, or ``None`` if it is."""
    from benchgate.training.errors import RlPayloadError
    from benchgate.training.lineage import check_belongs
    from benchgate.training.reading import validate_rl_payload

    output: dict[str, Any] = json.loads(output_json) if output_json else {}
    if "rl_payload" not in output:
        return f"{case_id}: the output has no rl_payload that names its checkpoint"
    try:
        check_belongs(validate_rl_payload(output["rl_payload"]), checkpoint)
    except RlPayloadError as error:
        return f"{case_id}: {error}"
    return None
