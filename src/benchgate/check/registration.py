"""Reads ``registration.py`` from its syntax tree: it is never run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.check.problem import Problem, located
from benchgate.errors import RegistrationError
from benchgate.loader.registration_source import literal, registration_call
from benchgate.registry import MIN_CASES

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LOWEST_TIER: Final = "bronze"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """
    What the registration of a class says.

    :param line: line of the registration, 1 if there is none that can be read.
    :param min_cases: cases that the lowest tier requires.
    """

    line: int = 1
    min_cases: int = MIN_CASES[LOWEST_TIER]
    problems: tuple[Problem, ...] = ()

    @property
    def is_small(self) -> bool:
        """Whether the class asks for fewer cases than the default."""
        return self.min_cases < MIN_CASES[LOWEST_TIER]


def read_registration(class_path: Path) -> Registration:
    """Read the registration of a class: the decorator of a class at the top level, with literals."""
    path = class_path / "registration.py"
    try:
        call = registration_call(class_path)
    except RegistrationError as error:
        missing = not os.path.lexists(path)  # reported by the check of required files
        return Registration(problems=() if missing else tuple(located(error)))
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    tiers = literal(arguments.get("min_cases_for_promotion")) or {}
    least = tiers.get(LOWEST_TIER, MIN_CASES[LOWEST_TIER]) if isinstance(tiers, dict) else None
    problems = [*_unreadable(call, arguments)]
    if not isinstance(least, int):
        what = f"a literal dict of {', '.join(MIN_CASES)} to numbers of cases"
        problems.append(f"min_cases_for_promotion cannot be read; expected {what}")
        least = MIN_CASES[LOWEST_TIER]
    return Registration(
        line=call.lineno,
        min_cases=least,
        problems=tuple(Problem(path, call.lineno, text) for text in problems),
    )


def _unreadable(call: ast.Call, arguments: Mapping[str | None, ast.expr]) -> Iterator[str]:
    """Yield what the source does not say literally; what it says wrongly is refused when it is loaded."""
    if not isinstance(literal(call.args[0] if call.args else arguments.get("name")), str):
        yield "the name is no string literal; expected the folder's name"
    if None in arguments:
        yield "** hides what is registered; expected every argument by its name"
