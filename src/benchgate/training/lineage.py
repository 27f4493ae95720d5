"""Checks of a checkpoint's ancestors, and that evidence is about the checkpoint to be promoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.training.errors import fault

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    known: dict[str, CheckpointRecord] = {}
    for at, record in enumerate(records):
        key = record.checkpoint_id
        if key in known:
            twins = {f"records[{n}].checkpoint_id": key for n in (at, list(known).index(key))}
            raise fault("duplicate_checkpoint", twins, "expected another id than that of")
        known[key] = record
    if leaf_id not in known:
        names = ", ".join(sorted(known)) or "none"
        raise fault("unknown_checkpoint", {"leaf_id": leaf_id}, f"known checkpoints: {names}")
    record = known[leaf_id]
    lineage = {leaf_id: record}
    while record.metadata.get(PARENT_KEY) is not None:
        parent = record.metadata[PARENT_KEY]
        place = {f"checkpoint {record.checkpoint_id!r} metadata.{PARENT_KEY}": parent}
        if not isinstance(parent, str) or not parent.strip():
            raise fault("invalid_parent_checkpoint", place, "expected an id or null")
        if parent in lineage:
            raise fault("checkpoint_cycle", place, f"a circle: {' <- '.join([*lineage, parent])}")
        if parent not in known:
            raise fault("missing_parent_checkpoint", place, "there is no such record")
        record = known[parent]
        lineage[parent] = record
    return tuple(reversed(lineage.values()))


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
        sides = {"ancestor_id": ancestor_id, "leaf_id": leaf_id}
        raise fault("checkpoint_mismatch", sides, f"{' -> '.join(ids)} is the lineage of")


def check_belongs(bundle: RlPayloadBundle, checkpoint: CheckpointRecord) -> None:
    """
    Check that a bundle is evidence about a checkpoint.

    ``checkpoint_id`` and ``policy_version`` must be equal in the bundle's checkpoint, in its trajectory's metadata if
    they are there, and in ``checkpoint``. The bundle's ``global_step`` and number of steps must not exceed the
    ``global_step`` of ``checkpoint``: evidence cannot be ahead of its subject.

    :param checkpoint: the subject of the promotion; its fields are called ``subject.*`` in the error.
    :raises CheckpointMismatch: one of these conditions failed; the first is reported.
    """
    metadata = bundle.trajectory.metadata
    for key in ("checkpoint_id", "policy_version"):
        expected = getattr(checkpoint, key)
        named = {f"checkpoint.{key}": getattr(bundle.checkpoint, key)}
        if key in metadata:
            named[f"trajectory.metadata.{key}"] = metadata[key]
        for field, value in named.items():
            if value != expected:
                raise fault("checkpoint_mismatch", {field: value, f"subject.{key}": expected})
    steps = {
        "checkpoint.global_step": bundle.checkpoint.global_step,
        "len(trajectory.steps)": len(bundle.trajectory.steps),
    }
    for field, count in steps.items():
        if count > checkpoint.global_step:
            sides = {field: count, "subject.global_step": checkpoint.global_step}
            raise fault("checkpoint_mismatch", sides, "expected at most")
