"""Reads the files of ``--checkpoint``, ``--baseline-checkpoint`` and ``--lineage``; checks evidence against them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from benchgate.errors import ArtifactError
from benchgate.training.errors import RlPayloadError
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import is_same_file, read_bytes
from benchgate.wire.parsing import first_fault, read_json

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
    The record of the checkpoint that trials must belong to.

    :param sha256: of its weights: what the record says, else that of the record's own file.
    :param baseline: that of the baseline, if its record was given.
    :param problems: why the baseline's is not in the candidate's lineage.
    """

    candidate: CheckpointRecord
    sha256: str
    baseline: Checkpoints | None = None
    problems: tuple[str, ...] = ()


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
    if files.baseline and is_same_file(files.checkpoint, files.baseline):
        why = "is the checkpoint of both sides; give the record of the baseline's own"
        raise ArtifactError(files.checkpoint, why)
    candidate = _read(files.checkpoint)
    baseline = _read(files.baseline) if files.baseline else None
    problems: tuple[str, ...] = ()
    if files.lineage is not None:
        ancestor = (baseline or candidate).candidate.checkpoint_id
        problems = _lineage_problems(files.lineage, candidate.candidate.checkpoint_id, ancestor)
    return replace(candidate, baseline=baseline, problems=problems)


def _read(path: Path) -> Checkpoints:
    from benchgate.training.reading import MAX_BUNDLE_BYTES, parse_checkpoint

    data = read_bytes(path, limit=MAX_BUNDLE_BYTES)
    try:
        record = parse_checkpoint(data)
    except RlPayloadError as error:
        raise ArtifactError(path, str(error)) from error
    sha256 = record.metadata.get(DIGEST_KEY, sha256_hex(data))
    if not (isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256)):
        raise ArtifactError(path, f"metadata.{DIGEST_KEY} is {sha256!r}; expected 64 hex digits")
    return Checkpoints(candidate=record, sha256=sha256)


def _lineage_problems(path: Path, leaf_id: str, ancestor_id: str) -> tuple[str, ...]:
    from benchgate.training.lineage import check_in_lineage
    from benchgate.training.payloads import CheckpointRecord

    data = read_bytes(path, limit=MAX_LINEAGE_BYTES)
    try:
        read_json(data)  # refuses what parsers read in different ways
        records = TypeAdapter(list[CheckpointRecord]).validate_json(data, extra="ignore")
    except ValueError as error:
        raise ArtifactError(path, first_fault(error)) from error
    try:
        check_in_lineage(records, leaf_id=leaf_id, ancestor_id=ancestor_id)
    except RlPayloadError as error:
        return (str(error),)
    return ()


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


def foreign(
    checkpoint: CheckpointRecord, case_id: str, output: Mapping[str, Any], handed: str | None
) -> str | None:
    """
    Return why the output of a scored trial is not evidence about a checkpoint, or ``None`` if it is.

    :param handed: SHA-256 of the file that the system was handed, which its payload must name.
    """
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
