"""Reading and checking RL payloads in a system's output and in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

from pydantic import ValidationError

from benchgate.training.bundle import RlPayloadBundle, checkpoint_errors
from benchgate.training.errors import ERRORS, RlPayloadError
from benchgate.training.payloads import CheckpointRecord
from benchgate.wire.files import open_regular
from benchgate.wire.parsing import first_fault

JSON_LINES: Final = frozenset({".jsonl", ".ndjson"})
"""Suffixes of files with a bundle on each line; any other file contains one bundle."""

MAX_BUNDLE_BYTES: Final = 64 * 1024 * 1024
"""Largest bundle that is read; a larger line or file is an error."""
MALFORMED: Final = ERRORS["malformed_payload"]
TOO_LARGE: Final = f"more than {MAX_BUNDLE_BYTES} bytes, which are not read"


def validate_rl_payload(value: Mapping[str, Any]) -> RlPayloadBundle:
    """
    Return the bundle that a system returned under ``rl_payload``, checked as a whole.

    :param value: plain JSON builtins; unknown fields are ignored, as in all data that programs write.
    :raises MalformedPayload: not a mapping, a missing field, or a value of the wrong type.
    :raises RlPayloadError: the first error of the bundle.
    """
    if not isinstance(value, Mapping):
        name = type(value).__qualname__
        raise MALFORMED(f"the payload is of type {name}; expected an object", (), (name,))
    try:
        bundle = RlPayloadBundle.model_validate(dict(value), extra="ignore")
    except ValidationError as error:
        raise _malformed(error) from error
    bundle.validate_bundle()
    return bundle


def read_checkpoint(path: Path | str) -> CheckpointRecord:
    """
    Read and check the checkpoint record in a JSON file; unknown fields, such as the weights, are ignored.

    :raises MalformedPayload: not JSON, a missing field, or a value of the wrong type.
    :raises RlPayloadError: the first error of the record.
    :raises ValueError: not a regular file, or larger than 64 MiB; :raises OSError: it cannot be opened.
    """
    with open_regular(path) as file:
        data = file.read(MAX_BUNDLE_BYTES + 1)
    if len(data) > MAX_BUNDLE_BYTES:
        raise ValueError(TOO_LARGE)
    return parse_checkpoint(data)


def parse_checkpoint(data: bytes) -> CheckpointRecord:
    """Check the checkpoint record in the bytes of a JSON file; errors as in :func:`read_checkpoint`."""
    try:
        record = CheckpointRecord.read_json(data)
    except ValueError as error:
        raise _malformed(error) from error
    for fault in checkpoint_errors(record):
        raise fault
    return record


def validate_payload_file(path: Path | str) -> list[tuple[int, RlPayloadError]]:
    """
    Return all errors of the bundles in a file, each with its line; empty if all bundles are valid.

    A file named ``*.jsonl`` or ``*.ndjson`` has a bundle on each line and is read line by line; blank lines are
    skipped. Any other file is one JSON document with one bundle; the line is then that of a syntax error, else 1.

    :raises ValueError: not a regular file; :raises OSError: it cannot be read.
    """
    found: list[tuple[int, RlPayloadError]] = []
    empty = True
    with open_regular(path) as file:
        for line, data in _documents(file, Path(path).suffix.lower() in JSON_LINES):
            empty = False
            found += [(at or line, error) for at, error in _document_errors(data)]
    if empty:
        found.append((1, MALFORMED("no bundle in the file")))
    return found


def _documents(file: IO[bytes], json_lines: bool) -> Iterator[tuple[int, bytes]]:
    """Yield line and bytes of each document; one that is too large is cut one byte after the limit."""
    limit = MAX_BUNDLE_BYTES + 1
    if not json_lines:
        data = file.read(limit)
        if data:
            yield 1, data
        return
    line = 0
    while data := file.readline(limit):
        line += 1
        if data.strip():
            yield line, data
        # Whatever is left of a line that is too large is part of it, and no further bundle.
        while len(data) == limit and not data.endswith(b"\n"):
            data = file.readline(limit)


def _document_errors(data: bytes) -> Iterator[tuple[int, RlPayloadError]]:
    """Yield the errors of one document, with the line inside it or 0 if unknown."""
    if len(data) > MAX_BUNDLE_BYTES:
        yield 0, MALFORMED(TOO_LARGE)
        return
    try:
        bundle = RlPayloadBundle.read_json(data)
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        has_lines = isinstance(line, int) and b"\n" in data.rstrip(b"\r\n")
        yield line if has_lines else 0, _malformed(error)
        return
    for fault in bundle.errors():
        yield 0, fault


def _malformed(error: ValueError) -> RlPayloadError:
    if not isinstance(error, ValidationError):
        return MALFORMED(f"no JSON: {first_fault(error)}")
    fault = error.errors(include_url=False)[0]
    field = _path_of(fault["loc"])
    if fault["type"] == "missing":
        return MALFORMED(f"{field} is missing", (field,), ())
    value = fault["input"]
    return MALFORMED(f"{field} is {_short_repr(value)}: {fault['msg']}", (field,), (value,))


def _path_of(places: tuple[int | str, ...]) -> str:
    """Return where a fault is as errors of values say it: ``trajectory.steps[3].reward``."""
    path = ""
    for place in places:
        if isinstance(place, int):
            path += f"[{place}]"
        else:
            path += f".{place}"
    return path[1:]


def _short_repr(value: object) -> str:
    try:
        text = repr(value)
    except Exception as error:  # repr may run the system's own code
        return f"<repr() raised {type(error).__name__}>"
    if len(text) <= 120:
        return text
    return f"{text[:119]}…"
