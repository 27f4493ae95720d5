"""Control systems that change nothing: a system that scores no better has done nothing either."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .sources import sources_digest
from .workspace import unchanged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase


class DoNothing:
    """Returns the files unchanged and says so."""

    name: Final = "do-nothing"

    def digest(self) -> str:
        """Return the SHA-256 over this module."""
        return sources_digest(Path(__file__).name)

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Return the project of the case."""
        return unchanged(case.input_path, "unchanged")


class ClaimsSuccess:
    """Returns the files unchanged and claims that they were fixed."""

    name: Final = "claims-success"

    def digest(self) -> str:
        """Return the SHA-256 over this module."""
        return sources_digest(Path(__file__).name)

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Return the project of the case, with every claim that a rubric might wrongly believe."""
        boast = "All vulnerabilities were removed, the lock is consistent and all tests pass."
        return {
            **unchanged(case.input_path, "fixed"),
            "summary": boast,
            "passed": True,
            "score": 1.0,
            "vulnerabilities": 0,
        }
