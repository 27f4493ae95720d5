"""What is wrong with a bench, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """
    One thing that the contract of a bench does not allow.

    :param line: 1-based; 1 where there is none.
    :param message: what is wrong, and what was expected.
    """

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        # Names of files may hold anything; a problem is one line that can be printed.
        text = f"{self.path}:{self.line}: {' '.join(self.message.split())}"
        return text.encode(errors="backslashreplace").decode().replace("\n", "\\n")


def located(path: Path, problems: Iterable[tuple[int, str, str]]) -> Iterator[Problem]:
    """Yield the ``(line, key, message)`` problems of a TOML file."""
    for line, key, message in problems:
        yield Problem(path, line, f"{key}: {message}" if key else message)
