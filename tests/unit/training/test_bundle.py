"""Aligned bundles pass; each single corruption gives its own error first; the order never changes."""

from __future__ import annotations

import copy
import json
import math
import pickle
from datetime import UTC, datetime

import execnet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchgate import training_types
from benchgate.errors import EvalError
from benchgate.training.errors import CODES
from benchgate.training_types import (
    AdvantageBatch,
    CheckpointRecord,
    EpisodeTrajectory,
    RlPayloadBundle,
    RlPayloadError,
)

some = settings(max_examples=settings().max_examples * 40 // 100)
finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.from_regex(r"\A[a-z0-9][a-z0-9 _-]{0,8}\Z")
times = st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat)
# execnet cannot pack an integer below -2**31; outputs cross its wire as JSON text for such reasons.
integers = st.integers(min_value=-(2**31))
scalars = st.none() | st.booleans() | integers | finite | st.text(st.characters(codec="utf-8"))
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
metadata = st.dictionaries(names, json_values, max_size=3)


@st.composite
def payloads(draw):
    """Draw an aligned bundle as plain JSON builtins."""
    count = draw(st.integers(1, 6))
    vector = st.lists(finite, min_size=count, max_size=count)
    trajectory_id = draw(names)
    step = st.fixed_dictionaries(
        {
            "observation": json_values,
            "action": json_values,
            "reward": finite,
            "done": st.booleans(),
        },
        optional={"logprob": st.none() | finite, "value_estimate": st.none() | finite},
    )
    steps = draw(st.lists(step, min_size=count, max_size=count))
    return {
        "trajectory": {
            "schema_version": 1,
            "trajectory_id": trajectory_id,
            "rollout_id": draw(st.none() | names),
            "episode_id": draw(st.none() | names),
            "steps": [{"step_index": at, **fields} for at, fields in enumerate(steps)],
            "discount_factor": draw(st.floats(0, 1)),
            "total_return": draw(finite),
            "created_at": draw(times),
            "metadata": draw(metadata),
        },
        "advantages": {
            "schema_version": 1,
            "batch_id": draw(names),
            "trajectory_id": trajectory_id,
            "advantages": draw(vector),
            "returns": draw(vector),
            "value_targets": draw(st.just([]) | vector),
            "normalized": draw(st.booleans()),
            "created_at": draw(times),
            "metadata": draw(metadata),
        },
        "checkpoint": {
            "schema_version": 1,
            "checkpoint_id": draw(names),
            "algorithm": draw(names),
            "policy_version": draw(names),
            "global_step": draw(st.integers(count, 2**53)),
            "episode_count": draw(st.integers(0, 2**53)),
            "mean_reward": draw(st.none() | finite),
            "artifact_uri": draw(st.none() | names),
            "created_at": draw(times),
            "metadata": draw(metadata),
        },
    }


not_finite = st.sampled_from([math.nan, math.inf, -math.inf])
blank = st.sampled_from(["", " ", "\t\n"])
IDS = [
    ("trajectory", "trajectory_id"),
    ("trajectory", "rollout_id"),
    ("trajectory", "episode_id"),
    ("advantages", "batch_id"),
    ("advantages", "trajectory_id"),
    ("checkpoint", "checkpoint_id"),
]


def setting(values, *path):
    """Return a corruption that sets a field to a drawn value, with the name of that field."""

    def corrupt(payload, draw):
        held = payload
        for key in path[:-1]:
            held = held[key]
        held[path[-1]] = draw(values)
        text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)[1:]
        return text, (held[path[-1]],)

    return corrupt


def at_a_step(part, values):
    def corrupt(payload, draw):
        at = draw(st.integers(0, len(payload["trajectory"]["steps"]) - 1))
        return setting(values, "trajectory", "steps", at, part)(payload, draw)

    return corrupt


def in_a_vector(name):
    def corrupt(payload, draw):
        vector = payload["advantages"][name]
        if not vector:
            vector += [0.0] * len(payload["advantages"]["advantages"])
        at = draw(st.integers(0, len(vector) - 1))
        return setting(not_finite, "advantages", name, at)(payload, draw)

    return corrupt


def nested(*path):
    def corrupt(payload, draw):
        setting(not_finite.map(lambda bad: {"deep": [0, bad]}), *path)(payload, draw)
        held = payload
        for key in path:
            held = held[key]
        text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)[1:]
        return f"{text}.deep[1]", (held["deep"][1],)

    return corrupt


def no_steps(payload, _):
    payload["trajectory"]["steps"] = []
    return "trajectory.steps", ((),)


def no_vector(name):
    def corrupt(payload, _):
        payload["advantages"][name] = []
        return f"advantages.{name}", ((),)

    return corrupt


