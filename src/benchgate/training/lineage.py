"""Checks of a checkpoint's ancestors, and that evidence is about the checkpoint to be promoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchgate.training.errors import (
    CheckpointMismatch,
    DuplicateCheckpoint,
    InvalidParent,
    LineageCycle,
    MissingParent,
    UnknownCheckpoint,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.training.bundle import RlPayloadBundle
    from benchgate.training.payloads import CheckpointRecord


PARENT_KEY: Final = "parent_checkpoint_id"
"""Key in a record's metadata; its value is the id of the checkpoint that it was trained from."""


def resolve_checkpoint_lineage(
    records: Iterable[CheckpointRecord], leaf_id: str
) -> tuple[CheckpointRecord, ...]:
    """
    Return the records from the root, which has no parent, to the leaf.

    :param records: in any order; of records that are not ancestors of the leaf only the ids are checked.
    :raises DuplicateCheckpoint: two records have the same id, whether in the lineage or not.
    :raises UnknownCheckpoint: no record has the leaf's id.
    :raises InvalidParent: a record's ``parent_checkpoint_id`` is neither null nor an id.
    :raises MissingParent: a record names a parent that is not among the records.
    :raises LineageCycle: a record is its own ancestor.
    """
    known = _by_id(records)
    if leaf_id not in known:
        message = f"leaf_id is {leaf_id!r}; known checkpoints: {', '.join(sorted(known)) or 'none'}"
        raise UnknownCheckpoint(message, ("leaf_id",), (leaf_id,))
    lineage = [known[leaf_id]]
    seen = {leaf_id: None}
    while (parent := _parent(lineage[-1])) is not None:
        field = _parent_field(lineage[-1])
        if parent in seen:
            path = " <- ".join([*seen, parent])
            raise LineageCycle(f"{field} is {parent!r}: {path}", (field,), (parent,))
        if parent not in known:
            message = f"{field} is {parent!r}; there is no such record"
            raise MissingParent(message, (field,), (parent,))
        seen[parent] = None
        lineage.append(known[parent])
    return tuple(reversed(lineage))


def _by_id(records: Iterable[CheckpointRecord]) -> dict[str, CheckpointRecord]:
    known: dict[str, CheckpointRecord] = {}
    positions: dict[str, int] = {}
    for at, record in enumerate(records):
        key = record.checkpoint_id
        if key in known:
            fields = (f"records[{at}].checkpoint_id", f"records[{positions[key]}].checkpoint_id")
            message = f"{fields[0]} is {key!r}, as is {fields[1]}"
            raise DuplicateCheckpoint(message, fields, (key, key))
        known[key], positions[key] = record, at
    return known


def _parent_field(record: CheckpointRecord) -> str:
    return f"checkpoint {record.checkpoint_id!r} metadata.{PARENT_KEY}"


def _parent(record: CheckpointRecord) -> str | None:
    parent = record.metadata.get(PARENT_KEY)
    if parent is None or (isinstance(parent, str) and parent.strip()):
        return parent
    field = _parent_field(record)
    raise InvalidParent(f"{field} is {parent!r}; expected an id or null", (field,), (parent,))


def check_in_lineage(
    records: Iterable[CheckpointRecord], *, leaf_id: str, ancestor_id: str
) -> None:
    """
    Check that one checkpoint, such as the baseline's, is an ancestor of another, or the same one.

    :raises CheckpointMismatch: it is neither.
    :raises LineageError: as :func:`resolve_checkpoint_lineage`.
    """
    ids = [record.checkpoint_id for record in resolve_checkpoint_lineage(records, leaf_id)]
    if ancestor_id not in ids:
        message = f"ancestor_id is {ancestor_id!r}; the lineage of leaf_id {leaf_id!r} is {' -> '.join(ids)}"
        raise CheckpointMismatch(message, ("ancestor_id", "leaf_id"), (ancestor_id, leaf_id))


def check_belongs(bundle: RlPayloadBundle, checkpoint: CheckpointRecord) -> None:
    """
    Check that a bundle is evidence about a checkpoint.

    ``checkpoint_id`` and ``policy_version`` must be equal in the bundle's checkpoint, in its trajectory's metadata if
    they are there, and in ``checkpoint``. The bundle's ``global_step`` and number of steps must not exceed the
    ``global_step`` of ``checkpoint``: evidence cannot be ahead of its subject.

    :param checkpoint: the subject of the promotion; its fields are called ``subject.*`` in the error.
    :raises CheckpointMismatch: one of these conditions failed; the first is reported.
    """
    for key in ("checkpoint_id", "policy_version"):
        expected = getattr(checkpoint, key)
        for field, found in _values_of(bundle, key):
            if found != expected:
                _raise_mismatch(field, found, f"subject.{key}", expected)
    steps = {
        "checkpoint.global_step": bundle.checkpoint.global_step,
        "len(trajectory.steps)": len(bundle.trajectory.steps),
    }
    for field, count in steps.items():
        if count > checkpoint.global_step:
            _raise_mismatch(field, count, "subject.global_step", checkpoint.global_step)


def _values_of(bundle: RlPayloadBundle, key: str) -> Iterator[tuple[str, Any]]:
    yield f"checkpoint.{key}", getattr(bundle.checkpoint, key)
    metadata: Mapping[str, Any] = bundle.trajectory.metadata
    if key in metadata:
        yield f"trajectory.metadata.{key}", metadata[key]


def _raise_mismatch(field: str, found: object, other: str, expected: object) -> None:
    message = f"{field} is {found!r}; {other} is {expected!r}"
    raise CheckpointMismatch(message, (field, other), (found, expected))
