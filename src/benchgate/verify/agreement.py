"""The comparisons behind all rechecking: what a file says with what the files beside it give."""

from __future__ import annotations

import math
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.proof import PROOF_PARTS
from benchgate.errors import Unreadable
from benchgate.wire.files import file_sha256
from benchgate.wire.parsing import MAX_JSON_BYTES, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.wire.model import WireModel


SENTENCES: Final = frozenset({"message", "next_step", "details", "diagnostics", "summary"})
"""
Fields of a decision and of its evidence whose texts another version may word otherwise.

What they say is beside them as data, in ``says`` and ``step``, which are facts for every version.
"""


@cache
def here() -> str:
    """Return the version of this benchgate."""
    return version("pytest-benchgate")


def without_sentences(value: Any) -> Any:
    """Return a JSON value without what another version may word otherwise; codes and figures stay."""
    if isinstance(value, dict):
        return {key: without_sentences(part) for key, part in value.items() if key not in SENTENCES}
    if isinstance(value, list):
        return [without_sentences(part) for part in value]
    return value


def plain(model: WireModel) -> dict[str, Any]:
    """Return a model as the JSON values of its file."""
    return model.model_dump(mode="json")


def digest_holds(path: Path, expected: str, where: str) -> Iterator[str]:
    """Yield a message if a file cannot be read or does not have the recorded SHA-256."""
    try:
        actual = file_sha256(path, limit=MAX_JSON_BYTES)
    except Unreadable as error:
        yield f"{where}: {path.name}: {error.why}"
        return
    if actual != expected:
        yield f"{where}: {other_digest(path.name)}"


def other_digest(name: str) -> str:
    """Return that a file has other bytes than a record says."""
    return f"the SHA-256 of {name} is not the recorded one"


def same(where: str, expected: Any, actual: Any, *, is_file: bool = False) -> Iterator[str]:
    """
    Yield a message for each place where two JSON values differ; floats are compared to nine digits.

    :param is_file: fields that only the actual value has may be those of a newer version.
    """
    if expected == actual:  # most of a large file
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, wanted in expected.items():
            yield from same(f"{where}.{key}", wanted, actual.get(key), is_file=is_file)
        if not is_file:
            yield from _further(where, expected, actual)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (wanted, there) in enumerate(zip(expected, actual, strict=True)):
            yield from same(f"{where}.{index}", wanted, there, is_file=is_file)
    elif not _is_close(expected, actual):
        yield f"{where} is {actual!r}; recomputed: {expected!r}"


def _further(where: str, expected: dict[str, Any], actual: dict[str, Any]) -> Iterator[str]:
    for key, there in actual.items():
        if key not in expected:
            yield f"{where}.{key} is {there!r}; recomputed: nothing"


def _is_close(expected: Any, actual: Any) -> bool:
    """Whether two floats differ in the last digits alone; a file may have a whole number as an int."""
    if not isinstance(expected, float) or not isinstance(actual, (int, float)):
        return False
    return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-12)


def content_faults(
    where: str, expected: bytes, actual: bytes, folder: Path, *, by: str | None = None
) -> Iterator[str]:
    """
    Yield where the content of an evidence file differs from the bytes that its facts give, or from a part of it.

    JSON is compared by content, because the last digit of a float may differ between machines; so a proof has the
    digests of the files that are beside it.

    :param by: the version of benchgate that wrote the file, if that is known; sentences are compared only with those
        of the same version.
    """
    if where.endswith(".toml"):
        if actual != expected:
            yield f"{where}: not the lines that follow from the verdict"
        return
    wanted = read_json(expected)
    try:
        content = read_json(actual)
    except ValueError as error:
        yield f"{where}: no JSON: {error}"
        return
    if "artifact_sha256" in wanted:
        wanted["artifact_sha256"] = {
            part: file_sha256(folder / name, limit=MAX_JSON_BYTES)
            for part, name in PROOF_PARTS.items()
        }
    if by not in {None, here()}:
        wanted = without_sentences(wanted)
        content = without_sentences(content)
    yield from same(where, wanted, content, is_file=True)
