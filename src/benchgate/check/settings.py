"""Checks the TOML files of a class: ``failure_modes.toml`` and ``gate.toml``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.check.problem import Problem, located
from benchgate.errors import LocatedError
from benchgate.gates.policy import load_policy
from benchgate.loader.failure_modes import load_taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def setting_problems(class_path: Path) -> Iterator[Problem]:
    """Yield what is wrong with the failure modes and the thresholds of a class, where it has the files."""
    loaders: tuple[Callable[[Path], object], ...] = (load_taxonomy, load_policy)
    for load in loaders:
        try:
            load(class_path)
        except LocatedError as error:
            yield from located(error)
