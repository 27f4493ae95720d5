"""Reads ``registration.py`` from its syntax tree: it is never run."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Final

from benchgate.check.problem import Problem, located
from benchgate.errors import RegistrationError
from benchgate.loader.registration_source import literal, registration_call
from benchgate.registry import MIN_CASES, min_cases_faults, register_task_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LOWEST_TIER: Final = "bronze"
KEYWORDS: Final = tuple(signature(register_task_class).parameters)


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


def read_registration(class_path: Path, name: str) -> Registration:
    """Read the registration of a class: the decorator of a class at the top level, with literals."""
    path = class_path / "registration.py"
    try:
        call = registration_call(class_path)
    except RegistrationError as error:
        missing = not os.path.lexists(path)  # reported by the check of required files
        return Registration(problems=() if missing else tuple(located(error)))
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    tiers = literal(arguments.get("min_cases_for_promotion")) or {}
    wrong = next(min_cases_faults(tiers), None) if isinstance(tiers, dict) else "is no literal dict"
    problems = [*_call_problems(call, arguments, name)]
    if wrong is not None:
        tier_names = ", ".join(MIN_CASES)
        message = f"min_cases_for_promotion {wrong}; expected a literal dict of {tier_names} to numbers of cases"
        problems.append(message)
    return Registration(
        line=call.lineno,
        min_cases={**MIN_CASES, **({} if wrong else tiers)}[LOWEST_TIER],
        problems=tuple(Problem(path, call.lineno, text) for text in problems),
    )


def _call_problems(
    call: ast.Call, arguments: Mapping[str | None, ast.expr], name: str
) -> Iterator[str]:
    registered = literal(call.args[0] if call.args else arguments.get("name"))
    if not isinstance(registered, str):
        yield f"the name is no string literal; expected {name!r}, the folder's name"
    elif registered != name:
        yield f"registers {registered!r}; expected {name!r}, the folder's name"
    if len(call.args) > 1:
        yield "has more than one positional argument; expected the name, and the rest by keyword"
    for key in arguments:
        if key is None:
            yield "** hides what is registered; expected every argument by its name"
        elif key not in KEYWORDS:
            yield f"has the unknown argument {key!r}; known: {', '.join(KEYWORDS)}"
    yield from _default_problem(arguments.get("systems"), arguments.get("default_system"))


def _default_problem(systems: ast.expr | None, node: ast.expr | None) -> Iterator[str]:
    default = literal(node)
    if isinstance(systems, ast.Dict) and isinstance(default, str):
        labels = [literal(key) for key in systems.keys]
        if all(isinstance(label, str) for label in labels) and default not in labels:
            yield f"default_system {default!r} is not one of its systems"
