"""Write the JSON Schemas of the artifacts anew from their models; a test fails until this was run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema

from benchgate.artifacts.kinds import KINDS
from benchgate.wire.model import SCHEMA_VERSION

if TYPE_CHECKING:
    from pydantic_core import core_schema

FOLDER = Path(__file__).parent.parent / "src" / "benchgate" / "artifacts" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class WhatIsWritten(GenerateJsonSchema):
    """Every field is required that is always written; pydantic 2.12 also requires one that a condition leaves out."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        if field.get("serialization_exclude_if") is not None:
            return False
        return super().field_is_required(field, total)


def make_schema(kind: str) -> dict[str, Any]:
    """Generate the schema of a kind from its model; a test compares the shipped files with it."""
    schema = KINDS[kind].model_json_schema(mode="serialization", schema_generator=WhatIsWritten)
    # Readers ignore unknown fields.
    _open_up(schema)
    return {"$schema": DIALECT, "$id": f"urn:benchgate:schema:{kind}:{SCHEMA_VERSION}", **schema}


def _open_up(node: Any) -> None:
    if isinstance(node, dict):
        if node.get("additionalProperties") is False:
            del node["additionalProperties"]
        for value in node.values():
            _open_up(value)
    elif isinstance(node, list):
        for value in node:
            _open_up(value)


if __name__ == "__main__":
    for kind in KINDS:
        text = json.dumps(make_schema(kind), indent=2) + "\n"
        (FOLDER / f"{kind}.json").write_text(text, encoding="utf-8")
