"""
Run every system of a bench and print its tables: what each scores by set and by case, and what the gate decides.

    python bench/tables.py [--write] [CLASS...]

Without CLASS it does so for every bench here. ``--write`` also puts the tables into ``details/tables.md`` of the
class. The command exits with 1 if a trial has no score, or if no case tells the systems apart on an axis.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.errors import EvalError
from benchgate.gates.baseline import read_baseline
from benchgate.gates.choice import FILE_NAME
from benchgate.gates.policy import load_run_table
from benchgate.loader.task_class import class_folders
from benchgate.runner.run import run_class
from benchgate.runner.settings import RunSettings
from benchgate.testing import load_cases, loaded_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate import BenchCase
    from benchgate.gates.judge import Judgement
    from benchgate.models import TrialResult

    Runs = Mapping[str, Judgement]
    """By system: its run, judged against the pinned baseline."""

    Results = Mapping[str, Mapping[str, TrialResult]]
    """By system and case."""

BENCH: Final = Path(__file__).resolve().parent
WRITE: Final = "--write"
TABLES: Final = Path("details", "tables.md")
CONTROLS: Final = ("do-nothing", "claims-success")
"""Systems that do nothing; they stand before the others."""

FEWEST: Final = 3
"""Cases that a tag needs to get a row of its own."""

_BLOCKED: Final = "checkpoint_promotion_blocked_"


def main(arguments: Sequence[str]) -> int:
    """Print the tables of the classes that are named, or of all."""
    names = [argument for argument in arguments if argument != WRITE]
    folders = [BENCH / name for name in names] or list(class_folders(BENCH).values())
    is_good = True
    for class_path in folders:
        text, holds = tables(class_path)
        sys.stdout.write(text)
        is_good = is_good and holds
        if WRITE in arguments:
            there = class_path / TABLES
            there.parent.mkdir(exist_ok=True)
            there.write_text(text, encoding="utf-8")
    return 0 if is_good else 1


def tables(class_path: Path) -> tuple[str, bool]:
    """Return the tables of a class, and whether every trial has a score and every axis tells systems apart."""
    runs = _runs(class_path)
    results = {
        name: {one.case_id: one for one in judged.report.per_case} for name, judged in runs.items()
    }
    cases = load_cases(class_path)
    axes = _axes(results, cases)
    still = [axis for axis, (_, _, movers) in axes.items() if movers == 0]
    unscored = [case_id for case_id in cases if _has_no_score(results, case_id)]
    lines = [
        f"# What the systems of {class_path.name} score",
        "",
        f"`python bench/tables.py {WRITE} {class_path.name}` writes this file; a test compares it.",
        "",
        "## By set",
        "",
        "In each cell: the mean score, how many cases pass, and the mean harm.",
        "",
        *_set_table(results, cases),
        "",
        *_gate(class_path, runs),
        "## By case",
        "",
        *_case_table(results, cases),
        "",
        "## By axis",
        "",
        "A case moves an axis if not all systems have the same value on it.",
        "",
        *_axis_table(axes),
        "",
        f"Axes that no case moves: {_listed(still)}. Cases without a score: {_listed(unscored)}.",
        "",
    ]
    return "\n".join(lines), not still and not unscored


def _runs(class_path: Path) -> Runs:
    """Run every system of a class, the controls first."""
    with loaded_class(class_path) as bench:
        names = sorted(bench.task_class.systems, key=lambda name: (name not in CONTROLS, name))
    return {name: judged(class_path, name) for name in names}


def judged(class_path: Path, system: str) -> Judgement:
    """Run a system and judge it against the class's baseline, as ``pytest --bench`` does."""
    settings = RunSettings(
        task_class=class_path.name,
        system=system,
        out=None,
        bench_root=class_path.parent,
        baseline="auto",
        isolation=load_run_table(class_path).options.get("isolation", "none"),
    )
    run = run_class(settings)
    if run.judgement is None:
        raise EvalError("; ".join(run.problems))
    return run.judgement


