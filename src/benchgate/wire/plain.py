"""What a system returned, as plain JSON: the one form that rubrics, files and workers agree on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final

from benchgate.wire.model import check_text

MAX_DEPTH: Final = 150
"""Of nested arrays and objects; pydantic reads files back to a depth of about 200."""


def output_json(produced: object) -> str:
    """
    Return a system's output as JSON text.

    :raises TypeError: no mapping with string keys, or a value that is no JSON.
    :raises ValueError: NaN, infinity, or nested beyond reason.
    """
    if not isinstance(produced, Mapping):
        msg = f"the system returned {type(produced).__qualname__}; expected a mapping"
        raise TypeError(msg)
    return json.dumps(_plain(produced, "output", 0), allow_nan=False)


def _plain(value: object, where: str, depth: int) -> object:
    if depth > MAX_DEPTH:
        msg = f"the output is nested more than {MAX_DEPTH} deep"
        raise ValueError(msg)
    # json.dumps alone would write keys 1 and "1" alike and take any float subclass by its repr.
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                msg = f"{where} has the key {key!r}; JSON keys are strings"
                raise TypeError(msg)
            check_text(key)
        return {str(key): _plain(item, f"{where}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
    return _plain_scalar(value, where)


def _plain_scalar(value: object, where: str) -> object:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return check_text(str(value))
    if not isinstance(value, float):
        msg = f"{where} is a {type(value).__qualname__}; JSON has no such value"
        raise TypeError(msg)
    if not math.isfinite(value):
        msg = f"{where} is {value!r}; JSON has no such number"
        raise ValueError(msg)
    return float(value)
