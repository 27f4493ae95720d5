"""When a trial is tried again, and how long it waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.errors import SystemUnavailable
from benchgate.trials.pacing import MAX_DELAY, MAX_RETRY_AFTER, delay, is_unavailable, retry_after


@given(st.integers(0, 50))
def test_delays_double_up_to_a_limit_and_are_not_all_the_same(tried):
    longest = min(MAX_DELAY, 2.0**tried)
    drawn = [delay(tried, None) for _ in range(20)]
    assert all(longest / 2 <= found <= longest for found in drawn)
    assert len(set(drawn)) > 1


@given(st.floats(0, 1e9))
def test_what_the_service_asks_for_wins_within_reason(asked):
    wanted = min(asked, MAX_RETRY_AFTER)
    assert wanted <= delay(9, asked) <= wanted * 1.1 + 1e-9


class Response:
    def __init__(self, value):
        self.headers = {"retry-after": value}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-1", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        (None, None),
        ("nan", None),
    ],
)
def test_the_header_of_a_response_is_read(value, seconds):
    error = RuntimeError("429")
    error.response = Response(value)
    assert retry_after(error) == seconds


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
