"""Reads the files of ``--checkpoint``, ``--baseline-checkpoint`` and ``--lineage``; checks evidence against them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import ArtifactError
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.model import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.training.payloads import CheckpointRecord

MAX_LINEAGE_BYTES = 64 * 1024 * 1024
DIGEST_KEY: Final = "artifact_sha256"
"""Key in the metadata of a record; its value is the SHA-256 of the weights, if they are in a file of their own."""


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
    """
    The records that were read.

    :param sha256: of the candidate's weights: what its record says, else that of the record's own file.
    :param baseline_sha256: of the baseline's weights likewise.
    :param problems: why the baseline's is not in the candidate's lineage.
    """

    candidate: CheckpointRecord
    sha256: str
    baseline: CheckpointRecord | None
    problems: tuple[str, ...]
    baseline_sha256: str | None = None

    def of_baseline(self) -> Checkpoints | None:
        """Return what the trials of a baseline in the same session must belong to, if its record was given."""
        if self.baseline is None or self.baseline_sha256 is None:
            return None
        return Checkpoints(
            candidate=self.baseline, sha256=self.baseline_sha256, baseline=None, problems=()
        )


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
    candidate, sha256 = _read(files.checkpoint)
    baseline, baseline_sha256 = _read(files.baseline) if files.baseline else (None, None)
    return Checkpoints(
        candidate=candidate,
        sha256=sha256,
        baseline=baseline,
        problems=_lineage_problems(candidate, baseline, files.lineage),
        baseline_sha256=baseline_sha256,
    )


def _read(path: Path) -> tuple[CheckpointRecord, str]:
    from benchgate.training.errors import RlPayloadError
    from benchgate.training.reading import MAX_BUNDLE_BYTES, parse_checkpoint

    data = read_bytes(path, limit=MAX_BUNDLE_BYTES)
    try:
        record = parse_checkpoint(data)
    except RlPayloadError as error:
        raise ArtifactError(path, str(error)) from error
    sha256 = record.metadata.get(DIGEST_KEY, sha256_hex(data))
    if not (isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256)):
        raise ArtifactError(path, f"metadata.{DIGEST_KEY} is {sha256!r}; expected 64 hex digits")
    return record, sha256


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


def untied(subject: Checkpoints, handed: str | None) -> Iterator[str]:
    """
    Yield why a system that was handed a file, or none, did not play with the checkpoint that is the subject.

    :param handed: SHA-256 of the file.
    """
    if handed is None:
        yield "the system was handed no checkpoint; expected a Path in its attribute checkpoint"
    elif handed != subject.sha256:
        name = subject.candidate.checkpoint_id
        yield f"the system was handed {handed[:16]}; the SHA-256 of {name!r} is {subject.sha256[:16]}"


def lacks_advantages(output: Any) -> bool:
    """Whether the output of a scored trial has an RL payload without advantages."""
    payload = output.get("rl_payload") if isinstance(output, dict) else None
    return isinstance(payload, dict) and payload.get("advantages") is None


def foreign(
    checkpoint: CheckpointRecord, case_id: str, output: Mapping[str, Any], handed: str | None
) -> str | None:
    """
    Return why the output of a scored trial is not evidence about a checkpoint, or ``None`` if it is.

    :param handed: SHA-256 of the file that the system was handed, which its payload must name.
    """
    from benchgate.training.errors import RlPayloadError
    from benchgate.training.lineage import check_belongs
    from benchgate.training.reading import validate_rl_payload

    if "rl_payload" not in output:
        return f"{case_id}: the output has no rl_payload that names its checkpoint"
    try:
        bundle = validate_rl_payload(output["rl_payload"])
        check_belongs(bundle, checkpoint)
    except RlPayloadError as error:
        return f"{case_id}: {error}"
    named = bundle.checkpoint.metadata.get(DIGEST_KEY)
    if named == handed:
        return None
    field = f"checkpoint.metadata.{DIGEST_KEY}"
    return f"{case_id}: {field} is {named!r}; the system was handed {handed!r}"
