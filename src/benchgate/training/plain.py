"""JSON values as exact builtins: what goes over any wire unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from benchgate.wire.model import check_text

MAX_DEPTH: Final = 64
"""Arrays and objects inside each other, at most."""


def plain_json(value: Any) -> Any:
    """
    Return a JSON value as exact builtins; subclasses such as ``numpy.float64`` are converted.

    NaN and infinity are let through: validation names them.

    :raises ValueError: no JSON value, a key that is no text, or nested deeper than :data:`MAX_DEPTH`.
    """
    return _plain(value, MAX_DEPTH)


def plain_object(value: Any) -> Any:
    """Return a JSON object as exact builtins; what is no mapping is left to the field's own type check."""
    return plain_json(value) if isinstance(value, Mapping) else value


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, (Mapping, list, tuple)):
        if not depth:
            msg = f"arrays or objects are nested deeper than {MAX_DEPTH}, or hold themselves"
            raise ValueError(msg)
        if isinstance(value, Mapping):
            return {_key(key): _plain(item, depth - 1) for key, item in value.items()}
        return [_plain(item, depth - 1) for item in value]
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return check_text(str(value))
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    msg = f"a {type(value).__qualname__} is no JSON value"
    raise ValueError(msg)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        msg = f"key {key!r}: JSON keys are strings"
        raise ValueError(msg)  # noqa: TRY004 - pydantic reports ValueError alone
    return check_text(str(key))
