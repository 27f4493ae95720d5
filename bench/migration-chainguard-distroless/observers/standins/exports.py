"""Names that projects import from packages of npm: node refuses a module that does not say that it has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SOURCES: Final = {".cjs", ".cts", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx"}
_NAMED: Final = re.compile(
    r"""(?:import|export)\s(?:[^"'`;]*?[\s,])?\{([^}]*)\}\s*from\s*["']([^"'.:][^"':]*)["']"""
)
_WHOLE: Final = re.compile(r"""import\s+\*\s+as\s+(\w+)\s+from\s*["']([^"'.:][^"':]*)["']""")


def imported_names(folders: Iterable[Path]) -> dict[str, str]:
    """Return what the sources of projects import by name, by the package, the names in a text."""
    found: dict[str, set[str]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SOURCES and path.is_file():
                for package, names in _of_text(path.read_text("utf-8", errors="replace")):
                    found.setdefault(package, set()).update(names)
    return {package: " ".join(sorted(names)) for package, names in sorted(found.items()) if names}


def _of_text(text: str) -> Iterable[tuple[str, set[str]]]:
    for listed, module in _NAMED.findall(text):
        parts = (one.strip().removeprefix("type ").split() for one in listed.split(","))
        yield _package(module), {words[0] for words in parts if words} - {"default"}
    for name, module in _WHOLE.findall(text):
        yield _package(module), {*re.findall(rf"\b{name}\.(\w+)", text)} - {"default"}


def _package(module: str) -> str:
    """Return the package that a module is of: ``@a/b`` of ``@a/b/c``."""
    return "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
