"""``benchgate plan CLASS``: what a run can show and what it costs, before it is run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchgate.cli.gate_logs import add_reading, baseline_of_log
from benchgate.cli.options import add_policy, add_root, guarded, thresholds
from benchgate.cli.say import say
from benchgate.errors import ArtifactError, counted
from benchgate.options.kinds import POSITIVE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from benchgate.cli.options import Parsers
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.forecast import Forecast
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport


class Planned(NamedTuple):
    """
    The run that is asked about.

    :param trials: of each case.
    :param look: its number among the looks at this baseline.
    """

    baseline: BenchRunReport
    policy: GatePolicy
    trials: int
    look: int


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "plan",
        help="say what a run can show and what it costs, before it is run",
        description="Simulates runs from the baseline's own trials and asks the gate about them: which verdicts there "
        "can be and which gain would be found. Says what the run costs. Without a baseline it says what so many cases "
        "usually show, and how to get one. Runs nothing and writes nothing.",
    )
    parser.add_argument("task_class", metavar="CLASS")
    add_root(parser)
    parser.add_argument("--baseline", type=Path, metavar="PATH", help="default: the pinned one")
    parser.add_argument(
        "--log", type=Path, metavar="FILE", help="the baseline is this log of another harness"
    )
    add_reading(parser)
    parser.add_argument("--trials", type=POSITIVE.read, metavar="K", help="trials of each case")
    add_policy(parser)
    parser.add_argument(
        "--runs",
        type=Path,
        default=Path(".benchgate"),
        metavar="DIR",
        help="output folder where the records of the class are (default: .benchgate)",
    )
    parser.set_defaults(execute=guarded(_execute))


def _execute(args: argparse.Namespace) -> int:
    """Print what a run can show; 2 if the baseline cannot be used, 1 if the class is unknown."""
    from benchgate.cli.rough_plan import rough_plan
    from benchgate.gates.baseline import arm
    from benchgate.gates.choice import FILE_NAME
    from benchgate.gates.forecast import forecast
    from benchgate.loader.task_class import class_folder

    if args.log is None and args.baseline is None:
        class_path = class_folder(args.bench_root, args.task_class)
        if not (class_path / FILE_NAME).exists():
            for line in rough_plan(args, class_path):
                say(line)
            return 0
    read = baseline_of_log if args.log else _of_class
    known, policy, trials = read(args)
    report = known.report
    assert report is not None  # noqa: S101 - else there is nothing to plan with
    planned = Planned(
        baseline=report,
        policy=policy,
        trials=args.trials or trials,
        look=_next_look(known, report, policy, args.runs / "runs" / report.task_class),
    )
    outlook = forecast(arm(report), policy, planned.trials, look=planned.look)
    for line in _lines(planned, outlook):
        say(line)
    if report.source is None:
        say(_next(planned, outlook, args))
    return 0


def _next(planned: Planned, outlook: Forecast, args: argparse.Namespace) -> str:
    """Return what to do with a plan."""
    from benchgate.cli.next_commands import NextCommands
    from benchgate.gates.policy import POWER

    if outlook.obstacle is not None:
        return f"next      {outlook.step or 'change what stands in the way, then plan again'}"
    if outlook.chance is not None and outlook.chance.share < POWER:
        return (
            "next      a run like this would often miss what it looks for: plan again with more --trials, with "
            "more cases, or for a larger --policy target_effect"
        )
    commands = NextCommands.of(args.bench_root / args.task_class)
    return f"next      run the candidate: {commands.run} {commands.option}trials={planned.trials}"


def _of_class(args: argparse.Namespace) -> tuple[Baseline, GatePolicy, int]:
    """Return the baseline of a class, its policy and its number of trials."""
    from benchgate.gates.baseline import read_baseline
    from benchgate.gates.choice import FILE_NAME
    from benchgate.gates.policy import load_policy, load_run_table, parse_options
    from benchgate.loader.task_class import class_folder
    from benchgate.sentences.says import joined

    class_path = class_folder(args.bench_root, args.task_class)
    policy = load_policy(class_path, parse_options(thresholds(args)))
    path = args.baseline or class_path / FILE_NAME
    if not path.exists():
        raise ArtifactError(path, "nothing to plan with: there is no such record")
    baseline = read_baseline(path)
    if baseline.report is None or baseline.problems:
        raise ArtifactError(path, f"nothing to plan with: {joined(baseline.problems)}")
    return baseline, policy, load_run_table(class_path).options.get("trials", 1)


def _next_look(known: Baseline, report: BenchRunReport, policy: GatePolicy, runs: Path) -> int:
    from benchgate.looks.chain import ChainLooks, looked_at

    new = {
        "results": ("", "")
    }  # of no run: a candidate that was looked at already would be no new look
    looked = looked_at(known, report, policy, is_beside=False).model_copy(update=new)
    return ChainLooks(runs if runs.is_dir() else None).number(looked).look.number


def _lines(planned: Planned, outlook: Forecast) -> Iterator[str]:
    from benchgate.gates.baseline import arm
    from benchgate.gates.harm_reasons import SELDOM
    from benchgate.gates.unchanged import unchanged

    report = planned.baseline
    policy = planned.policy
    trials = planned.trials
    yield (
        f"plan      {report.task_class}: {counted(report.case_count, 'case')}, {counted(trials, 'trial')} each, claim "
        f"{policy.claim}, alpha {policy.alpha:g}, against {report.system}, run {report.run_id[:16]}"
    )
    yield from _reachable(planned, outlook)
    if outlook.obstacle is None and policy.claim != "no_regression":
        yield from _gains(planned, outlook)
    rejected = unchanged(arm(report), policy, trials)
    if rejected is not None:
        yield f"unchanged {rejected.text}"
    if outlook.chance_rejection >= SELDOM:
        limit = f"its harm rises by more than {policy.max_safety_regression:g} by chance"
        yield f"harm      an unchanged agent is rejected in {outlook.chance_rejection:.0%} of runs, because {limit}"
    if report.source is None:
        yield _costs(report, trials)


def _reachable(planned: Planned, outlook: Forecast) -> Iterator[str]:
    policy = planned.policy
    if outlook.obstacle is not None:
        yield f"verdicts  even perfect scores would not be promoted: {outlook.obstacle}"
        return
    text = "verdicts  can promote, hold or reject"
    if policy.looks != "count":
        text += f"; this would be candidate no. {planned.look}"
    if outlook.looks is not None:
        text += f"; none after no. {outlook.looks} can be promoted"
    yield text
    if outlook.smallest_margin is not None and outlook.smallest_margin > (policy.margin or 0.0):
        least = f"so few cases exclude only a loss above {outlook.smallest_margin:.3g}"
        yield f"          a candidate that changes no case is held: {least}; {policy.margin:g} is allowed"


def _gains(planned: Planned, outlook: Forecast) -> Iterator[str]:
    from benchgate.gates.forecast import MOST_CASES
    from benchgate.gates.policy import POWER

    policy = planned.policy
    count = planned.baseline.case_count
    chance = outlook.chance
    if chance is None:
        yield "power     not known: all scores of the baseline are equal, so nobody knows how much they vary"
        return
    how = f"by formula: more than {MOST_CASES} cases take too long to simulate"
    if chance.runs:
        low, high = chance.interval
        how = f"{chance.runs} simulated runs, 95% interval {low:.0%} to {high:.0%}"
    what = f"a gain of {policy.target_effect:g}"
    if policy.claim == "not_worse":
        what = "a candidate as good as the baseline"
    yield f"power     {what} is promoted in {chance.share:.0%} of runs ({how})"
    yield from _uneven_gains(outlook, count)
    if outlook.is_lower_limit:
        yield (
            "          or in more: no two trials of a case differ in the baseline, so its noise is unknown; pin a "
            "run of --bench-trials=2 or more"
        )
    if policy.claim != "better":
        return
    if outlook.detectable is None:
        yield f"finds     no gain that the scores leave room for is found in {POWER:.0%} of runs"
        return
    least = policy.min_delta
    wanted = policy.target_effect
    cases = ""
    if outlook.detectable > wanted > least:
        # The gain that can be found above the least falls with the square root of the number of cases.
        times = ((outlook.detectable - least) / (wanted - least)) ** 2
        cases = f"; about {math.ceil(count * times)} cases would find {wanted:g}"
    yield f"finds     a gain of {outlook.detectable:.2g} in {POWER:.0%} of runs{cases}"


def _uneven_gains(outlook: Forecast, count: int) -> Iterator[str]:
    """Yield how often the same mean gain is found if cases, or clusters, do not all gain alike."""
    unit = "case" if outlook.units == count else "cluster"
    if outlook.uneven is not None:
        yield f"          or in {outlook.uneven.share:.0%} if half of the {unit}s gain nothing"
    if outlook.losing is not None:
        loss = outlook.losing.gain
        share = f"{outlook.losing.share:.0%} if half of the {unit}s"
        yield f"          or in {share} lose {loss:.2g} and the others gain {3 * loss:.2g}"


def _costs(report: BenchRunReport, trials: int) -> str:
    """Return what all trials cost and take, as the baseline's did."""
    from benchgate.aggregate import case_figures

    cases = case_figures(report.per_case)
    costs = [case.cost_usd for case in cases if case.cost_usd is not None]
    cost = "not known"
    if len(costs) == len(cases):
        cost = f"${sum(costs) * trials:.4g}"
    seconds = sum(case.duration_seconds for case in cases) * trials
    return f"cost      {cost}, {seconds:.3g} s one after the other, as the baseline's trials"
