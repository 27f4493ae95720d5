"""Reads ``registration.py`` from its syntax tree: it is never run."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from benchgate.check.problem import Problem, located
from benchgate.errors import RegistrationError
from benchgate.loader.rubric_source import parse_source
from benchgate.registry import MIN_CASES, min_cases_fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FUNCTION: Final = "register_task_class"
LOWEST_TIER: Final = "bronze"
KEYWORDS: Final = (
    "name",
    "bench_path",
    "min_cases_for_promotion",
    "systems",
    "default_system",
    "facts_model",
)


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
        tree = parse_source(path)
    except RegistrationError as error:
        missing = not os.path.lexists(path)  # reported by the check of required files
        return Registration(problems=() if missing else tuple(located(error)))
    calls = [
        call
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and _is_decorator(call.func)
    ]
    if len(calls) != 1:
        message = f"registers {len(calls) or 'nothing'}; expected one class with @{FUNCTION}({name!r}, ...) on it"
        return Registration(problems=(Problem(path, calls[1].lineno if calls else 1, message),))
    (call,) = calls
    return Registration(
        line=call.lineno,
        min_cases=_bronze_cases(call),
        problems=tuple(Problem(path, call.lineno, text) for text in _call_problems(call, name)),
    )


def _is_decorator(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
    return name == FUNCTION


def _call_problems(call: ast.Call, name: str) -> Iterator[str]:
    found = call.args[0] if call.args else _keyword(call, "name")
    if not (isinstance(found, ast.Constant) and isinstance(found.value, str)):
        yield f"the name is no string literal; expected {name!r}, the folder's name"
    elif found.value != name:
        yield f"registers {found.value!r}; expected {name!r}, the folder's name"
    if len(call.args) > 1:
        yield "has more than one positional argument; expected the name, and the rest by keyword"
    for keyword in call.keywords:
        if keyword.arg is None:
            yield "** hides what is registered; expected every argument by its name"
        elif keyword.arg not in KEYWORDS:
            yield f"has the unknown argument {keyword.arg!r}; known: {', '.join(KEYWORDS)}"
    tiers = _keyword(call, "min_cases_for_promotion")
    if tiers is not None and (wrong := _tiers_problem(tiers)) is not None:
        known = ", ".join(MIN_CASES)
        yield f"min_cases_for_promotion {wrong}; expected a literal dict of {known} to numbers of cases"
    yield from _default_problem(_keyword(call, "systems"), _keyword(call, "default_system"))


def _default_problem(systems: ast.expr | None, default: ast.expr | None) -> Iterator[str]:
    if isinstance(systems, ast.Dict) and isinstance(default, ast.Constant):
        labels = [key.value if isinstance(key, ast.Constant) else ... for key in systems.keys]
        if ... not in labels and default.value is not None and default.value not in labels:
            yield f"default_system {default.value!r} is not one of its systems"


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _literal(node: ast.expr | None) -> Any:
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ...


def _tiers_problem(node: ast.expr) -> str | None:
    value = _literal(node)
    if value is None:
        return None
    if not isinstance(value, dict):
        return "is no literal dict"
    for tier, count in value.items():
        if wrong := min_cases_fault(tier, count):
            return wrong
    return None


def _bronze_cases(call: ast.Call) -> int:
    tiers = _keyword(call, "min_cases_for_promotion")
    standard = MIN_CASES[LOWEST_TIER]
    if tiers is None or _tiers_problem(tiers) is not None:
        return standard
    return int((_literal(tiers) or {}).get(LOWEST_TIER, standard))
