"""A number of passes as a side of a comparison: ``14/20``."""

from __future__ import annotations

import os
import re
from typing import Final

from benchgate.gates.figures import Arm
from benchgate.interop.vectors import MAX_VALUES

_COUNT: Final = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def is_count(word: str) -> bool:
    """Say whether a word is ``N/M`` and no such path exists."""
    return _COUNT.fullmatch(word) is not None and not os.path.lexists(word)


def side_of_count(word: str) -> Arm:
    """
    Return the side that ``N/M`` is: M cases of which N passed.

    :raises ValueError: it is none, or its numbers cannot be counts.
    """
    match = _COUNT.fullmatch(word)
    if match is None:
        raise ValueError(f"{word}: expected PASSED/CASES, such as 14/20")
    passed = int(match[1])
    cases = int(match[2])
    if not cases:
        raise ValueError(f"{word}: no cases; expected PASSED/CASES, such as 14/20")
    if passed > cases:
        why = f"{passed} of {cases} cases cannot have passed"
        raise ValueError(f"{word}: {why}; expected PASSED/CASES, and no such file exists")
    if cases > MAX_VALUES:
        raise ValueError(f"{word}: {cases} cases; at most {MAX_VALUES} are counted")
    return Arm(scores=(1.0,) * passed + (0.0,) * (cases - passed), is_count=True)
