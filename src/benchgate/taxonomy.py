"""Severities of failure codes: those in a class's ``failure_modes.toml``, and those reserved for the harness."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from benchgate.models import FailureMode
from benchgate.wire.canonical import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


Severity = Literal["block", "warn", "info"]

RESERVED: Final[Mapping[str, Severity]] = MappingProxyType(
    {
        "harness_error": "warn",
        "input_modified": "block",
        "invalid_rl_payload": "block",
        "rubric_error": "block",
        "timeout": "warn",
        "unknown_failure_mode": "block",
    }
)
"""Codes that only the harness may give, with their default severity."""

RAISABLE: Final = ("harness_error", "timeout")
"""Reserved codes whose severity a class may set."""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """
    Severity of each failure code; a rubric reports codes and has no say in how severe they are.

    :param meanings: what each code of the class means, for people.
    """

    severities: Mapping[str, Severity]
    meanings: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 over codes and severities; descriptions may change without changing it."""
        return digest(dict(self.severities))

    def blocks(self, modes: Iterable[FailureMode]) -> tuple[str, ...]:
        """Return the codes of severity ``block`` among some failures, sorted, each once."""
        return tuple(sorted({m.code for m in modes if self.severities.get(m.code) == "block"}))

    def classify(self, codes: Iterable[str]) -> tuple[FailureMode, ...]:
        """Return the failure modes for a rubric's codes; reserved and unknown codes become ``unknown_failure_mode``."""
        return tuple(map(self._mode_of, codes))

    def _mode_of(self, code: str) -> FailureMode:
        # A rubric that could give a reserved code would speak for the harness.
        if code in RESERVED or code not in self.severities:
            return FailureMode(code="unknown_failure_mode", detail=code)
        return FailureMode(code=code)
