"""Write the JSON Schemas of the artifacts anew from their models; a test fails until this was run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchgate.artifacts.kinds import KINDS
from benchgate.wire.model import SCHEMA_VERSION

FOLDER = Path(__file__).parent.parent / "src" / "benchgate" / "artifacts" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def make_schema(kind: str) -> dict[str, Any]:
    """Generate the schema of a kind from its model; a test compares the shipped files with it."""
    # What is written has every field, so the schema is that of serialisation: all are required.
    schema = KINDS[kind].model_json_schema(mode="serialization")
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
