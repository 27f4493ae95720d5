"""
Checks ``bench/<class>/`` against the contract of ``bench/README.md`` by reading it.

Nothing of a bench is imported or run here, so that a contribution can be checked before anybody trusts its code.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.check.cases import cassette_problems, read_cases
from benchgate.check.layout import bench_classes, layout_problems, name_problems
from benchgate.check.pinned import baseline_problems, is_pinned, pin_of
from benchgate.check.problem import Problem, located
from benchgate.check.registration import read_registration
from benchgate.check.rubric import rubric_problems
from benchgate.errors import LocatedError, TaskClassNotFound, counted
from benchgate.gates.labels import read_labels
from benchgate.gates.policy import load_policy
from benchgate.loader.failure_modes import load_taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchgate.check.registration import Registration

__all__ = ["ClassCheck", "Problem", "bench_classes", "check_class"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCheck:
    """
    What reading a class folder found.

    :param is_small: the registration asks for fewer cases than the default.
    :param is_by_hand: there is a baseline, and ``baseline.pin.json`` does not say who pinned this one.
    :param problems: sorted, without duplicates; empty if the class is valid.
    :param warnings: where a case may give its answer away; a class with some is valid all the same.
    """

    name: str
    case_count: int
    is_small: bool
    is_by_hand: bool
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check_class(bench_root: Path, name: str) -> ClassCheck:
    """
    Check one class folder; problems are data, not errors.

    :raises TaskClassNotFound: there is no such folder; the error lists those there are.
    :raises OSError: the folder itself cannot be read.
    """
    class_path = bench_root / name
    if name not in os.listdir(bench_root) or not class_path.is_dir():
        folders = bench_classes(bench_root)
        raise TaskClassNotFound(name, folders, class_path / "registration.py")
    registration = read_registration(class_path)
    digests, problems_of_cases, warnings = read_cases(class_path)
    problems = {
        *name_problems(class_path),
        *layout_problems(class_path),
        *registration.problems,
        *rubric_problems(class_path),
        *_setting_problems(class_path),
        *problems_of_cases,
        *_too_few(class_path, registration, len(digests)),
        *baseline_problems(class_path, digests),
        *cassette_problems(class_path, digests),
    }
    return ClassCheck(
        name=name,
        case_count=len(digests),
        is_small=registration.is_small,
        is_by_hand=is_pinned(class_path) and pin_of(class_path) is None,
        problems=tuple(sorted(problems)),
        warnings=tuple(sorted({*warnings})),
    )


def _setting_problems(class_path: Path) -> Iterator[Problem]:
    loaders: tuple[Callable[[Path], object], ...] = (load_taxonomy, load_policy, read_labels)
    for load in loaders:
        try:
            load(class_path)
        except LocatedError as error:
            yield from located(error)


def _too_few(class_path: Path, registration: Registration, count: int) -> Iterator[Problem]:
    if count < registration.min_cases:
        message = f"{counted(count, 'case')}; expected at least {registration.min_cases}"
        if not registration.is_small:
            message += ', or a small bench: min_cases_for_promotion={"bronze": N} in registration'
        yield Problem(class_path / "registration.py", registration.line, message)
