"""Canonical JSON is RFC 8785's, also where a faster encoder writes it."""

from __future__ import annotations

import math

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from benchgate.wire.canonical import canonical_bytes

names = st.text() | st.text(alphabet='abz_.-"\\\n\x7f')
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**54), 2**54)
    | st.floats()
    | st.floats(-1000, 1000)
    | st.text(st.characters(exclude_categories=()))
)
values = st.recursive(
    scalars,
    lambda part: st.lists(part) | st.tuples(part, part) | st.dictionaries(names, part),
    max_leaves=20,
)


def told(encode, value):
    try:
        return encode(value)
    except Exception as error:
        return type(error), str(error)


@given(values)
def test_bytes_and_errors_are_those_of_rfc_8785(value):
    assert told(canonical_bytes, value) == told(rfc8785.dumps, value)


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        1.0,
        1e-7,
        0.0001,
        0.00009999,
        5e-324,
        1e16,
        1e21,
        2.0**53,
        2**53,
        2**53 - 1,
        math.nan,
        -math.inf,
        {"\ue000": 1, "\U0001f600": 2},
        {1: 2},
        {"a": {1, 2}},
        "\ud800",
        "\x00\x1f\x7f\u2028",
    ],
    ids=repr,
)
def test_where_encoders_differ(value):
    assert told(canonical_bytes, [value]) == told(rfc8785.dumps, [value])


def test_the_usual_value_does_not_need_the_slow_encoder(monkeypatch):
    monkeypatch.setattr(rfc8785, "dumps", None)
    assert canonical_bytes({"b": [1.0, 0.5, True, None, "ä"], "a": (-0.0,)}) == (
        '{"a":[0],"b":[1,0.5,true,null,"ä"]}'.encode()
    )
