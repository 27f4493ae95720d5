# mypy: allow-untyped-defs, allow-untyped-calls
"""The JSON Schema of expected.json, and what a new case begins with."""

import json

import jsonschema
import pytest
from _benchgate_bench.migration_chainguard_distroless.axes import right_command
from _benchgate_bench.migration_chainguard_distroless.expected import Expected, TiedArgv
from _benchgate_bench.migration_chainguard_distroless.tests.support import (
    CASES,
    CLASS,
    FREE,
    answer,
    load,
)
from _benchgate_bench.migration_chainguard_distroless.tools.write_schema import SCHEMA, schema

KEPT = json.loads(SCHEMA.read_text(encoding="utf-8"))


def test_the_schema_is_that_of_the_model():
    assert schema() == KEPT


@pytest.mark.parametrize("case_id", CASES)
def test_every_case_fits(case_id):
    if load(case_id).disposition == "positive":
        text = (load(case_id).expected_path / "expected.json").read_text(encoding="utf-8")
        jsonschema.validate(json.loads(text), KEPT)


@pytest.mark.parametrize("case_id", CASES)
def test_all_input_is_text(case_id):
    """Which is all that the rubric reads."""
    for path in load(case_id).input_path.rglob("*"):
        if path.is_file():
            path.read_text(encoding="utf-8")


def test_the_template_fits():
    text = (CLASS / "case-template/expected/expected.json").read_text(encoding="utf-8")

    jsonschema.validate(json.loads(text), KEPT)
    assert Expected.model_validate_json(text).argv == (("program", "/path/of/an/argument"),)


def test_a_command_may_be_tied_to_an_image():
    tied = {"words": ["python", "a"], "images": [f"{FREE}/python:latest"]}
    asked = {"argv": [["x"], tied], "final_images": {f"{FREE}/python:latest": 1.0}}
    text = 'FROM %s\nENTRYPOINT ["python", "a"]\n'

    assert isinstance(Expected.model_validate({"schema_version": 1, **asked}).argv[1], TiedArgv)
    assert right_command(answer(text % f"{FREE}/python", **asked))
    assert not right_command(answer(text % f"{FREE}/python:latest-dev", **asked))
    assert right_command(answer(f'FROM {FREE}/node\nENTRYPOINT ["x"]\n', **asked))
