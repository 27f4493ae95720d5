"""Wire models: strict when made, lenient when read, read-only, and fit for xdist's wire."""

from __future__ import annotations

import copy
import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import execnet
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from benchgate.ids import trial_seed
from benchgate.isolation.messages import TOLD
from benchgate.models import BenchCase, BenchScore, FailureMode, TrialResult
from benchgate.trials.calls import Told
from benchgate.trials.executor import TrialRecord
from benchgate.wire.frozen import freeze_json, thaw_json
from benchgate.wire.model import WireModel, banned_token

finite = st.floats(allow_nan=False, allow_infinity=False)
unit = st.floats(min_value=0, max_value=1)
scores = st.builds(
    BenchScore,
    passed=st.booleans(),
    score=unit,
    breakdown=st.dictionaries(st.from_regex(r"\A[a-e]{1,4}\Z"), finite, max_size=4),
    failure_modes=st.lists(st.from_regex(r"\A[a-z_]{1,9}\Z"), max_size=4),
    cost_usd=st.floats(min_value=0, max_value=1e9),
    safety_penalty=st.none() | st.floats(min_value=0, max_value=1e9),
)


@given(scores)
def test_a_score_survives_json_and_pickle(score):
    assert BenchScore.read_json(score.model_dump_json().encode()) == score
    assert pickle.loads(pickle.dumps(score)) == score  # noqa: S301 - our own bytes
    assert copy.deepcopy(score) is score


def test_what_code_asks_of_a_result_survives_its_ways_and_is_left_out_if_there_is_nothing():
    key = {"case_id": "01", "trial": 0, "seed": 0, "held_out": False, "outcome": "not_run"}
    modes = (FailureMode(code="late", error="KeyError"),)
    told = {"why": "capped", "cap_usd": 2.0, "violation": True}
    result = TrialResult(**key, **told, failure_modes=modes)
    said = Told(failed="timeout", modes=modes, retry_after=1.5)
    assert TOLD.validate_json(TOLD.dump_json(said), strict=True) == said
    record = TrialRecord(result=result, output_json=None)
    assert pickle.loads(pickle.dumps(record)) == record  # noqa: S301 - our own bytes
    bare = TrialResult(**key, failure_modes=(FailureMode(code="late"),)).model_dump()
    assert not told.keys() & bare.keys()
    assert bare["failure_modes"] == ({"code": "late", "detail": None},)


@pytest.mark.parametrize("seed", [0, 2**16, 2**48 - 1, trial_seed("echo", "01", 0, 0)])
def test_a_seed_for_generators_that_take_32_bits(seed):
    now = datetime.now(UTC)
    case = BenchCase(
        case_id="01",
        task_class="echo",
        disposition="positive",
        difficulty="easy",
        source="curated",
        added_at=now,
        last_validated_at=now,
        input_path=Path("/input"),
        expected_path=None,
        seed=seed,
    )
    assert case.seed32 == seed // 65536
    np.random.RandomState(case.seed32)
    assert "seed32" not in case.model_dump()


@given(scores)
def test_a_dumped_score_is_made_of_what_execnet_takes(score):
    dumped = score.model_dump(mode="json")
    assert execnet.loads(execnet.dumps(dumped)) == dumped


@pytest.mark.parametrize(
    "fields",
    [
        {"passed": 1},
        {"score": True},
        {"score": "0.5"},
        {"score": 1.5},
        {"score": -0.1},
        {"score": math.nan},
        {"cost_usd": -1},
        {"cost_usd": math.inf},
        {"safety_penalty": -0.5},
        {"breakdown": {"x": math.inf}},
        {"breakdown": {"x": True}},
        {"breakdown": {"x": {"y": 1.0}}},
        {"breakdown": {"llm.verdict": 1.0}},
        {"breakdown": {"model-says": 1.0}},
        {"failure_modes": "late"},
        {"failure_modes": ("",)},
        {"extra": 1},
    ],
)
def test_a_score_refuses_what_is_not_meant(fields):
    with pytest.raises(ValidationError):
        BenchScore(**{"passed": True, "score": 0.5, **fields})


def test_numpy_numbers_become_builtins():
    score = BenchScore(passed=True, score=np.float64(0.5), breakdown={"x": np.float64(1)})
    assert type(score.score) is float
    assert type(score.breakdown["x"]) is float


def test_failure_modes_keep_their_order_once_each():
    score = BenchScore(passed=False, score=0, failure_modes=["b", "a", "b"])
    assert score.failure_modes == ("b", "a")


def test_a_score_cannot_be_changed():
    score = BenchScore(passed=True, score=1, breakdown={"x": 1.0})
    with pytest.raises(ValidationError):
        score.score = 0.0
    with pytest.raises(TypeError):
        score.breakdown["x"] = 0.0


def test_reading_ignores_later_fields_at_any_depth():
    score = BenchScore(passed=True, score=1)
    result = TrialResult(
        case_id="a", trial=0, seed=1, held_out=False, outcome="scored", score=score
    )
    raw = json.loads(result.model_dump_json())
    raw["later"] = 1
    raw["score"]["later"] = 2
    assert TrialResult.read_json(json.dumps(raw).encode()) == result


@pytest.mark.parametrize(
    "data", [b'{"passed": true, "passed": false, "score": 1}', b"\xff", b'{"passed": true']
)
def test_reading_refuses_duplicate_keys_and_broken_text(data):
    with pytest.raises(ValueError, match=r"."):
        BenchScore.read_json(data)


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("fulfillment", None),
        ("overconfidence", None),
        ("confidence", "confidence"),
        ("x_confidence", "confidence"),
        ("self-reported", "self_reported"),
        ("a.LLM.b", "llm"),
        ("model_says_ok", "model_says"),
    ],
)
def test_banned_tokens_stand_between_separators(name, token):
    assert banned_token(name) == token


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(json_values)
def test_freezing_and_thawing_gives_the_value_back(value):
    assert thaw_json(freeze_json(value)) == value


@pytest.mark.parametrize("attempt", range(5))
def test_threads_that_use_a_model_first_all_get_what_they_made(attempt):
    class Inner(WireModel):
        number: int

    class Outer(WireModel):
        inner: Inner
        others: tuple[Inner, ...]

    start = Barrier(8)

    def made(number):
        start.wait(10)
        inner = Inner(number=number)
        return Outer.model_validate_json(Outer(inner=inner, others=(inner,)).model_dump_json())

    with ThreadPoolExecutor(8) as threads:
        assert [one.inner.number for one in threads.map(made, range(8))] == list(range(8))
