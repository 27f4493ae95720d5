"""The failure modes of a class: failure_modes.toml, read and checked."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pydantic import Field, ValidationError

from benchgate.errors import RegistrationError
from benchgate.taxonomy import RAISABLE, RESERVED, Severity, Taxonomy
from benchgate.wire.model import WireModel
from benchgate.wire.toml import read_toml

if TYPE_CHECKING:
    from pathlib import Path


FILE_NAME: Final = "failure_modes.toml"


class FailureModeTable(WireModel):
    """One ``[failure_modes.<code>]`` table."""

    severity: Severity
    description: str


class TaxonomyFile(WireModel):
    """All of a ``failure_modes.toml``."""

    failure_modes: dict[str, FailureModeTable] = Field(default_factory=dict)


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
