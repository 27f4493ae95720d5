"""``case.toml``: what it may say, and where in the file it says it."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Mapping
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
from benchgate.wire.files import read_toml
from benchgate.wire.model import CaseId, Seconds, Sha256, WireModel

if TYPE_CHECKING:
    from pathlib import Path


NORECURSE_NAMES: Final = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv")
"""Folder names that pytest skips by default: a case of such a name would never be collected."""

Problem = tuple[int, str, str]
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


class KeyLines:
    """Finds the line of a key. TOML parsers give no positions, so this looks for its text."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def header(self, table: str) -> int:
        """Return the 1-based line of ``[table]``, or 1."""
        pattern = re.compile(rf"\s*\[\s*{re.escape(table)}\s*[\].]")
        return next((n for n, line in enumerate(self._lines, 1) if pattern.match(line)), 1)

    def key(self, location: tuple[Any, ...]) -> int:
        """Return the 1-based line of the key at a location, else the line of its table."""
        if not location:
            return 1
        start = self.header(str(location[0]))
        for part in location[1:]:
            pattern = re.compile(rf"\s*(\[.*)?[\"']?{re.escape(str(part))}[\"']?\s*[=\].]")
            found = (
                n for n, line in enumerate(self._lines[start - 1 :], start) if pattern.match(line)
            )
            start = next(found, start)
        return start


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


def line_of(error: BaseException | None) -> int:
    """Return the line that a parser stumbled over, or 1."""
    return int(getattr(error, "lineno", None) or 1)


def one_line(error: Exception) -> str:
    """Return what is wrong with a file that cannot be read, on one line."""
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    return " ".join(str(error).split())


def explain(
    error: ValidationError, model: type[BaseModel], lines: KeyLines, prefix: tuple[str, ...] = ()
) -> list[Problem]:
    """Turn a validation error of what a person wrote into located problems that name the nearest valid key."""
    problems = []
    for fault in error.errors(include_url=False):
        location = (*prefix, *fault["loc"])
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = f"unknown key{_suggestion(model, fault['loc'])}"
        elif fault["type"] == "missing":
            message = "missing"
        elif fault["type"] == "timezone_aware":
            message = f"{fault['input']}: needs its offset, such as Z"
        elif not isinstance(fault["input"], Mapping):
            message = f"{message}; found {fault['input']!r}"
        problems.append((lines.key(location), ".".join(map(str, location)), message))
    return problems


def _suggestion(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    known: type[BaseModel] | None = model
    for part in location[:-1]:
        field = known.model_fields.get(str(part)) if known else None
        inner = field.annotation if field else None
        known = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
    if known is None:
        return ""
    near = difflib.get_close_matches(str(location[-1]), known.model_fields, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known.model_fields)}"


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
