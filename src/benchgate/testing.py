"""
Helpers for the tests and tools of a bench: its cases, its gate, its pinned baseline.

They need no pytest; each takes the folder of a class, ``bench/<class>``.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchgate.errors import EvalError
from benchgate.gates.baseline import FILE_NAME, read_baseline
from benchgate.gates.policy import load_run_table
from benchgate.ids import trial_seed
from benchgate.loader.case_folder import case_folders, read_case
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import load_class
from benchgate.registry import TaskClassRegistry
from benchgate.runner.run import run_class, run_eval
from benchgate.runner.settings import RunSettings
from benchgate.wording.block import Door, block
from benchgate.wording.lines import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.models import BenchCase, BenchRunReport
    from benchgate.runner.class_run import ClassRun


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


def gated_run(class_path: Path, system: str, out: Path | None = None) -> ClassRun:
    """
    Run a system and decide on it against the class's baseline, as ``pytest --bench`` does.

    :param out: where to write the artifacts; the tier is only evaluated with it.
    """
    settings = RunSettings(
        task_class=class_path.name,
        system=system,
        out=out,
        bench_root=class_path.parent,
        baseline="auto",
        isolation=load_run_table(class_path).isolation or "none",
    )
    return run_class(settings)


def gate_summary(run: ClassRun) -> str:
    """Return the result of a run as a session prints it, without its files."""
    if run.judgement is None:
        raise EvalError("; ".join(run.problems))
    shown = laid_out(block(run.judgement, Door(prefix="--bench-", more="-v")), 80)
    return "\n".join(text for text, _ in shown)


def repeat_baseline(class_path: Path) -> tuple[BenchRunReport, BenchRunReport]:
    """
    Return the pinned report of a class and that of the same system now; their ``run_id`` should be equal.

    :raises EvalError: there is no readable ``baseline.json``.
    """
    path = class_path / FILE_NAME
    pinned = read_baseline(path)
    if pinned.report is None:
        raise EvalError(f"{path}: {'; '.join(pinned.problems)}")
    system = pinned.report.system
    return pinned.report, run_eval(
        class_path.name, system_under_test=system, bench_root=class_path.parent
    )
