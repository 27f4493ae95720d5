"""
Helpers for the tests and tools of a bench: its cases, its systems side by side, and the figures in its README.

With them a test can prove that the README still shows what a run gives. They need no pytest; each takes the folder
of a class, ``bench/<class>``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate import wording
from benchgate.errors import EvalError
from benchgate.gates.baseline import FILE_NAME, read_baseline
from benchgate.ids import trial_seed
from benchgate.loader.case_folder import case_folders, load_case
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import load_class
from benchgate.registry import TaskClassRegistry
from benchgate.runner.run import RunSettings, run_class, run_eval
from benchgate.wording.block import block
from benchgate.wording.lines import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.loader.loaded_class import LoadedClass
    from benchgate.models import BenchCase, BenchRunReport, TrialResult
    from benchgate.runner.class_run import ClassRun

Cell = Callable[[Sequence["TrialResult"]], str]
"""Text for what a system scored on a set of cases."""


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
        case = load_case(folder, task_class=name)
        found[folder.name] = case.model_copy(update={"seed": seed})
    return found


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    What the registered systems of a class scored.

    :param cases: the cases by id.
    :param results: by system, then by case id.
    """

    cases: Mapping[str, BenchCase]
    results: Mapping[str, Mapping[str, TrialResult]]

    def by_case(self, fact: str) -> Iterator[str]:
        """Yield a table with a row for each case: its id, one of its ``[facts]``, a cell for each system."""
        rows = {
            (f"{one}{' (held out)' * case.held_out}", str(case.facts[fact])): [one]
            for one, case in self.cases.items()
        }
        return self._table(("case", fact.replace("_", " ")), rows, _cell)

    def by_set(self, title: str, sets: Mapping[str, Sequence[str]], cell: Cell) -> Iterator[str]:
        """Yield a table with a row for each set of case ids: its name, its size, a cell for each system."""
        rows = {(name, str(len(ids))): ids for name, ids in sets.items()}
        return self._table((title, "cases"), rows, cell)

    def _table(
        self, head: tuple[str, str], rows: Mapping[tuple[str, str], Sequence[str]], cell: Cell
    ) -> Iterator[str]:
        return markdown_table(
            (*head, *self.results),
            (
                (*titles, *(cell([found[one] for one in ids]) for found in self.results.values()))
                for titles, ids in rows.items()
            ),
        )


def compare_systems(class_path: Path) -> Comparison:
    """Run every registered system of a class on every case."""
    with loaded_class(class_path) as bench:
        systems = sorted(bench.task_class.systems)
    results = {}
    for name in systems:
        report = run_eval(class_path.name, system_under_test=name, bench_root=class_path.parent)
        results[name] = {result.case_id: result for result in report.per_case}
    return Comparison(load_cases(class_path), results)


def markdown_table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


def _cell(results: Sequence[TrialResult]) -> str:
    (result,) = results
    if result.score is None:
        return result.outcome
    penalty = result.score.safety_penalty
    failed = "" if result.passed else " failed"
    return f"{result.score.score:.2f}{failed}{f', penalty {penalty:g}' if penalty else ''}"


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
    )
    return run_class(settings)


def gate_summary(run: ClassRun) -> str:
    """Return what a session prints of a run, without its trials: what changed, decision, figures and tier."""
    if run.judgement is None:
        raise EvalError("; ".join(run.problems))
    shown = laid_out(block(run.judgement, more="-v"), 80)
    lines = [*(text for text, _ in shown), "", *wording.summary(run.judgement)]
    if run.published is not None:
        lines += wording.tier(run.published.verdict, run.judgement.decision)
    return "\n".join(lines)


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
