"""JSON values that nobody can change, at any depth."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

LEAVES: Final = frozenset({str, int, float, bool, type(None)})
"""What most values are, by type: to ask whether something is a mapping takes long."""


EMPTY: Final = MappingProxyType[str, Any]({})
"""One for all: most mappings of a case and of a score are empty."""


def freeze_json(value: Any) -> Any:
    """Return a read-only copy of a JSON value, at every depth: mappings as proxies, arrays as tuples."""
    if type(value) in LEAVES:
        return value
    if not value and type(value) in (dict, MappingProxyType):
        return EMPTY
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze_json(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple(freeze_json(item) for item in value)
    return value


def thaw_json(value: Any) -> Any:
    """Undo :func:`freeze_json`: return dicts and lists."""
    if isinstance(value, Mapping):
        return {key: thaw_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw_json(item) for item in value]
    return value


def exact_float(number: float) -> float:
    """Return it as the builtin type; ``float`` itself takes long to inspect, and pydantic does so in each model."""
    return float(number)


@cache
def shared(names: frozenset[str]) -> set[str]:
    """Return the same set for equal names; nobody may change it."""
    return set(names)
