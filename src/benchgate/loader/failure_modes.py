"""Reads and checks the failure modes of a class: ``failure_modes.toml``."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pydantic import Field

from benchgate.errors import RegistrationError
from benchgate.taxonomy import RAISABLE, RESERVED, Severity, Taxonomy
from benchgate.wire.model import WireModel, banned_token
from benchgate.wire.toml import check_tables, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


FILE_NAME: Final = "failure_modes.toml"


class FailureModeTable(WireModel):
    """One ``[failure_modes.<code>]`` table."""

    severity: Severity
    description: str


class TaxonomyFile(WireModel):
    """All of a ``failure_modes.toml``."""

    failure_modes: dict[str, FailureModeTable] = Field(default_factory=dict)


def load_taxonomy(class_path: Path) -> Taxonomy:
    """
    Read a class's ``failure_modes.toml``; a class without one has the harness's codes only.

    :raises RegistrationError: with every fault of the file.
    """
    path = class_path / FILE_NAME
    if not os.path.lexists(path):
        return Taxonomy(RESERVED)
    tables, lines = read_toml(path, RegistrationError)
    codes = check_tables(path, tables, lines, TaxonomyFile, RegistrationError).failure_modes
    faults = [
        (lines.key("failure_modes", code), f"failure_modes.{code}", message)
        for code, table in codes.items()
        for message in _code_faults(code, table)
    ]
    if faults:
        raise RegistrationError(path, sorted(faults))
    merged = {**RESERVED, **{code: table.severity for code, table in codes.items()}}
    meanings = {code: table.description for code, table in codes.items()}
    return Taxonomy(MappingProxyType(merged), MappingProxyType(meanings))


def _code_faults(code: str, table: FailureModeTable) -> Iterator[str]:
    if code in RESERVED and (code not in RAISABLE or table.severity == "info"):
        raisable = " and ".join(RAISABLE)
        yield f"reserved for the harness; only {raisable} may be raised to warn or block"
    token = banned_token(code)
    if token is not None:
        yield f"contains the banned token {token!r}; expected what went wrong, not a self-assessment"
