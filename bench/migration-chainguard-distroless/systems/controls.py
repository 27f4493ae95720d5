"""Control systems that change nothing: a system that scores no better has done nothing either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .workspace import System

if TYPE_CHECKING:
    from benchgate import BenchCase


class DoNothing(System):
    """Returns the Dockerfile unchanged."""

    name = "do-nothing"


class ClaimsSuccess(System):
    """Returns the Dockerfile unchanged, with every claim that a rubric might wrongly believe."""

    name = "claims-success"

    def __call__(self, case: BenchCase) -> dict[str, Any]:
        """Return the Dockerfile of the case, and the claims."""
        return {
            **super().__call__(case),
            "summary": "The image is distroless, runs as nonroot and was built and tested.",
            "passed": True,
            "score": 1.0,
            "final_image": "cgr.dev/chainguard/static:latest",
        }
