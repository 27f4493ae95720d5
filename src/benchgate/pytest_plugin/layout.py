"""Recognises case folders by their paths: cheap enough for every directory that pytest visits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.models import Side

BENCH: Final = "bench"
CASES: Final = "cases"
CASE_FILE: Final = "case.toml"
BASELINE: Final = "-baseline"
"""Follows the case id in the name of an item whose trial is of the baseline."""
DATA: Final = ("input", "expected", "cassettes")


def is_cases_folder(path: Path) -> bool:
    """Whether a path is ``bench/<class>/cases``, and not a folder of tests that happens to be called so."""
    if path.name != CASES or len(path.parts) < 3 or path.parts[-3] != BENCH:
        return False
    registration = path.parent / "registration.py"
    return os.path.exists(registration) or (
        os.path.isdir(path) and any(path.glob(f"*/{CASE_FILE}"))
    )


def is_case_file(path: Path) -> bool:
    """Whether a path is ``bench/<class>/cases/<id>/case.toml``."""
    return path.name == CASE_FILE and is_cases_folder(path.parent.parent)


def bench_root(path: Path) -> Path | None:
    """Return the innermost folder ``bench`` that is or contains a path, if there is a task class in it."""
    for folder in (path, *path.parents):
        if folder.name == BENCH and any(map(is_cases_folder, folder.glob(f"*/{CASES}"))):
            return folder
    return None


def case_of_data(path: Path) -> Path | None:
    """
    Return the case folder if pytest, given a path, would import data of a case.

    That is a path in ``input/`` and the like, and any path in a case folder with a stray ``conftest.py``.
    """
    chain = (path, *path.parents)
    for case in chain:
        if is_cases_folder(case.parent) and os.path.exists(case / "conftest.py"):
            return case
    for data, case in zip(chain, chain[1:], strict=False):
        if data.name in DATA and is_case_file(case / CASE_FILE):
            return case
    return None


def trial_key(case_file: Path, item_name: str) -> tuple[Side, tuple[str, int]]:
    """Return the side of an item, and its case id and trial number."""
    case_id = case_file.parent.name
    # Until pytest 9.2, --dist=loadgroup appends "@group" to ids.
    suffix = item_name.removeprefix(case_id).partition("@")[0]
    side: Side = "baseline" if suffix.startswith(BASELINE) else "candidate"
    suffix = suffix.removeprefix(BASELINE)
    return side, (case_id, int(suffix.removeprefix("-t")) if suffix else 0)
