"""Refuses options that exclude each other. The rows of :mod:`.table` say which; nothing else refuses a pair of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.options.table import Option


def conflicts(
    options: Iterable[Option], values: Mapping[str, Any], places: Mapping[str, str]
) -> Iterator[str]:
    """
    Yield a line for each pair of options that exclude each other, and for each that lacks an output folder.

    :param places: where the value of an option is from, by its key; a default is from nowhere.
    """
    asked = [
        option
        for option in options
        if option.key in places and values[option.key] != option.default
    ]
    said = {
        option.key: f"{option.key} {values[option.key]} ({places[option.key]})" for option in asked
    }
    for option in asked:
        for other, why, own, others in option.conflicts:
            if other not in said:
                continue
            if _is_one_of(values[option.key], own) and _is_one_of(values[other], others):
                yield f"{said[option.key]} and {said[other]}: {why}"
        if option.needs_out and values["out"] is None:
            yield f"{said[option.key]} needs --bench-out: {option.needs_out}"


def _is_one_of(value: object, pattern: str) -> bool:
    return re.fullmatch(pattern, str(value), re.DOTALL) is not None
