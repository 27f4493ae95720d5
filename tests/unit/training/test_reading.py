"""Payloads from outputs and files."""

from __future__ import annotations

import json
import os

import pytest

from benchgate.training import reading
from benchgate.training_types import (
    CheckpointRecord,
    MalformedPayload,
    NonFiniteNumber,
    RlPayloadBundle,
    StepIndexGap,
    read_checkpoint,
    validate_payload_file,
    validate_rl_payload,
)


def test_a_payload_becomes_a_bundle_and_unknown_fields_are_ignored(payload):
    expected = RlPayloadBundle(**payload)
    payload["later"] = 1
    payload["trajectory"]["steps"][0]["later"] = 2
    assert validate_rl_payload(payload) == expected


@pytest.mark.parametrize("value", [None, 5, "x", [], [("trajectory", 1)]])
def test_a_payload_that_is_no_object_is_malformed(value):
    with pytest.raises(MalformedPayload, match="expected an object"):
        validate_rl_payload(value)


def test_what_is_missing_or_of_another_type_is_named(payload):
    del payload["trajectory"]["steps"][1]["reward"]
    with pytest.raises(MalformedPayload, match="reward is missing") as caught:
        validate_rl_payload(payload)
    assert caught.value.field == "trajectory.steps[1].reward"
    payload["trajectory"]["steps"][1]["reward"] = "high"
    with pytest.raises(MalformedPayload, match="is 'high'") as caught:
        validate_rl_payload(payload)
    assert caught.value.values == ("high",)


def test_a_value_that_cannot_be_shown_is_still_named(payload):
    class Odd:
        def __repr__(self):
            raise OSError

    payload["checkpoint"]["global_step"] = Odd()
    with pytest.raises(MalformedPayload, match=r"global_step is <repr\(\) raised OSError>"):
        validate_rl_payload(payload)


def test_a_payload_with_wrong_values_raises_the_first(payload):
    payload["trajectory"]["steps"][1]["step_index"] = 5
    with pytest.raises(StepIndexGap):
        validate_rl_payload(payload)


def test_a_checkpoint_file_may_hold_the_weights_too(payload, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**payload["checkpoint"], "weights": [1, 2]}))
    assert read_checkpoint(path) == CheckpointRecord(**payload["checkpoint"])
    path.write_text(json.dumps({**payload["checkpoint"], "mean_reward": float("nan")}))
    with pytest.raises(NonFiniteNumber, match=r"checkpoint\.mean_reward is nan"):
        read_checkpoint(path)
    path.write_text("{")
    with pytest.raises(MalformedPayload, match="no JSON"):
        read_checkpoint(path)
    with pytest.raises(FileNotFoundError):
        read_checkpoint(tmp_path / "none.json")


def codes(path):
    return [(line, error.code) for line, error in validate_payload_file(path)]


def test_each_line_of_json_lines_is_a_bundle(payload, tmp_path):
    good = json.dumps(payload)
    payload["trajectory"]["steps"][0]["reward"] = float("nan")
    payload["checkpoint"]["global_step"] = 0
    bad = json.dumps(payload)
    path = tmp_path / "bundles.jsonl"

    path.write_text(f"{good}\n{good}")
    assert codes(path) == []
    path.write_bytes(f"{good}\n\n{bad}\n{{\n{good}\r\n5\n".encode() + b"\xff\n")
    assert codes(path) == [
        (3, "non_finite_number"),
        (3, "checkpoint_behind_trajectory"),
        (4, "malformed_payload"),
        (6, "malformed_payload"),
        (7, "malformed_payload"),
    ]


def test_a_key_given_twice_is_refused(payload, tmp_path):
    path = tmp_path / "bundles.jsonl"
    path.write_text(json.dumps(payload)[:-1] + ', "checkpoint": {}}')
    ((line, error),) = validate_payload_file(path)
    assert line == 1
    assert "'checkpoint' appears twice" in str(error)


def test_a_json_file_is_one_bundle(payload, tmp_path):
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(payload, indent=2))
    assert codes(path) == []
    path.write_text('{\n "trajectory": {},\n "oops"\n}')
    assert codes(path) == [(4, "malformed_payload")]
    path.write_text("")
    assert codes(path) == [(1, "malformed_payload")]


def test_an_empty_file_of_lines_has_no_evidence(tmp_path):
    path = tmp_path / "bundles.ndjson"
    path.write_text("\n \n")
    assert codes(path) == [(1, "malformed_payload")]


def test_lines_are_read_one_by_one_and_none_without_end(payload, tmp_path, monkeypatch):
    good = json.dumps(payload)
    monkeypatch.setattr(reading, "MAX_BUNDLE_BYTES", len(good) + 10)
    path = tmp_path / "bundles.jsonl"
    path.write_text(f"{good}\n{'x' * 10_000}\n{good}\n[\n")
    ((line, error), (after, _)) = validate_payload_file(path)
    assert (line, after) == (2, 4)
    assert "more than" in str(error)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    fifo = tmp_path / "bundles.jsonl"
    os.mkfifo(fifo)
    with pytest.raises(ValueError, match="not a regular file"):
        validate_payload_file(fifo)
    with pytest.raises(FileNotFoundError):
        validate_payload_file(tmp_path / "none.jsonl")
