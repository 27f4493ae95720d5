# mypy: allow-untyped-defs, allow-untyped-calls
"""The JSON Schema of expected.json, and what a new case begins with."""

import json

import jsonschema
import pytest
from _benchgate_bench.migration_chainguard_distroless.expected import Expected
from _benchgate_bench.migration_chainguard_distroless.tests.support import (
    CASES,
    CLASS,
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
