"""Writes ``package.json`` and ``package-lock.json`` in npm's layout."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

_FIRST: Final = (
    "name",
    "version",
    "lockfileVersion",
    "resolved",
    "integrity",
    "requires",
    "packages",
    "dependencies",
)
_DEPENDENCY_TABLES: Final = (
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
)
# The order in which the Unicode collation that npm sorts by puts the signs that occur in package names.
_SIGNS: Final = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"


@lru_cache(maxsize=100_000)
def collation_key(text: str) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Return a key that sorts names as npm does: signs, digits, letters; lower case first."""
    ranks = []
    for char in text.lower():
        at = _SIGNS.find(char)
        ranks.append(at if at >= 0 else 100 + ord(char))
    return tuple(ranks), tuple(char.isupper() for char in text)


def _sorted(value: Any) -> Any:
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    if not isinstance(value, Mapping):
        return value

    def order(item: tuple[str, Any]) -> tuple[Any, ...]:
        key, held = item
        first = _FIRST.index(key) if key in _FIRST else len(_FIRST)
        return isinstance(held, Mapping), first, collation_key(key)

    return {key: _sorted(held) for key, held in sorted(value.items(), key=order)}


def lock_text(lock: Mapping[str, Any]) -> str:
    """Return a lock as npm writes it: two spaces, plain values before tables, newline at the end."""
    return json.dumps(_sorted(lock), indent=2, ensure_ascii=False) + "\n"


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as npm writes it: keys stay in place, dependency tables are sorted."""
    laid_out = {
        key: dict(sorted(held.items(), key=lambda item: collation_key(item[0])))
        if key in _DEPENDENCY_TABLES
        else held
        for key, held in manifest.items()
    }
    return json.dumps(laid_out, indent=2, ensure_ascii=False) + "\n"
