"""How a value is shown in a sentence: the few formats that templates have besides those of Python."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import counted
from benchgate.wire.usage import usd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def confidence(alpha: float, decimals: int = 0) -> str:
    """Return 1 - alpha in percent, with more decimals than these where it would else be rounded to 100."""
    needed = max(decimals, -math.floor(math.log10(100 * alpha)))
    return f"{1 - alpha:.{needed}%}"


def percent(share: float) -> str:
    """Return a share in percent: with one decimal, below 1 % with two digits, so that small ones can be told apart."""
    if share < 0.01:
        return f"{100 * share:.2g}%"
    return f"{share:.1%}"


NAMED: Final[Mapping[str, Callable[[float], str]]] = {"usd": usd, "percent": percent}


def shown(value: Any, spec: str) -> str:
    """
    Return a number or a text as a template asks for it.

    :param spec: ``count NOUN`` for a number with its noun; ``ONE|MORE`` for one of two words; ``usd``; ``percent``;
        ``confidence`` for 1 - alpha in percent, ``confidence.1`` with a decimal; else a format of Python.
    """
    if spec.startswith("count "):
        return counted(value, spec.removeprefix("count "))
    if "|" in spec:
        one, _, more = spec.partition("|")
        if value == 1:
            return one
        return more
    if spec in NAMED:
        return NAMED[spec](value)
    if spec.startswith("confidence"):
        _, _, decimals = spec.partition(".")
        return confidence(value, int(decimals or 0))
    return format(value, spec)
