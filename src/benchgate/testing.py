"""
Helpers for the tests and tools of a bench: its cases, and what it registers.

They need no pytest; each takes the folder of a class, ``bench/<class>``.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchgate.ids import trial_seed
from benchgate.loader.case_folder import case_folders, read_case
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import load_class
from benchgate.registry import TaskClassRegistry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.models import BenchCase


@contextmanager
def loaded_class(class_path: Path) -> Iterator[LoadedClass]:
    """Load a class; within the block its modules can be imported as ``_benchgate_bench.<slug>``."""
    with bench_package(class_path.parent):
        yield load_class(class_path.parent, class_path.name, TaskClassRegistry())


def load_cases(class_path: Path, bench_seed: int = 0) -> dict[str, BenchCase]:
    """
    Return the cases of a class by id, each as its first trial gets it.

    Imports no code of the class, so ``[facts]`` are not checked against its model; a run does that.
    """
    name = class_path.name
    found = {}
    for folder in case_folders(class_path):
        seed = trial_seed(name, folder.name, 0, bench_seed)
        case = read_case(folder, task_class=name)[0]
        found[folder.name] = case.model_copy(update={"seed": seed})
    return found
