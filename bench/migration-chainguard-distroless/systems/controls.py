"""Control systems that change nothing: a system that scores no better has done nothing either."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .sources import sources_digest
from .workspace import Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase


class DoNothing:
    """Returns the Dockerfile unchanged."""

    name: Final = "do-nothing"

    def digest(self) -> str:
        """Return the SHA-256 over this module."""
        return sources_digest(Path(__file__).name)

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Return the Dockerfile of the case."""
        return Task.read(case.input_path).unchanged()


class ClaimsSuccess:
    """Returns the Dockerfile unchanged and claims that it was migrated."""

    name: Final = "claims-success"

    def digest(self) -> str:
        """Return the SHA-256 over this module."""
        return sources_digest(Path(__file__).name)

    def __call__(self, case: BenchCase) -> Mapping[str, Any]:
        """Return the Dockerfile of the case, with every claim that a rubric might wrongly believe."""
        return {
            **Task.read(case.input_path).unchanged(),
            "summary": "The image is distroless, runs as nonroot and was built and tested.",
            "passed": True,
            "score": 1.0,
            "final_image": "cgr.dev/chainguard/static:latest",
        }
