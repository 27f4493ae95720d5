"""
Checks cases against the schema that a class keeps for them in ``case-template/expected.schema.json``.

The schema is of ``expected/expected.json``; with ``"x-input": "text"`` at its top every file of ``input/`` has to be
UTF-8. Read is the part of JSON Schema that pydantic writes, without patterns and formats: what is not read passes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from benchgate.check.problem import Problem
from benchgate.loader.case_folder import case_folders
from benchgate.loader.new_case import SCHEMA, TEMPLATE
from benchgate.wire.files import tree_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

EXPECTED: Final = "expected.json"
_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}


def template_problems(class_path: Path) -> Iterator[Problem]:
    """Yield where cases differ from their class's schema, and binary files where it wants text."""
    path = class_path / TEMPLATE / SCHEMA
    if not path.is_file():
        return
    schema = _json(path)
    if not isinstance(schema, dict):
        yield Problem(path, 1, "is no JSON Schema; expected a JSON object")
        return
    for folder in case_folders(class_path):
        yield from _of_case(folder, schema)


def _of_case(folder: Path, schema: Mapping[str, Any]) -> Iterator[Problem]:
    path = folder / "expected" / EXPECTED
    if path.is_file():
        held = _json(path)
        faults = _faults(held, schema, schema, "") if held is not None else ["is no JSON"]
        yield from (Problem(path, 1, fault) for fault in faults)
    if schema.get("x-input") == "text" and (folder / "input").is_dir():
        for name, _ in tree_files(folder / "input"):
            one = folder / "input" / name
            if not _is_text(one):
                message = "is not UTF-8; expected text, which is all that the rubric reads"
                yield Problem(one, 1, message)


def _is_text(path: Path) -> bool:
    try:
        path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return True


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _faults(held: Any, schema: Any, top: Mapping[str, Any], where: str) -> Iterator[str]:
    if "$ref" in schema:
        schema = top.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {})
    name = where or "the file"
    if "anyOf" in schema:
        if not any(not list(_faults(held, one, top, where)) for one in schema["anyOf"]):
            yield f"{name}: fits none of the forms that the schema has for it"
    elif "const" in schema and held != schema["const"]:
        yield f"{name}: is {held!r}; expected {schema['const']!r}"
    elif not _is_a(held, schema.get("type")):
        yield f"{name}: is no {schema['type']}"
    else:
        yield from _inside(held, schema, top, where)


def _is_a(held: Any, kind: Any) -> bool:
    if kind not in _TYPES:
        return True
    return isinstance(held, _TYPES[kind]) and isinstance(held, bool) == (kind == "boolean")


def _inside(held: Any, schema: Any, top: Mapping[str, Any], where: str) -> Iterator[str]:
    if isinstance(held, dict):
        yield from _of_object(held, schema, top, where)
    elif isinstance(held, list):
        for at, one in enumerate(held):
            yield from _faults(one, schema.get("items", {}), top, f"{where}[{at}]")
    elif isinstance(held, (int, float)):
        low = schema.get("exclusiveMinimum", float("-inf"))
        high = schema.get("maximum", float("inf"))
        if not low < held <= high:
            yield f"{where}: is {held}; expected more than {low} and at most {high}"


def _of_object(
    held: Mapping[str, Any], schema: Mapping[str, Any], top: Mapping[str, Any], where: str
) -> Iterator[str]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key in schema.get("required", ()):
        if key not in held:
            yield f"{where}{'.' if where else ''}{key}: is missing"
    for key, value in held.items():
        there = f"{where}{'.' if where else ''}{key}"
        if key in known:
            yield from _faults(value, known[key], top, there)
        elif others is False:
            yield f"{there}: is no key of it; expected {', '.join(sorted(known))}"
        elif isinstance(others, dict):
            yield from _faults(value, others, top, there)
