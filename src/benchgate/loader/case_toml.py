"""``case.toml``: what it may say, and where in the file it says it."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from datetime import date, time
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    model_validator,
)

from benchgate.errors import BenchCaseLoadError
from benchgate.models import Difficulty, Disposition, Source
from benchgate.wire.canonical import canonical_bytes
from benchgate.wire.model import CaseId, Seconds, Sha256, WireModel
from benchgate.wire.toml import KeyLines, Problem, explain, line_of, one_line, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


NORECURSE_NAMES: Final = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv")
"""Folder names that pytest skips by default: a case of such a name would never be collected."""

Words = Annotated[
    tuple[str, ...], BeforeValidator(lambda tags: tuple(tags) if isinstance(tags, list) else tags)
]


class CaseTable(WireModel):
    """The ``[case]`` table."""

    case_id: CaseId
    task_class: str
    disposition: Disposition
    difficulty: Difficulty
    source: Source
    commit_sha: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None = None
    added_at: AwareDatetime
    last_validated_at: AwareDatetime
    held_out: bool = False
    tags: Words = ()
    timeout_seconds: Seconds | None = None

    @model_validator(mode="after")
    def _origin_is_traceable(self) -> CaseTable:
        if self.source != "curated" and self.commit_sha is None:
            msg = f"commit_sha is required when source is {self.source!r}"
            raise ValueError(msg)
        return self


class CassetteTable(WireModel):
    """A ``[cassettes.<system>]`` table; the path is relative to the case's folder."""

    path: str
    sha256: Sha256


class ManifestTables(WireModel):
    """All of a ``case.toml``."""

    case: CaseTable
    facts: dict[str, Any] = Field(default_factory=dict)
    cassettes: dict[str, CassetteTable] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A valid ``case.toml`` with the text it was read from."""

    path: Path
    tables: ManifestTables
    lines: KeyLines


def read_manifest(path: Path, *, task_class: str, facts_model: type[BaseModel] | None) -> Manifest:
    """
    Read and check a ``case.toml``.

    :raises BenchCaseLoadError: with every problem found, each with its line.
    """
    if path.is_symlink():
        raise BenchCaseLoadError(path, [(1, "", "is a symlink; a case is all in its folder")])
    try:
        data, text = read_toml(path)
    except FileNotFoundError:
        raise BenchCaseLoadError(
            path, [(1, "", "missing; a case is a folder with a case.toml")]
        ) from None
    except (OSError, ValueError) as error:
        raise BenchCaseLoadError(path, [(line_of(error), "", one_line(error))]) from None
    return check_manifest(path, data, text, task_class=task_class, facts_model=facts_model)


def check_manifest(
    path: Path,
    data: Mapping[str, Any],
    text: str,
    *,
    task_class: str,
    facts_model: type[BaseModel] | None = None,
) -> Manifest:
    """
    Check the tables of a ``case.toml`` that stands at ``path``, or is going to.

    :raises BenchCaseLoadError: with every problem found, each with its line.
    """
    lines = KeyLines(text)
    try:
        tables = ManifestTables.model_validate(data)
    except ValidationError as error:
        problems = explain(error, ManifestTables, lines)
        raise BenchCaseLoadError(path, sorted(problems)) from None
    problems = [
        *_identity_problems(path, tables, task_class, lines),
        *_facts_problems(tables, facts_model, lines),
    ]
    if problems:
        raise BenchCaseLoadError(path, sorted(problems))
    return Manifest(path, tables, lines)


def _identity_problems(
    path: Path, tables: ManifestTables, task_class: str, lines: KeyLines
) -> list[Problem]:
    case = tables.case
    problems = []
    if case.case_id != path.parent.name:
        problems.append(
            ("case_id", f"{case.case_id!r} differs from its folder {path.parent.name!r}")
        )
    if re.search(r"-t\d+$", case.case_id):
        problems.append(("case_id", f"{case.case_id!r} ends like the id of a trial: -t<digits>"))
    if any(fnmatch.fnmatch(case.case_id, pattern) for pattern in NORECURSE_NAMES):
        problems.append(("case_id", f"{case.case_id!r} is a folder name that pytest skips"))
    if case.task_class != task_class:
        problems.append(
            ("task_class", f"{case.task_class!r} differs from its class {task_class!r}")
        )
    return [(lines.key(("case", key)), f"case.{key}", message) for key, message in problems]


def _facts_problems(
    tables: ManifestTables, facts_model: type[BaseModel] | None, lines: KeyLines
) -> list[Problem]:
    for key, value in tables.facts.items():
        try:
            canonical_bytes(value)
        except (ValueError, TypeError) as error:
            hint = " (write it as a string)" if isinstance(value, (date, time)) else ""
            return [(lines.key(("facts", key)), f"facts.{key}", f"not plain JSON: {error}{hint}")]
    if facts_model is not None:
        try:
            facts_model.model_validate(tables.facts)
        except ValidationError as error:
            return explain(error, facts_model, lines, ("facts",))
        except Exception as error:  # a validator of the class's own
            message = f"{facts_model.__qualname__} failed: {type(error).__name__}: {error}"
            return [(lines.header("facts"), "facts", message)]
    return []