def a_gap(payload, draw):
    steps = payload["trajectory"]["steps"]
    at = draw(st.integers(0, len(steps) - 1))
    by = draw(st.integers(1, 5) | st.integers(-5, -1))
    for step in steps[at:]:
        step["step_index"] += by
    return f"trajectory.steps[{at}].step_index", (at + by,)


def another_length(name):
    def corrupt(payload, draw):
        count = len(payload["advantages"]["advantages"])
        found = draw(st.integers(1, count + 3).filter(lambda length: length != count))
        payload["advantages"][name] = [0.0] * found
        return f"len(advantages.{name})", (found, count)

    return corrupt


def another_trajectory(payload, _):
    payload["advantages"]["trajectory_id"] += "x"
    own = payload["trajectory"]["trajectory_id"]
    return "advantages.trajectory_id", (own + "x", own)


def more_advantages(payload, _):
    batch = payload["advantages"]
    for name in ("advantages", "returns", "value_targets"):
        batch[name] = [*batch[name], 1.0] if batch[name] else []
    count = len(payload["trajectory"]["steps"])
    return "len(advantages.advantages)", (count + 1, count)


def too_early(payload, draw):
    count = len(payload["trajectory"]["steps"])
    payload["checkpoint"]["global_step"] = draw(st.integers(-3, count - 1))
    return "checkpoint.global_step", (payload["checkpoint"]["global_step"], count)


discounts = st.floats(max_value=0, exclude_max=True, allow_infinity=False) | st.floats(
    min_value=1, exclude_min=True, allow_infinity=False
)
versions = st.integers().filter(lambda version: version != 1)
CORRUPTIONS = [
    *(
        ("unsupported_schema_version", setting(versions, part, "schema_version"))
        for part in ("trajectory", "advantages", "checkpoint")
    ),
    *(("empty_identifier", setting(blank, *path)) for path in IDS),
    ("blank_name", setting(blank, "checkpoint", "algorithm")),
    ("blank_name", setting(blank, "checkpoint", "policy_version")),
    ("empty_vector", no_steps),
    ("empty_vector", no_vector("advantages")),
    ("empty_vector", no_vector("returns")),
    ("step_index_gap", a_gap),
    ("discount_out_of_range", setting(discounts, "trajectory", "discount_factor")),
    *(
        ("non_finite_number", at_a_step(part, not_finite))
        for part in ("observation", "action", "reward", "logprob", "value_estimate")
    ),
    ("non_finite_number", nested("trajectory", "steps", 0, "observation")),
    ("non_finite_number", setting(not_finite, "trajectory", "discount_factor")),
    ("non_finite_number", setting(not_finite, "trajectory", "total_return")),
    ("non_finite_number", setting(not_finite, "checkpoint", "mean_reward")),
    *(
        ("non_finite_number", nested(part, "metadata"))
        for part in ("trajectory", "advantages", "checkpoint")
    ),
    *(
        ("non_finite_number", in_a_vector(name))
        for name in ("advantages", "returns", "value_targets")
    ),
    ("vector_length_mismatch", another_length("returns")),
    ("vector_length_mismatch", another_length("value_targets")),
    ("trajectory_id_mismatch", another_trajectory),
    ("step_count_mismatch", more_advantages),
    ("checkpoint_behind_trajectory", too_early),
]


def same(found, expected):
    return len(found) == len(expected) and all(
        a == b or (a != a and b != b)  # noqa: PLR0124 - NaN
        for a, b in zip(found, expected, strict=True)
    )


@some
@given(payloads())
def test_an_aligned_bundle_passes(payload):
    bundle = RlPayloadBundle(**payload)
    bundle.validate_bundle()
    assert bundle.collect_errors() == ()


