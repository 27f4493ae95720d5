"""What READMEs of the shipped benches say of the gate and the baseline; the tests of the benches measure it again."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

from benchgate.errors import EvalError
from benchgate.gates.baseline import FILE_NAME, read_baseline
from benchgate.gates.policy import load_run_table
from benchgate.runner.run import run_class, run_eval
from benchgate.runner.settings import RunSettings
from benchgate.wording.block import Door, block
from benchgate.wording.lines import laid_out

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.models import BenchRunReport
    from benchgate.runner.class_run import ClassRun


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
    """Return the result of a run as a README shows it: the lines of a session without its files, indented."""
    if run.judgement is None:
        raise EvalError("; ".join(run.problems))
    shown = laid_out(block(run.judgement, Door(prefix="--bench-", more="-v")), 80)
    return indent("\n".join(text for text, _ in shown), "    ")


def repeat_baseline(class_path: Path) -> tuple[BenchRunReport, BenchRunReport]:
    """Return the pinned report of a class and that of the same system now; their ``run_id`` should be equal."""
    pinned = read_baseline(class_path / FILE_NAME)
    if pinned.report is None:
        raise EvalError("; ".join(pinned.problems))
    system = pinned.report.system
    again = run_eval(class_path.name, system_under_test=system, bench_root=class_path.parent)
    return pinned.report, again
