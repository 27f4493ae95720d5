"""Reads what a ``registration.py`` says from its source, without running it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import RegistrationError
from benchgate.loader.rubric_source import parse_source
from benchgate.registry import SystemEntry

if TYPE_CHECKING:
    from pathlib import Path

FUNCTION: Final = "register_task_class"


def registration_call(class_path: Path) -> ast.Call:
    """
    Return the call that decorates the one class that a registration registers.

    :raises RegistrationError: it is missing, no Python, or registers none or several.
    """
    path = class_path / "registration.py"
    calls = [
        call
        for node in parse_source(path).body
        if isinstance(node, ast.ClassDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call)
        and FUNCTION in (getattr(call.func, "attr", None), getattr(call.func, "id", None))
    ]
    if len(calls) != 1:
        one = f"expected one class with @{FUNCTION}({class_path.name!r}, ...) on it"
        line = calls[1].lineno if calls else 1
        raise RegistrationError(path, f"registers {len(calls) or 'nothing'}; {one}", line=line)
    return calls[0]


def registered_system(class_path: Path, name: str) -> SystemEntry:
    """
    Return what a registration says of a system.

    :raises RegistrationError: it has no such system, or the source does not say literally what it is granted.
    """
    path = class_path / "registration.py"
    call = registration_call(class_path)
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    systems = arguments.get("systems")
    if isinstance(systems, ast.Dict):
        for key, value in zip(systems.keys, systems.values, strict=True):
            if literal(key) == name:
                try:
                    if literal(value) is ...:
                        raise ValueError("part of it is computed")  # noqa: TRY301 - as other faults
                    return SystemEntry.of(literal(value))
                except ValueError as error:
                    why = f"system {name!r} is not written as a text or a dict of literals: {error}"
                    raise RegistrationError(path, why, line=value.lineno) from error
    raise RegistrationError(path, f"does not say what system {name!r} is", line=call.lineno)


def literal(node: ast.expr | None) -> Any:
    """Return the value of a literal, ``None`` for nothing, and ``...`` for what is no literal."""
    try:
        if node is None:
            return None
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ...
