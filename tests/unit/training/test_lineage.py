"""From the leaf back to the root, and whether evidence is about the checkpoint."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.training_types import (
    CheckpointMismatch,
    CheckpointRecord,
    DuplicateCheckpoint,
    InvalidParent,
    LineageCycle,
    MissingParent,
    RlPayloadBundle,
    UnknownCheckpoint,
    check_belongs,
    check_in_lineage,
    resolve_checkpoint_lineage,
)


def record(checkpoint_id, parent=None, **fields):
    return CheckpointRecord(
        **{
            "checkpoint_id": checkpoint_id,
            "algorithm": "q-learning",
            "policy_version": "v1",
            "global_step": 100,
            "episode_count": 1,
            "mean_reward": 0.0,
            "artifact_uri": "x",
            "created_at": "2026-11-21T00:00:00Z",
            "metadata": {} if parent is None else {"parent_checkpoint_id": parent},
            **fields,
        }
    )


def ids(records):
    return [one.checkpoint_id for one in records]


def test_the_lineage_runs_from_root_to_leaf_in_whatever_order_the_records_come():
    records = [record("a"), record("b", "a"), record("c", "b"), record("other", "a")]
    for order in itertools.permutations(records):
        assert ids(resolve_checkpoint_lineage(order, "c")) == ["a", "b", "c"]
    assert ids(resolve_checkpoint_lineage(iter(records), "a")) == ["a"]


@given(st.lists(st.integers(0, 10), max_size=20))
def test_a_forest_has_a_lineage_for_each_leaf(parents):
    records = [record("n0")]
    for at, parent in enumerate(parents, start=1):
        records.append(record(f"n{at}", f"n{parent % at}"))
    for one in records:
        found = resolve_checkpoint_lineage(reversed(records), one.checkpoint_id)
        assert ids(found)[0] == "n0"
        assert found[-1] == one
        for before, after in itertools.pairwise(found):
            assert after.metadata["parent_checkpoint_id"] == before.checkpoint_id


def test_what_breaks_a_lineage_is_named():
    a, b = record("a"), record("b", "a")
    with pytest.raises(DuplicateCheckpoint) as caught:
        resolve_checkpoint_lineage([a, b, record("a", "b")], "b")
    assert caught.value.fields == ("records[2].checkpoint_id", "records[0].checkpoint_id")
    with pytest.raises(UnknownCheckpoint, match="known checkpoints: a, b") as caught:
        resolve_checkpoint_lineage([a, b], "c")
    assert caught.value.values == ("c",)
    with pytest.raises(UnknownCheckpoint, match="none"):
        resolve_checkpoint_lineage([], "c")
    with pytest.raises(MissingParent, match="'a'; there is no such record") as caught:
        resolve_checkpoint_lineage([b], "b")
    assert caught.value.values == ("a",)
    with pytest.raises(LineageCycle, match="y <- x <- y"):
        resolve_checkpoint_lineage([record("x", "y"), record("y", "x")], "y")
    with pytest.raises(LineageCycle, match="z <- z"):
        resolve_checkpoint_lineage([record("z", "z")], "z")


@pytest.mark.parametrize("parent", ["", " ", 7, ["a"], False])
def test_a_parent_that_is_no_id_is_refused(parent):
    with pytest.raises(InvalidParent, match="expected an id or null"):
        resolve_checkpoint_lineage([record("a"), record("b", parent)], "b")


def test_a_parent_of_null_is_a_root():
    root = record("a", metadata={"parent_checkpoint_id": None})
    assert ids(resolve_checkpoint_lineage([root], "a")) == ["a"]


def test_a_baseline_must_be_an_ancestor():
    records = [record("a"), record("b", "a"), record("c", "a")]
    for ancestor in ("a", "b"):
        check_in_lineage(records, leaf_id="b", ancestor_id=ancestor)
    with pytest.raises(CheckpointMismatch, match="'c'; a -> b is the lineage of leaf_id, 'b'"):
        check_in_lineage(records, leaf_id="b", ancestor_id="c")


def test_evidence_belongs_to_its_own_checkpoint(payload):
    bundle = RlPayloadBundle(**payload)
    check_belongs(bundle, bundle.checkpoint)
    check_belongs(bundle, bundle.checkpoint.model_copy(update={"episode_count": 99}))


@pytest.mark.parametrize(
    ("change", "fields", "values"),
    [
        ({"checkpoint_id": "x"}, ("checkpoint.checkpoint_id", "subject.checkpoint_id"), ("ckpt-2", "x")),
        ({"policy_version": "v3"}, ("checkpoint.policy_version", "subject.policy_version"), ("v2", "v3")),
        ({"global_step": 999}, ("checkpoint.global_step", "subject.global_step"), (1000, 999)),
    ],
)  # fmt: skip
def test_evidence_about_another_checkpoint_is_refused(payload, change, fields, values):
    bundle = RlPayloadBundle(**payload)
    with pytest.raises(CheckpointMismatch) as caught:
        check_belongs(bundle, bundle.checkpoint.model_copy(update=change))
    assert (caught.value.fields, caught.value.values) == (fields, values)
    assert caught.value.code == "checkpoint_mismatch"


@pytest.mark.parametrize("key", ["policy_version", "checkpoint_id"])
def test_what_the_trajectory_says_of_itself_counts_too(payload, key):
    payload["trajectory"]["metadata"][key] = "v9"
    bundle = RlPayloadBundle(**payload)
    with pytest.raises(CheckpointMismatch, match=rf"trajectory\.metadata\.{key} is 'v9'"):
        check_belongs(bundle, bundle.checkpoint)


def test_more_steps_than_the_checkpoint_ever_saw_are_refused(payload):
    payload["checkpoint"]["global_step"] = 1
    bundle = RlPayloadBundle(**payload)
    with pytest.raises(CheckpointMismatch, match=r"len\(trajectory.steps\) is 3"):
        check_belongs(bundle, bundle.checkpoint)
