"""Substitutes variables in the words of an instruction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .instruction import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_VALUE: Final = 20_000
"""Longest value, in characters: variables that contain each other can double in length at each step."""

_PIECE: Final = re.compile(
    r"""
      \\(?P<escaped>.)
    | '(?P<single>[^']*)'
    | "(?P<double>(?:\\.|[^"\\])*)"
    | \$(?P<bare>[A-Za-z_]\w*)
    | \$\{(?P<name>[A-Za-z_]\w*)(?:(?P<mode>:?[-+])(?P<word>(?:[^{}]|\$\{[^{}]*\})*))?\}
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def expand(text: str, variables: Mapping[str, str]) -> str:
    """
    Return a word with variables substituted and quotes removed; an unset variable is empty.

    :raises Refused: the result is longer than :data:`MAX_VALUE`.
    """

    def fill(found: re.Match[str]) -> str:
        if found["double"] is not None:
            # Single quotes mean nothing inside double ones.
            return expand(found["double"].replace("'", "\\'"), variables)
        if found["name"] is not None:
            return _braced(found, variables)
        if found["bare"] is not None:
            return variables.get(found["bare"], "")
        return found["escaped"] or found["single"] or ""

    filled = _PIECE.sub(fill, text)
    if len(filled) > MAX_VALUE:
        raise Refused("dockerfile_unparsable")
    return filled


def _braced(found: re.Match[str], variables: Mapping[str, str]) -> str:
    value, mode = variables.get(found["name"]), found["mode"] or ""
    # With the colon an empty value counts as unset.
    given = value is not None and (bool(value) or not mode.startswith(":"))
    if mode.endswith("+"):
        return expand(found["word"], variables) if given else ""
    if mode.endswith("-") and not given:
        return expand(found["word"], variables)
    return value or ""
