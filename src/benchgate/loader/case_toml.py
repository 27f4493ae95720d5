"""The tables of ``case.toml`` and the checks on them; every fault comes with its line."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from datetime import date, time
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, Field, ValidationError

from benchgate.errors import BenchCaseLoadError
from benchgate.models.case import CaseTable
from benchgate.wire.canonical import canonical_bytes
from benchgate.wire.model import Sha256, WireModel
from benchgate.wire.plain import MAX_OUTPUT_DEPTH, plain_json
from benchgate.wire.toml import KeyLines, check_tables, faults_of, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.errors import Fault


NORECURSE_NAMES: Final = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv")
"""Folder names that pytest skips by default: a case of such a name would never be collected."""

_SKIPPED: Final = re.compile("|".join(map(fnmatch.translate, NORECURSE_NAMES)))


class FileTable(WireModel):
    """A file or a folder of a case, by a path within a folder: in ``[cassettes.<system>]`` that of the case."""

    path: str
    sha256: Sha256


class CaseTables(WireModel):
    """All of a ``case.toml``."""

    case: CaseTable
    facts: dict[str, Any] = Field(default_factory=dict)
    cassettes: dict[str, FileTable] = Field(default_factory=dict)


def read_case_toml(
    path: Path,
    task_class: str,
    facts_model: type[BaseModel] | None = None,
    data: bytes | None = None,
) -> tuple[CaseTables, KeyLines]:
    """
    Read and check a ``case.toml``; return it with the lines of its keys.

    :param data: its bytes, if they were read before.
    :raises BenchCaseLoadError: with every fault and its line.
    """
    try:
        is_link = stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        raise BenchCaseLoadError(
            path, "missing; a case is a folder with a case.toml", line=1
        ) from None
    if is_link:
        raise BenchCaseLoadError(
            path, "is a symlink; a case must have its files in its own folder", line=1
        )
    tables, lines = read_toml(path, BenchCaseLoadError, data=data)
    checked = check_case_toml(path, tables, lines, task_class=task_class, facts_model=facts_model)
    return checked, lines


def check_case_toml(
    path: Path,
    tables: Mapping[str, Any],
    lines: KeyLines,
    *,
    task_class: str,
    facts_model: type[BaseModel] | None = None,
) -> CaseTables:
    """
    Check the tables of a ``case.toml``, also before it is written.

    :param path: where the file is or will be: the case's id must be the name of its folder.

    :raises BenchCaseLoadError: with every fault and its line.
    """
    found = check_tables(path, tables, lines, CaseTables, BenchCaseLoadError)
    faults = [
        *_identity_faults(path, found, task_class, lines),
        *_facts_faults(found, facts_model, lines),
    ]
    if faults:
        raise BenchCaseLoadError(path, sorted(faults))
    return found


def id_faults(case_id: str) -> Iterator[str]:
    """Yield why no case may have an id of the right form."""
    if re.search(r"-t\d+$", case_id):
        yield f"{case_id!r} ends like the id of a trial: -t<digits>"
    if case_id.endswith("-baseline"):
        yield f"{case_id!r} ends like the item of a baseline: -baseline"
    if _SKIPPED.match(case_id):
        yield f"{case_id!r} is a folder name that pytest skips"


def _identity_faults(
    path: Path, tables: CaseTables, task_class: str, lines: KeyLines
) -> list[Fault]:
    case = tables.case
    faults = []
    if case.case_id != path.parent.name:
        faults.append(("case_id", f"{case.case_id!r} differs from its folder {path.parent.name!r}"))
    faults += [("case_id", fault) for fault in id_faults(case.case_id)]
    if case.task_class != task_class:
        faults.append(("task_class", f"{case.task_class!r} differs from its class {task_class!r}"))
    return [(lines.key("case", key), f"case.{key}", message) for key, message in faults]


def _facts_faults(
    tables: CaseTables, facts_model: type[BaseModel] | None, lines: KeyLines
) -> list[Fault]:
    for key, value in tables.facts.items():
        try:
            canonical_bytes(plain_json(value, f"facts.{key}", max_depth=MAX_OUTPUT_DEPTH))
        except (ValueError, TypeError) as error:
            hint = " (write it as a string)" if isinstance(value, (date, time)) else ""
            return [(lines.key("facts", key), f"facts.{key}", f"not plain JSON: {error}{hint}")]
    if facts_model is not None:
        try:
            facts_model.model_validate(tables.facts)
        except ValidationError as error:
            return faults_of(error, facts_model, lines, ("facts",))
        except Exception as error:  # a validator of the class's own
            message = f"{facts_model.__qualname__} failed: {type(error).__name__}: {error}"
            return [(lines.key("facts"), "facts", message)]
    return []
