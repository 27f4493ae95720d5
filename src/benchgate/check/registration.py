"""Reads ``registration.py`` from its syntax tree: it is never run."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchgate.check.problem import Problem, located
from benchgate.errors import RegistrationError, Unreadable
from benchgate.loader.rubric_source import parse_source
from benchgate.registry import MIN_CASES, min_cases_fault
from benchgate.wire.files import MAX_SOURCE_BYTES, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_NOT_CODE_OF_THE_CLASS: Final = frozenset({"cases", "cassettes", "inputs", "tests"})


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
    """Read the registration of a class; a second one, hidden in another file, is a problem."""
    path = class_path / "registration.py"
    elsewhere = tuple(_elsewhere(class_path))
    try:
        tree = parse_source(path)
    except RegistrationError as error:
        missing = not os.path.lexists(path)  # reported by the check of required files
        return Registration(problems=elsewhere if missing else (*located(error), *elsewhere))
    uses = _uses(tree)
    calls = [node for node in uses if isinstance(node, ast.Call)]
    problems = [*elsewhere, *_wrong_uses(path, uses, calls)]
    if not calls:
        return Registration(problems=tuple(problems))
    texts = [*_call_problems(calls[0], name), *_effect_problems(tree, calls[0])]
    problems += [Problem(path, calls[0].lineno, text) for text in texts]
    return Registration(
        line=calls[0].lineno, min_cases=_bronze_cases(calls[0]), problems=tuple(problems)
    )


def _wrong_uses(path: Path, uses: list[Use], calls: list[ast.Call]) -> Iterator[Problem]:
    for use in uses:
        if not isinstance(use, ast.Call):
            message = f"{FUNCTION} is renamed or handed on; expected one literal call of it"
            yield Problem(path, use.lineno, message)
    for call in calls[1:]:
        message = f"registers again, after line {calls[0].lineno}; expected one call in the file"
        yield Problem(path, call.lineno, message)
    if not uses:
        yield Problem(path, 1, f"registers nothing; expected one literal call of {FUNCTION}")


Use = ast.expr | ast.alias


def _uses(tree: ast.Module) -> list[Use]:
    """Return the calls of the decorator and whatever else names it, in the order of the source."""
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    uses = [
        calls.get(id(node), node)
        for node in ast.walk(tree)
        if isinstance(node, (ast.expr, ast.alias)) and _names_decorator(node)
    ]
    return sorted(uses, key=lambda node: (node.lineno, node.col_offset))


def _names_decorator(node: Use) -> bool:
    """Whether a node is the decorator. A renamed one counts as a wrong use, so no alias has to be followed."""
    if isinstance(node, ast.alias):  # a plain import is no use yet
        return node.name == FUNCTION and node.asname not in (None, FUNCTION)
    if isinstance(node, ast.Name):
        return node.id == FUNCTION
    return isinstance(node, ast.Attribute) and node.attr == FUNCTION


def _call_problems(call: ast.Call, name: str) -> Iterator[str]:
    found = call.args[0] if call.args else _keyword(call, "name")
    if not (isinstance(found, ast.Constant) and isinstance(found.value, str)):
        yield f"the name is no string literal; expected {name!r}, the folder's name"
    elif found.value != name:
        yield f"registers {found.value!r}; expected {name!r}, the folder's name"
    if any(keyword.arg is None for keyword in call.keywords):
        yield "** hides what is registered; expected every argument by its name"
    tiers = _keyword(call, "min_cases_for_promotion")
    if tiers is not None and (wrong := _tiers_problem(tiers)) is not None:
        known = ", ".join(MIN_CASES)
        yield f"min_cases_for_promotion {wrong}; expected a literal dict of {known} to numbers of cases"


def _effect_problems(tree: ast.Module, call: ast.Call) -> Iterator[str]:
    """Yield why a call would not be made when the module is imported, or would fail."""
    outer = [
        part
        for node in tree.body
        for part in (node.decorator_list if isinstance(node, ast.ClassDef) else [node])
        if isinstance(part, (ast.expr, ast.Expr, ast.Assign, ast.AnnAssign))
    ]
    if not any(inner is call for node in outer for inner in ast.walk(node)):
        yield "is inside a function or a condition; expected a call that runs whenever the module is imported"
    if len(call.args) > 1:
        yield "has more than one positional argument; expected the name, and the rest by keyword"
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg not in KEYWORDS:
            yield f"has the unknown argument {keyword.arg!r}; known: {', '.join(KEYWORDS)}"
    systems, default = _keyword(call, "systems"), _keyword(call, "default_system")
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


def _elsewhere(class_path: Path) -> Iterator[Problem]:
    """Find registrations in the other sources of a class; its tests may register what they like."""
    for path in _sources(class_path):
        try:
            if FUNCTION.encode() not in read_bytes(path, limit=MAX_SOURCE_BYTES):
                continue
            uses = _uses(parse_source(path))
        except RegistrationError as error:
            yield from located(error)
            continue
        except Unreadable:  # neither the rubric's nor the registration's, so it breaks nothing
            continue
        for use in uses:
            message = f"{FUNCTION} in another file; expected in registration.py only"
            yield Problem(path, use.lineno, message)


def _sources(class_path: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(class_path):
        here = Path(folder)
        top = here == class_path
        folders[:] = [
            name
            for name in folders
            if not (
                name.startswith((".", "__pycache__")) or (top and name in _NOT_CODE_OF_THE_CLASS)
            )
        ]
        for name in files:
            if name.endswith(".py") and not (top and name == "registration.py"):
                yield here / name