def _sets(cases: Iterable[BenchCase]) -> dict[str, list[str]]:
    """Return the ids of the cases by tag, by the day they were added, of those held out, and of all."""
    by_tag: dict[str, list[str]] = defaultdict(list)
    by_day: dict[str, list[str]] = defaultdict(list)
    held_out = []
    every = []
    for case in cases:
        every.append(case.case_id)
        by_day[f"added {case.added_at:%Y-%m-%d}"].append(case.case_id)
        if case.held_out:
            held_out.append(case.case_id)
        for tag in case.tags:
            by_tag[tag].append(case.case_id)
    tagged = {tag: ids for tag, ids in sorted(by_tag.items()) if len(ids) >= FEWEST}
    found = {**tagged, **dict(sorted(by_day.items())), "held out": held_out}
    parts = {title: ids for title, ids in found.items() if 0 < len(ids) < len(every)}
    return {**parts, "all": every}


def _set_table(results: Results, cases: Mapping[str, BenchCase]) -> Iterator[str]:
    rows = []
    for title, ids in _sets(cases.values()).items():
        cells = [_summary([by_case[one] for one in ids]) for by_case in results.values()]
        rows.append([title, str(len(ids)), *cells])
    return _markdown(["set", "cases", *results], rows)


def _summary(results: Sequence[TrialResult]) -> str:
    scores = [one.score for one in results if one.score]
    mean = sum(score.score for score in scores) / len(results)
    passed = sum(score.passed for score in scores)
    harm = sum(score.safety_penalty or 0.0 for score in scores) / len(results)
    return f"{mean:.3f}, {passed}, {harm:.3f}"


def _gate(class_path: Path, runs: Runs) -> Iterator[str]:
    """Yield the section on the gate; nothing for a class without a baseline."""
    if not (class_path / FILE_NAME).is_file():
        return
    pinned = read_baseline(class_path / FILE_NAME).report
    if pinned is None:
        raise EvalError(f"{class_path / FILE_NAME} cannot be read")
    yield from ("## The gate", "", f"The pinned baseline is `{pinned.system}`.", "")
    rows = [[name, *_decided(one)] for name, one in runs.items() if name != pinned.system]
    yield from _markdown(["system", "decision", "change of the score", "of harm", "reasons"], rows)
    yield ""


def _decided(judged: Judgement) -> list[str]:
    decision = judged.decision
    figures = judged.figures
    if decision is None or figures is None:
        return ["not compared", "", "", ""]
    shown = figures.significance
    score = f"{_signed(shown.mean_delta)} [{_signed(shown.delta_ci_low)}, {_signed(shown.delta_ci_high)}]"
    reasons = [code.removeprefix(_BLOCKED) for code in decision.reason_codes]
    return [decision.outcome, score, _signed(figures.safety.delta), _listed(reasons)]


def _signed(value: float | None) -> str:
    if value is None:
        return "not measured"
    return f"{value:+.3f}"


def _case_table(results: Results, cases: Iterable[str]) -> Iterator[str]:
    rows = [[one, *(_cell(by_case[one]) for by_case in results.values())] for one in cases]
    return _markdown(["case", *results], rows)


def _cell(result: TrialResult) -> str:
    if result.score is None:
        return "no score"
    if result.score.passed:
        return f"{result.score.score:.2f}"
    return f"{result.score.score:.2f} failed"


def _has_no_score(results: Results, case_id: str) -> bool:
    return any(by_case[case_id].score is None for by_case in results.values())


def _axes(results: Results, cases: Iterable[str]) -> dict[str, tuple[float, float, int]]:
    """Return for each axis its lowest and highest value, and on how many cases the systems differ in it."""
    found: dict[str, list[set[float]]] = defaultdict(list)
    for case_id in cases:
        values: dict[str, set[float]] = defaultdict(set)
        for by_case in results.values():
            score = by_case[case_id].score
            for axis, value in score.breakdown.items() if score else ():
                values[axis].add(value)
        for axis, held in values.items():
            found[axis].append(held)
    return {
        axis: (min(map(min, held)), max(map(max, held)), sum(len(one) > 1 for one in held))
        for axis, held in found.items()
    }


def _axis_table(axes: Mapping[str, tuple[float, float, int]]) -> Iterator[str]:
    rows = [
        [f"`{axis}`", f"{low:g}", f"{high:g}", str(movers)]
        for axis, (low, high, movers) in axes.items()
    ]
    return _markdown(["axis", "lowest", "highest", "cases that move it"], rows)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
