"""Parsing JSON of limited size, in time that grows with its size and no faster."""

from __future__ import annotations

import gc
import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_JSON_BYTES: Final = 256 * 1024 * 1024
MAX_JSON_VALUES: Final = 10_000_000
"""Largest artifact that is read, and that is written; that of a run with the most trials, 200,000, is smaller."""

_TEXT: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"')


def read_json(data: bytes) -> Any:
    """
    Parse JSON, refusing duplicate keys: parsers differ in which of the two values they keep.

    :raises ValueError: not UTF-8, not JSON, too large, nested too deeply, or a key that appears twice.
    """
    check_size(data)
    try:
        with collector_paused():
            return json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys)
    except RecursionError:
        msg = "arrays or objects are nested too deeply"
        raise ValueError(msg) from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """
    Return the object of some pairs, as the ``object_pairs_hook`` of a parser.

    :raises ValueError: a key appears twice.
    """
    result = dict(pairs)
    if len(result) != len(pairs):
        msg = f"key {repeated(key for key, _ in pairs)!r} appears twice in one object"
        raise ValueError(msg)
    return result


def repeated(keys: Iterable[str]) -> str | None:
    """Return the first key that was there before."""
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    return None


def check_size(data: bytes) -> None:
    """
    Refuse JSON that could not be read in seconds; what is written is held to the same limits.

    :raises ValueError: more bytes than :data:`MAX_JSON_BYTES`, or more values than :data:`MAX_JSON_VALUES`.
    """
    if len(data) > MAX_JSON_BYTES:
        msg = f"{len(data)} bytes; at most {MAX_JSON_BYTES} are read"
        raise ValueError(msg)
    # Commas in texts count only at second sight: to cut the texts out takes long.
    if _values(data) > MAX_JSON_VALUES and _values(_TEXT.sub(b"", data)) > MAX_JSON_VALUES:
        msg = f"more than {MAX_JSON_VALUES} values as JSON"
        raise ValueError(msg)


def _values(data: bytes) -> int:
    return sum(map(data.count, (b",", b"[", b"{")))


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector: JSON has no cycles, and looking for them takes most of the time of reading it."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def first_fault(error: ValueError) -> str:
    """Return the first fault of an error from reading an artifact, on one line."""
    if hasattr(error, "errors"):  # of pydantic, which is not imported before it is used
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        return excerpt(f"{where}: {fault['msg']}" if where else fault["msg"])
    return " ".join(str(error).split())[:300]
