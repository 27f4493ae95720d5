"""Failure modes and their severities: ``failure_modes.toml`` of a class, and the harness's own."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field, ValidationError

from benchgate.errors import RegistrationError
from benchgate.models import FailureMode
from benchgate.wire.canonical import digest
from benchgate.wire.files import read_toml
from benchgate.wire.model import WireModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Severity = Literal["block", "warn", "info"]

FILE_NAME: Final = "failure_modes.toml"
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
RAISABLE: Final = ("harness_error", "timeout")
"""Reserved codes whose severity a class may set."""


class FailureModeTable(WireModel):
    """One ``[failure_modes.<code>]`` table."""

    severity: Severity
    description: str


class TaxonomyFile(WireModel):
    """All of a ``failure_modes.toml``."""

    failure_modes: dict[str, FailureModeTable] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Severity of each code; the taxonomy decides it, never the rubric."""

    severities: Mapping[str, Severity]

    @property
    def digest(self) -> str:
        """SHA-256 over codes and severities; descriptions may change freely."""
        return digest(dict(self.severities))

    def blocks(self, modes: Iterable[FailureMode]) -> tuple[str, ...]:
        """Return the codes of severity ``block`` among some failures, sorted, each once."""
        return tuple(sorted({m.code for m in modes if self.severities.get(m.code) == "block"}))

    def classify(self, codes: Iterable[str]) -> tuple[FailureMode, ...]:
        """Return what a rubric's codes stand for; reserved and unknown ones are ``unknown_failure_mode``."""
        return tuple(
            FailureMode(code=code)
            if code in self.severities and code not in RESERVED
            else FailureMode(code="unknown_failure_mode", detail=code)
            for code in codes
        )


def redefines_reserved(code: str, table: FailureModeTable) -> bool:
    """Return whether a class claims a code of the harness; it may only raise two of them."""
    return code in RESERVED and (code not in RAISABLE or table.severity == "info")


def load_taxonomy(class_path: Path) -> Taxonomy:
    """
    Read a class's ``failure_modes.toml``; a class without one has the harness's codes only.

    :raises RegistrationError: the file is malformed or redefines a reserved code.
    """
    path = class_path / FILE_NAME
    try:
        tables = TaxonomyFile.model_validate(read_toml(path)[0]).failure_modes
    except FileNotFoundError:
        return Taxonomy(RESERVED)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        unknown = fault["type"] == "extra_forbidden"
        message = "unknown key; known: severity, description" if unknown else fault["msg"]
        raise RegistrationError(path, f"{where}: {message}") from None
    except (OSError, ValueError) as error:
        raise RegistrationError(path, str(error)) from None
    for code, table in tables.items():
        if redefines_reserved(code, table):
            raise RegistrationError(path, f"failure_modes.{code}: reserved for the harness")
    merged = {**RESERVED, **{code: table.severity for code, table in tables.items()}}
    return Taxonomy(MappingProxyType(merged))
