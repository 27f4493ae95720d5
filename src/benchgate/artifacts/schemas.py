"""JSON Schemas of the artifacts: shipped as files, which ``tests/regenerate_schemas.py`` makes of the models."""

from __future__ import annotations

from importlib.resources import files


def schema_kinds() -> list[str]:
    """Return the kinds that have a schema, sorted."""
    folder = files("benchgate.artifacts") / "schemas"
    return sorted(path.name.removesuffix(".json") for path in folder.iterdir())


def schema_text(kind: str) -> str:
    """Return the JSON Schema of one of these kinds."""
    return (files("benchgate.artifacts") / "schemas" / f"{kind}.json").read_text("utf-8")
