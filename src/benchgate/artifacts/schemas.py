"""JSON Schemas of the artifacts: shipped as files, generated from the models."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

from benchgate.wire.model import SCHEMA_VERSION

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def schema_kinds() -> list[str]:
    """Return the kinds that have a schema, sorted."""
    folder = files("benchgate.artifacts") / "schemas"
    return sorted(path.name.removesuffix(".json") for path in folder.iterdir())


def schema_text(kind: str) -> str:
    """
    Return the JSON Schema of a kind of artifact.

    :raises KeyError: there is no such kind.
    """
    if kind not in schema_kinds():
        raise KeyError(kind)
    return (files("benchgate.artifacts") / "schemas" / f"{kind}.json").read_text("utf-8")


def make_schema(kind: str) -> dict[str, Any]:
    """Generate the schema of a kind from its model; a test compares the shipped files with it."""
    from benchgate.artifacts.kinds import KINDS

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
