"""What ``benchgate plan`` says before anything was run: what so many cases usually show, and how to know more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.audit.chain import next_number
from benchgate.audit.runs import known_runs, pin_command
from benchgate.cli.next_commands import NextCommands
from benchgate.errors import counted
from benchgate.gates.policy import POWER, load_policy, load_run_table, parse_options
from benchgate.loader.case_folder import case_folders
from benchgate.statistics import Goal, paired_detectable
from benchgate.statistics.pass_fail import smallest_margin

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from benchgate.gates.policy import GatePolicy


def rough_plan(args: argparse.Namespace, class_path: Path) -> Iterator[str]:
    """Yield what can be said before anything was run: what so many cases usually show, and how to know more."""
    policy = load_policy(class_path, parse_options(args.policy or ()))
    trials = args.trials or load_run_table(class_path).options.get("trials", 1)
    count = len(case_folders(class_path))
    yield (
        f"plan      {class_path.name}: {counted(count, 'case')}, {counted(trials, 'trial')} each, claim "
        f"{policy.claim}, alpha {policy.alpha:g}; no baseline is pinned, so this is a rough plan"
    )
    if count < policy.min_cases:
        few = f"{counted(count, 'case')} are too few: at least {policy.min_cases} are needed"
        yield f"verdicts  nothing would be promoted: {few}"
    yield from _usually_shown(max(count, policy.min_cases), policy)
    yield from _first_steps(args, class_path)


def _usually_shown(count: int, policy: GatePolicy) -> Iterator[str]:
    """Yield what so many cases show if they pass or fail, and the two sides differ as they mostly do."""
    if policy.claim == "not_worse":
        least = smallest_margin(count, alpha=policy.alpha)
        yield (
            f"finds     {counted(count, 'case')} that pass or fail, of which none changes, exclude only a loss above "
            f"{least:.2g}; {policy.margin:g} is allowed"
        )
    if policy.claim != "better":
        return
    changes = max(1, round(count / 10))
    differences = [1.0] * changes + [-1.0] * changes + [0.0] * (count - 2 * changes)
    goal = Goal(target=policy.target_effect, null_delta=policy.min_delta, alpha=policy.alpha)
    found = paired_detectable(differences, goal, width=1.0, exact=True)
    gain = "no gain"
    if found.effect is not None:
        gain = f"a gain of {found.effect:.2g}"
    enough = ""
    if found.cases is not None and found.cases > count:
        enough = f"; about {found.cases} cases would find {policy.target_effect:g}"
    yield (
        f"finds     {gain} in {POWER:.0%} of runs, if {counted(count, 'case')} pass or fail and a fifth of them "
        f"changes{enough}"
    )


def _first_steps(args: argparse.Namespace, class_path: Path) -> Iterator[str]:
    """Yield how to get a baseline: pin the run that there is, or run what is used today."""
    name = class_path.name
    runs = args.runs / "runs" / name
    complete = []
    if runs.is_dir():
        complete = [run for run in known_runs(runs) if run.state == "complete"]
    if complete:
        newest = complete[-1]
        system = "the newest"
        if newest.record is not None:
            system = f"`{newest.record.report.system}`"
        yield (
            f"next      is {system}, run {newest.seq}, what you use today? Then pin it, and plan again: this command "
            "says what your own scores can show"
        )
        yield f"          {pin_command(newest.folder, newest.seq, Path())}"
        return
    commands = NextCommands.of(class_path)
    yield (
        "next      run what you use today, all cases once, and pin that run. Then plan again: this command says what "
        "your own scores can show, and what a run costs"
    )
    yield f"          {commands.run}{commands.by_gate} {commands.option}system=SYSTEM {commands.option}baseline=none"
    yield f"          benchgate pin {next_number(runs)} --task-class {name}{commands.root} --yes"
