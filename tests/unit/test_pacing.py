"""When a trial is tried again, and how long it waits."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime
from io import BytesIO
from types import SimpleNamespace
from urllib.error import HTTPError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.errors import SystemUnavailable
from benchgate.models import TrialResult
from benchgate.trials.executor import Stage, TrialRecord
from benchgate.trials.pacing import (
    MAX_DELAY,
    MAX_RETRY_AFTER,
    Pacing,
    Turns,
    delay,
    is_unavailable,
    retry_after,
)

REQUEST = SimpleNamespace(case=SimpleNamespace(task_class="echo"), stage=Stage("answer"), then=None)


@given(st.integers(0, 50))
def test_delays_double_up_to_a_limit_and_are_not_all_the_same(tried):
    longest = min(MAX_DELAY, 2.0**tried)
    drawn = [delay(tried, None) for _ in range(20)]
    assert all(longest / 2 <= found <= longest for found in drawn)
    assert len(set(drawn)) > 1


@given(st.floats(0, 1e9, exclude_min=True))
def test_what_the_service_asks_for_wins(asked):
    assert asked <= delay(9, asked) <= asked * 1.1 + 1e-9


def test_a_service_that_asks_for_nothing_is_not_asked_again_at_once():
    assert delay(9, 0.0) >= MAX_DELAY / 2


def test_the_delays_of_a_system_that_seeds_its_generator_differ():
    drawn = set()
    for _ in range(5):
        random.seed(1)
        drawn.add(delay(0, 7.0))
    assert len(drawn) > 1


@pytest.mark.parametrize(("asked", "tried"), [(None, 3), (MAX_RETRY_AFTER, 3), (601.0, 1)])
def test_a_trial_is_not_tried_again_if_that_would_take_too_long(asked, tried):
    calls, waits = [], []

    def unavailable(_):
        calls.append(len(calls))
        result = TrialResult(
            case_id="a", trial=0, seed=0, held_out=False, outcome="unavailable", detail="429"
        )
        return TrialRecord(result=result, output_json=None, retry_after=asked)

    record = Pacing(2, Turns(None)).run(
        unavailable, REQUEST, lambda seconds, _=None: waits.append(seconds)
    )
    assert len(calls) == tried
    assert record.result.retries == tried - 1
    assert len(waits) == tried - 1  # after the last attempt nobody waits


def test_one_pace_is_shared_by_those_who_try_again_differently():
    turns, waits = Turns(60), []
    done = TrialResult(case_id="a", trial=0, seed=0, held_out=False, outcome="not_run")
    record = TrialRecord(result=done, output_json=None)
    for retries in (0, 3):
        Pacing(retries, turns).run(
            lambda _: record, REQUEST, lambda seconds, _=None: waits.append(seconds)
        )
    assert [round(wait) for wait in waits] == [1]


class Response:
    def __init__(self, value, name="retry-after"):
        self.headers = {name: value}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-1", None),
        ("Wed, 21 Oct 1999 07:28:00 GMT", 0.0),
        ("soon", None),
        (None, None),
        ("nan", None),
    ],
)
def test_the_header_of_a_response_is_read(value, seconds):
    error = RuntimeError("429")
    error.response = Response(value)
    assert retry_after(error) == seconds


def test_a_date_is_as_long_as_it_is_ahead():
    error = RuntimeError("503")
    error.response = Response(format_datetime(datetime.now(UTC) + timedelta(seconds=100)))
    assert 90 <= retry_after(error) <= 100


def test_a_header_is_found_whatever_its_case_and_on_the_exception_itself():
    error = RuntimeError("429")
    error.response = Response("7", name="Retry-After")
    assert retry_after(error) == 7
    headers = Message()
    headers["Retry-After"] = "8"
    with HTTPError("http://localhost", 429, "busy", headers, BytesIO()) as busy:
        assert retry_after(busy) == 8


def test_the_attribute_of_an_exception_is_read_first():
    error = SystemUnavailable("busy", retry_after=3)
    error.response = Response("9")
    assert retry_after(error) == 3
    assert retry_after(ValueError()) is None


class Agent:
    unavailable = (ConnectionError, TimeoutError)

    def __call__(self, _):
        return {}


def test_which_errors_are_not_the_systems_own():
    assert is_unavailable(Agent(), ConnectionResetError())
    assert is_unavailable(object(), SystemUnavailable())
    assert not is_unavailable(Agent(), ValueError())
    assert not is_unavailable(object(), ConnectionResetError())
