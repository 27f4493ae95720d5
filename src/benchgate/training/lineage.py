"""Where a checkpoint comes from, and whether evidence is about it."""

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
"""The key of a record's metadata that names the checkpoint it was trained from."""


def resolve_checkpoint_lineage(
    records: Iterable[CheckpointRecord], leaf_id: str
) -> tuple[CheckpointRecord, ...]:
    """
    Return the records from the root, which has no parent, to the leaf.

    Records that are no ancestors of the leaf may be among them; of those only the ids are looked at.

    :raises DuplicateCheckpoint: two records have one id, whether in the lineage or not.
    :raises UnknownCheckpoint: no record has the leaf's id.
    :raises InvalidParent: a record's ``parent_checkpoint_id`` is neither null nor an id.
    :raises MissingParent: a record names a parent that is not there.
    :raises LineageCycle: a record is its own ancestor.
    """
    known = _by_id(records)
    if leaf_id not in known:
        message = f"leaf_id is {leaf_id!r}; known checkpoints: {', '.join(sorted(known)) or 'none'}"
        raise UnknownCheckpoint(message, ("leaf_id",), (leaf_id,))
    found = [known[leaf_id]]
    seen = {leaf_id: None}
    while (parent := _parent(found[-1])) is not None:
        field = _field(found[-1])
        if parent in seen:
            path = " <- ".join([*seen, parent])
            raise LineageCycle(f"{field} is {parent!r}: {path}", (field,), (parent,))
        if parent not in known:
            message = f"{field} is {parent!r}; there is no such record"
            raise MissingParent(message, (field,), (parent,))
        seen[parent] = None
        found.append(known[parent])
    return tuple(reversed(found))


def _by_id(records: Iterable[CheckpointRecord]) -> dict[str, CheckpointRecord]:
    known: dict[str, CheckpointRecord] = {}
    places: dict[str, int] = {}
    for at, record in enumerate(records):
        one = record.checkpoint_id
        if one in known:
            fields = (f"records[{at}].checkpoint_id", f"records[{places[one]}].checkpoint_id")
            message = f"{fields[0]} is {one!r}, as is {fields[1]}"
            raise DuplicateCheckpoint(message, fields, (one, one))
        known[one], places[one] = record, at
    return known


def _field(record: CheckpointRecord) -> str:
    return f"checkpoint {record.checkpoint_id!r} metadata.{PARENT_KEY}"


def _parent(record: CheckpointRecord) -> str | None:
    parent = record.metadata.get(PARENT_KEY)
    if parent is None or (isinstance(parent, str) and parent.strip()):
        return parent
    field = _field(record)
    raise InvalidParent(f"{field} is {parent!r}; expected an id or null", (field,), (parent,))


def check_in_lineage(
    records: Iterable[CheckpointRecord], *, leaf_id: str, ancestor_id: str
) -> None:
    """
    Check that a checkpoint, such as the baseline's, is an ancestor of another or that one itself.

    :raises CheckpointMismatch: it is not.
    :raises LineageError: as :func:`resolve_checkpoint_lineage`.
    """
    ids = [record.checkpoint_id for record in resolve_checkpoint_lineage(records, leaf_id)]
    if ancestor_id not in ids:
        message = f"ancestor_id is {ancestor_id!r}; the lineage of leaf_id {leaf_id!r} is {' -> '.join(ids)}"
        raise CheckpointMismatch(message, ("ancestor_id", "leaf_id"), (ancestor_id, leaf_id))


def check_belongs(bundle: RlPayloadBundle, checkpoint: CheckpointRecord) -> None:
    """
    Check that a bundle is evidence about a checkpoint.

    Its own checkpoint, and what its trajectory's metadata says under ``checkpoint_id`` and ``policy_version``, must
    name that checkpoint and that policy version; neither its ``global_step`` nor its number of steps may be beyond the
    checkpoint's ``global_step``.

    :param checkpoint: the subject of the promotion; its fields are called ``subject.*`` in the error.
    :raises CheckpointMismatch: the first of these that does not hold.
    """
    for key in ("checkpoint_id", "policy_version"):
        expected = getattr(checkpoint, key)
        for field, found in _named(bundle, key):
            if found != expected:
                _refuse(field, found, f"subject.{key}", expected)
    steps = {
        "checkpoint.global_step": bundle.checkpoint.global_step,
        "len(trajectory.steps)": len(bundle.trajectory.steps),
    }
    for field, count in steps.items():
        if count > checkpoint.global_step:
            _refuse(field, count, "subject.global_step", checkpoint.global_step)


def _named(bundle: RlPayloadBundle, key: str) -> Iterator[tuple[str, Any]]:
    yield f"checkpoint.{key}", getattr(bundle.checkpoint, key)
    metadata: Mapping[str, Any] = bundle.trajectory.metadata
    if key in metadata:
        yield f"trajectory.metadata.{key}", metadata[key]


def _refuse(field: str, found: object, other: str, expected: object) -> None:
    message = f"{field} is {found!r}; {other} is {expected!r}"
    raise CheckpointMismatch(message, (field, other), (found, expected))
