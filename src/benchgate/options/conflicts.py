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

    def told(*keys: str) -> str:
        """Return options with their values, and where these are from."""
        if len({places[key] for key in keys}) == 1:
            together = " and ".join(f"{key} {values[key]}" for key in keys)
            return f"{together} ({places[keys[0]]})"
        return " and ".join(f"{key} {values[key]} ({places[key]})" for key in keys)

    given = (option for option in options if option.key in places)
    asked = {one.key: one for one in given if values[one.key] != one.default}
    for key, option in asked.items():
        for other, why, own, others in option.conflicts:
            if other in asked and _is(values[key], own) and _is(values[other], others):
                yield f"{told(key, other)}: {why}"
        if option.needs_out and values["out"] is None:
            yield f"{told(key)} needs --bench-out: {option.needs_out}"


def _is(value: object, pattern: str) -> bool:
    return re.fullmatch(pattern, str(value), re.DOTALL) is not None