@pytest.mark.parametrize(("code", "corrupt"), CORRUPTIONS)
@settings(max_examples=settings().max_examples * 6 // 100)
@given(data=st.data())
def test_a_single_corruption_gives_its_own_error_first(data, code, corrupt):
    payload = data.draw(payloads())
    field, values = corrupt(payload, data.draw)
    bundle = RlPayloadBundle(**payload)

    with pytest.raises(RlPayloadError) as caught:
        bundle.validate_bundle()
    error = caught.value
    assert (error.code, error.field) == (code, field)
    assert same(error.values, values)
    assert len(error.fields) == len(error.values)
    for name, value in zip(error.fields, error.values, strict=True):
        assert name in str(error)
        assert (repr(value) if value != () else "[]") in str(error)

    # Without advantages all the rest is checked.
    bundle = RlPayloadBundle(**{**payload, "advantages": None})
    found = [(error.code, error.field) for error in bundle.collect_errors()]
    assert found[:1] == ([] if "advantages" in field else [(code, field)])


@some
@given(payloads())
def test_what_an_evaluator_does_not_know_may_be_left_out(payload):
    payload["advantages"] = payload["trajectory"]["rollout_id"] = None
    payload["trajectory"]["episode_id"] = payload["checkpoint"]["artifact_uri"] = None
    payload["checkpoint"]["mean_reward"] = None
    bundle = RlPayloadBundle(**payload)
    del payload["advantages"], payload["trajectory"]["rollout_id"]
    del payload["trajectory"]["episode_id"], payload["checkpoint"]["artifact_uri"]
    del payload["checkpoint"]["mean_reward"]

    assert bundle.collect_errors() == ()
    assert RlPayloadBundle(**payload) == bundle
    assert RlPayloadBundle.read_json(bundle.model_dump_json().encode()) == bundle


@some
@given(st.data())
def test_all_errors_come_in_the_order_of_the_checks(data):
    payload = data.draw(payloads())
    for _, corrupt in data.draw(st.lists(st.sampled_from(CORRUPTIONS), max_size=5)):
        try:
            corrupt(payload, data.draw)
        except (IndexError, KeyError, TypeError, ValueError):
            continue  # two corruptions of one place
    try:
        bundle = RlPayloadBundle(**payload)
    except ValueError:
        return
    found = bundle.collect_errors()
    again = RlPayloadBundle(**copy.deepcopy(payload)).collect_errors()
    assert [str(error) for error in found] == [str(error) for error in again]
    parts = [error.field.removeprefix("len(").partition(".")[0] for error in found]
    cross = [isinstance(error, training_types.CrossError) for error in found]
    assert cross == sorted(cross)
    order = ["trajectory", "advantages", "checkpoint"]
    alone = [order.index(part) for part, between in zip(parts, cross, strict=True) if not between]
    assert alone == sorted(alone)
    if found:
        with pytest.raises(type(found[0])) as caught:
            bundle.validate_bundle()
        assert str(caught.value) == str(found[0])


def test_everything_wrong_at_once_is_listed_in_a_fixed_order(payload):
    trajectory, batch, checkpoint = payload.values()
    trajectory.update(schema_version=2, rollout_id="", discount_factor=1.5, total_return=math.nan)
    trajectory["steps"][1].update(step_index=7, reward=math.inf)
    trajectory["metadata"] = {"b": math.nan, "a": [math.inf]}
    batch.update(trajectory_id="traj-2", returns=[1.0], advantages=[math.nan, 1.0])
    checkpoint.update(algorithm=" ", global_step=2)

    found = RlPayloadBundle(**payload).collect_errors()

    assert [(error.code, error.field) for error in found] == [
        ("unsupported_schema_version", "trajectory.schema_version"),
        ("empty_identifier", "trajectory.rollout_id"),
        ("step_index_gap", "trajectory.steps[1].step_index"),
        ("step_index_gap", "trajectory.steps[2].step_index"),
        ("discount_out_of_range", "trajectory.discount_factor"),
        ("non_finite_number", "trajectory.steps[1].reward"),
        ("non_finite_number", "trajectory.total_return"),
        ("non_finite_number", "trajectory.metadata.a[0]"),
        ("non_finite_number", "trajectory.metadata.b"),
        ("non_finite_number", "advantages.advantages[0]"),
        ("vector_length_mismatch", "len(advantages.returns)"),
        ("vector_length_mismatch", "len(advantages.value_targets)"),
        ("blank_name", "checkpoint.algorithm"),
        ("trajectory_id_mismatch", "advantages.trajectory_id"),
        ("step_count_mismatch", "len(advantages.advantages)"),
        ("checkpoint_behind_trajectory", "checkpoint.global_step"),
    ]
    assert str(found[-1]) == (
        "checkpoint_behind_trajectory: checkpoint.global_step is 2; "
        "expected at least len(trajectory.steps), 3"
    )


def test_the_total_return_is_not_compared_with_the_rewards(payload):
    payload["trajectory"]["total_return"] = 1000.0
    RlPayloadBundle(**payload).validate_bundle()


@some
@given(payloads())
def test_json_and_pickle_and_execnet_give_the_bundle_back(payload):
    bundle = RlPayloadBundle(**payload)
    dumped = bundle.model_dump(mode="json")

    assert RlPayloadBundle.read_json(bundle.model_dump_json().encode()) == bundle
    assert RlPayloadBundle.read_json(json.dumps(payload).encode()) == bundle
    assert RlPayloadBundle(**dumped) == bundle
    assert execnet.loads(execnet.dumps(dumped)) == dumped
    assert pickle.loads(pickle.dumps(bundle)) == bundle  # noqa: S301 - our own bytes


def test_what_is_not_finite_survives_json_so_that_it_can_be_named(payload):
    payload["trajectory"]["steps"][0]["observation"] = [math.nan]
    payload["advantages"]["returns"][0] = -math.inf
    text = RlPayloadBundle(**payload).model_dump_json()
    found = RlPayloadBundle.read_json(text.encode()).collect_errors()

    assert [error.field for error in found] == [
        "trajectory.steps[0].observation[0]",
        "advantages.returns[0]",
    ]


def test_an_error_can_be_pickled_and_is_an_eval_error(payload):
    payload["checkpoint"]["global_step"] = 0
    (error,) = RlPayloadBundle(**payload).collect_errors()
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert isinstance(error, EvalError)
    assert (str(again), again.fields, again.values) == (str(error), error.fields, error.values)


@pytest.mark.parametrize("code", CODES)
def test_each_class_of_the_table_has_its_public_name_and_can_be_pickled(code):
    name, base = CODES[code]
    kind = getattr(training_types, name)
    assert name in training_types.__all__
    assert (kind.__name__, kind.__bases__, kind.code) == (name, (base,), code)
    again = pickle.loads(pickle.dumps(kind("why", ("field",), (1,))))  # noqa: S301 - our own bytes
    assert type(again) is kind


def test_codes_are_unique_and_stable():
    kinds = [
        kind
        for kind in vars(training_types).values()
        if isinstance(kind, type) and issubclass(kind, RlPayloadError)
    ]
    codes = sorted(kind.code for kind in kinds if "code" in vars(kind))

    assert codes == [
        "blank_name",
        "checkpoint_behind_trajectory",
        "checkpoint_cycle",
        "checkpoint_mismatch",
        "discount_out_of_range",
        "duplicate_checkpoint",
        "empty_identifier",
        "empty_vector",
        "invalid_parent_checkpoint",
        "malformed_payload",
        "missing_parent_checkpoint",
        "non_finite_number",
        "rl_payload_error",
        "step_count_mismatch",
        "step_index_gap",
        "trajectory_id_mismatch",
        "unknown_checkpoint",
        "unsupported_schema_version",
        "vector_length_mismatch",
    ]


WRONG_TYPES = [
    (CheckpointRecord, "checkpoint", {"global_step": True}),
    (CheckpointRecord, "checkpoint", {"global_step": 1.5}),
    (CheckpointRecord, "checkpoint", {"mean_reward": "1"}),
    (CheckpointRecord, "checkpoint", {"episode_count": None}),
    (CheckpointRecord, "checkpoint", {"checkpoint_id": 7}),
    (CheckpointRecord, "checkpoint", {"checkpoint_id": "\ud800"}),
    (CheckpointRecord, "checkpoint", {"schema_version": "1"}),
    (CheckpointRecord, "checkpoint", {"created_at": "yesterday"}),
    (CheckpointRecord, "checkpoint", {"created_at": "2026-11-21T00:00:00"}),
    (CheckpointRecord, "checkpoint", {"created_at": 1795219200}),
    (CheckpointRecord, "checkpoint", {"metadata": []}),
    (CheckpointRecord, "checkpoint", {"metadata": {"x": {1, 2}}}),
    (CheckpointRecord, "checkpoint", {"metadata": {1: "x"}}),
    (CheckpointRecord, "checkpoint", {"surprise": 1}),
    (AdvantageBatch, "advantages", {"advantages": {1.0}}),
    (AdvantageBatch, "advantages", {"advantages": "1"}),
    (AdvantageBatch, "advantages", {"advantages": [True]}),
    (AdvantageBatch, "advantages", {"normalized": 1}),
    (EpisodeTrajectory, "trajectory", {"steps": {}}),
    (EpisodeTrajectory, "trajectory", {"steps": [{"step_index": 0}]}),
]


@pytest.mark.parametrize(("model", "part", "fields"), WRONG_TYPES)
def test_construction_checks_types(payload, model, part, fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        model(**{**payload[part], **fields})


def test_arrays_nested_beyond_reason_or_holding_themselves_are_refused(payload):
    circle = []
    circle.append(circle)
    for observation in (circle, json.loads("[" * 65 + "]" * 65)):
        payload["trajectory"]["steps"][0]["observation"] = observation
        with pytest.raises(ValueError, match="nested more than 64 deep"):
            RlPayloadBundle(**payload)


def test_a_bundle_cannot_be_changed(payload):
    bundle = RlPayloadBundle(**payload)
    payload["trajectory"]["metadata"]["environment"]["slip"] = 0.9

    assert bundle.trajectory.metadata["environment"]["slip"] == 0.1
    with pytest.raises(TypeError):
        bundle.trajectory.metadata["x"] = 1
    with pytest.raises(TypeError):
        bundle.trajectory.steps[0].observation[2]["x"] = 1
    with pytest.raises(ValueError, match="frozen"):
        bundle.checkpoint.global_step = 7
