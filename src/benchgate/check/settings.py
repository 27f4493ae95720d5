"""The TOML files of a class: ``failure_modes.toml`` and ``gate.toml``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from benchgate.check.problem import Problem, located
from benchgate.errors import PolicyError
from benchgate.gates import policy
from benchgate.loader import failure_modes
from benchgate.taxonomy import RAISABLE
from benchgate.wire.model import banned_token
from benchgate.wire.toml import KeyLines, explain, line_of, one_line, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def taxonomy_problems(class_path: Path) -> Iterator[Problem]:
    """Yield what is wrong with the failure modes of a class, if it has the file."""
    path = class_path / failure_modes.FILE_NAME
    read = _read(path)
    if not isinstance(read, Tables):
        yield from read
        return
    data, lines = read
    try:
        tables = failure_modes.TaxonomyFile.model_validate(data).failure_modes
    except ValidationError as error:
        yield from located(path, explain(error, failure_modes.TaxonomyFile, lines))
        return
    for code, table in tables.items():
        for message in _code_problems(code, table):
            line = lines.key(("failure_modes", code))
            yield from located(path, [(line, f"failure_modes.{code}", message)])


def _code_problems(code: str, table: failure_modes.FailureModeTable) -> Iterator[str]:
    if failure_modes.redefines_reserved(code, table):
        raisable = " and ".join(RAISABLE)
        yield f"reserved for the harness; only {raisable} may be raised to warn or block"
    if token := banned_token(code):
        yield f"holds the banned token {token!r}; expected what went wrong, not a self-assessment"


def policy_problems(class_path: Path) -> Iterator[Problem]:
    """Yield what is wrong with the thresholds of a class, if it sets some."""
    path = class_path / policy.FILE_NAME
    read = _read(path)
    if not isinstance(read, Tables):
        yield from read
        return
    data, lines = read
    try:
        policy.make_policy(data, str(path))
    except PolicyError as error:
        # A key of the file, not of a table in it.
        line = lines.key(("", error.key.partition(".")[0]))
        yield Problem(path, line, str(error).removeprefix(f"{error.source}: "))


class Tables(NamedTuple):
    """What a TOML file holds, and where."""

    data: dict[str, Any]
    lines: KeyLines


def _read(path: Path) -> Tables | tuple[Problem, ...]:
    """Return the tables of a file, else what is wrong with it: nothing, if it is not there."""
    if not os.path.lexists(path):
        return ()
    try:
        data, text = read_toml(path)
    except (OSError, ValueError) as error:
        return (Problem(path, line_of(error), one_line(error)),)
    return Tables(data, KeyLines(text))
