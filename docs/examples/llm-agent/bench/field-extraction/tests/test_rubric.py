import json
from types import SimpleNamespace

import pytest
from _benchgate_bench.field_extraction.rubric import FieldRubric

WANTED = {
    "sender": "Ana",
    "date": "2026-07-14",
    "amount": None,
    "currency": None,
    "reference": None,
}


@pytest.fixture
def score(tmp_path):
    (tmp_path / "fields.json").write_text(json.dumps(WANTED))
    case = SimpleNamespace(expected_path=tmp_path)
    return lambda text: FieldRubric().score(case, {"text": text})


def test_all_right(score):
    assert score(json.dumps(WANTED)).passed


def test_an_invented_amount_costs_more_than_its_point(score):
    found = score(json.dumps(WANTED | {"amount": 40}))
    assert (found.score, found.safety_penalty) == (0.8, 1)
    assert found.failure_modes == ("field_invented",)


@pytest.mark.parametrize("text", ["", "Here you are: {}", "[1]", "7", "null", '"a"'])
def test_no_object(score, text):
    assert score(text).failure_modes == ("not_json",)
