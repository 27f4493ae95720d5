"""Converts values to exact builtins, the only form that JSON files, xdist workers and rubrics all accept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from benchgate.wire.model import check_text
from benchgate.wire.parsing import check_size

MAX_OUTPUT_DEPTH: Final = 150
"""Depth of arrays and objects allowed in an output; pydantic parses files to a depth of about 200."""

MAX_OUTPUT_BYTES: Final = 64 * 1024 * 1024
"""Size allowed of an output as JSON."""

VALUE_BYTES: Final = 16
"""Bytes that each value counts at least, because that is what reading it costs."""

MAX_DEPTH: Final = 64
"""Depth allowed in any other value."""


def listed(value: Any) -> Any:
    """Return a list as a tuple, which frozen models have instead."""
    return tuple(value) if isinstance(value, list) else value


def output_json(produced: object, where: str = "output") -> str:
    """
    Return a system's output as JSON text; the text cannot change while the rubric works on a copy.

    :param where: what it is called in messages.
    :raises ValueError: not a mapping with string keys, a value that JSON does not have, nested too deeply, or larger
        than :data:`MAX_OUTPUT_BYTES`.
    """
    if not isinstance(produced, Mapping):
        kind = type(produced).__qualname__
        raise ValueError(f"returned {kind}; expected a mapping")  # noqa: TRY004
    text = json.dumps(plain_json(produced, where, max_depth=MAX_OUTPUT_DEPTH))
    if len(text) > MAX_OUTPUT_BYTES:
        raise ValueError(_too_large(where))
    check_size(text.encode())
    return text


def _too_large(name: str) -> str:
    least = f"each value counts for {VALUE_BYTES} at least"
    return f"{name} has more than {MAX_OUTPUT_BYTES} bytes as JSON; {least}"


def plain_json(
    value: object, where: str, *, max_depth: int = MAX_DEPTH, finite: bool = True
) -> Any:
    """
    Return a JSON value as exact builtins; subclasses such as ``numpy.float64`` are converted.

    :param where: name of the value in messages.
    :param finite: refuse NaN and infinity, which JSON does not have.
    :raises ValueError: not a JSON value, a key that is not a string, nested deeper than ``max_depth``, or too large.
        Never a TypeError, because pydantic reports only ValueErrors of validators.
    """
    return _Walk(where, max_depth, finite, MAX_OUTPUT_BYTES).value(value, where, max_depth)


@dataclass(slots=True)
class _Walk:
    """Settings of one walk through a value, and how many bytes more it may have."""

    root: str
    max_depth: int
    finite: bool
    room: int

    def value(self, value: object, where: str, left: int) -> Any:
        self._take(VALUE_BYTES)
        if not isinstance(value, (dict, list, tuple, Mapping)):
            return self._scalar(value, where)
        if not left:
            raise ValueError(
                f"{self.root} is nested more than {self.max_depth} deep, or contains itself"
            )
        # json.dumps alone would write the keys 1 and "1" alike, and a float subclass by its repr.
        if isinstance(value, Mapping):
            return {
                self._key(key, where): self.value(item, f"{where}.{key}", left - 1)
                for key, item in value.items()
            }
        return [self.value(item, f"{where}[{n}]", left - 1) for n, item in enumerate(value)]

    def _key(self, key: object, where: str) -> str:
        if not isinstance(key, str):
            raise ValueError(f"{where} has the key {key!r}; JSON keys are strings")  # noqa: TRY004
        return self._text(key)

    def _text(self, text: str) -> str:
        self._take(len(text))
        return check_text(str(text))

    def _take(self, size: int) -> None:
        # Counted on the way: a small value may contain one list a million times.
        self.room -= size
        if self.room < 0:
            raise ValueError(_too_large(self.root))

    def _scalar(self, value: object, where: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            return int(value)
        if not isinstance(value, float):
            kind = type(value).__qualname__
            raise ValueError(f"{where} is a {kind}; JSON has no such value")  # noqa: TRY004
        if self.finite and not math.isfinite(value):
            raise ValueError(f"{where} is {value!r}; JSON has no such number")
        return float(value)
