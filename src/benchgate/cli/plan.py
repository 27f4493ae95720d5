"""``benchgate plan CLASS``: what a run can show, before it is run, and the seal that its bar was set then."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.gate_logs import add_reading, report_of_log
from benchgate.cli.options import add_policy, add_root, guarded
from benchgate.cli.say import say
from benchgate.errors import ArtifactError, counted
from benchgate.wire import clock
from benchgate.wire.argument_types import positive

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from benchgate.artifacts.sealed_plan import Prediction, SealedPlan
    from benchgate.cli.options import Parsers
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "plan",
        help="say what a run can show and cost before it is run, and seal its bar",
        description="Simulates runs from the baseline's own trials and asks the gate about them: which verdicts there "
        "can be and which gain would be found. Says what the run costs, and writes a sealed plan, which a run cites "
        "with --bench-plan=FILE.",
    )
    parser.add_argument("task_class", metavar="CLASS")
    add_root(parser)
    parser.add_argument("--baseline", type=Path, metavar="PATH", help="default: the pinned one")
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="the baseline is this log of another harness, for benchgate gate --task-class=CLASS --plan=FILE",
    )
    add_reading(parser)
    parser.add_argument("--trials", type=positive, metavar="K", help="trials of each case")
    add_policy(parser)
    parser.add_argument(
        "--runs",
        type=Path,
        default=Path(".benchgate"),
        metavar="DIR",
        help="output folder where the records of the class are (default: .benchgate)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the sealed plan (default: CLASS.plan.json)"
    )
    parser.set_defaults(execute=guarded(_execute))


def _execute(args: argparse.Namespace) -> int:
    """Print and write a plan; 2 without a baseline to plan with or over another plan, 1 if the class is unknown."""
    from benchgate.wire.writing import model_bytes, write_file

    read = report_of_log if args.log else _of_class
    report, policy, trials = read(args)
    plan = _sealed(report, policy, args.trials or trials, args.runs)
    target = args.out or Path(f"{args.task_class}.plan.json")
    for line in _lines(report, policy, plan):
        say(line)
    if target.exists():  # a run may cite it: a plan that is replaced cannot be shown any more
        raise ArtifactError(target, "is there, and stays; --out=FILE gives this plan a name")
    write_file(target, model_bytes(plan))
    option = "--plan" if args.log else "--bench-plan"
    say(f"written   {target}: cite it with {option}={target}")
    return 0


def _of_class(args: argparse.Namespace) -> tuple[BenchRunReport, GatePolicy, int]:
    """Return the baseline of a class, its policy and its number of trials."""
    from benchgate.gates.baseline import FILE_NAME, read_baseline
    from benchgate.gates.policy import load_policy, load_run_table, parse_options
    from benchgate.loader.task_class import class_folder

    class_path = class_folder(args.bench_root, args.task_class)
    policy = load_policy(class_path, parse_options(args.policy))
    path = args.baseline or class_path / FILE_NAME
    baseline = read_baseline(path)
    if baseline.report is None or baseline.problems:
        raise ArtifactError(path, f"nothing to plan with: {'; '.join(baseline.problems)}")
    return baseline.report, policy, load_run_table(class_path).trials or 1


def _sealed(report: BenchRunReport, policy: GatePolicy, trials: int, out: Path) -> SealedPlan:
    from importlib.metadata import version

    from benchgate.artifacts.sealed_plan import PlannedBaseline, SealedPlan
    from benchgate.ids import system_digest
    from benchgate.wire.model import SCHEMA_VERSION

    return SealedPlan.sealed(
        schema_version=SCHEMA_VERSION,
        report_kind="sealed_plan",
        sealed_at=clock.now(),
        benchgate=version("pytest-benchgate"),
        task_class=report.task_class,
        case_count=report.case_count,
        cases=SealedPlan.cases_of(report),
        rubric=report.digests.scorer,
        observer=report.observer,
        baseline=PlannedBaseline(
            system=report.system, system_sha256=system_digest(report), run_id=report.run_id
        ),
        trial_count=trials,
        policy=policy,
        prediction=_prediction(
            report, policy, trials, _next_look(report, policy, out / "runs" / report.task_class)
        ),
    )


def _next_look(report: BenchRunReport, policy: GatePolicy, runs: Path) -> int:
    from benchgate.looks.chain import ChainLooks, looked_at

    new = {"results": ("", "")}
    looked = looked_at(report, report, policy, is_beside=False).model_copy(update=new)
    return ChainLooks(runs if runs.is_dir() else None).number(looked)


def _prediction(report: BenchRunReport, policy: GatePolicy, trials: int, look: int) -> Prediction:
    from benchgate.aggregate import case_figures
    from benchgate.artifacts.sealed_plan import Prediction
    from benchgate.gates.baseline import arm
    from benchgate.gates.forecast import forecast
    from benchgate.gates.unchanged import unchanged

    outlook = forecast(arm(report), policy, trials, look=look)._asdict()
    chance, cases = outlook.pop("chance"), case_figures(report.per_case)
    uneven = outlook.pop("uneven")
    costs = [case.cost_usd for case in cases if case.cost_usd is not None]
    return Prediction(
        **outlook,
        look=look,
        runs=chance.runs if chance else 0,
        power_of_target=chance.share if chance else None,
        power_if_uneven=uneven.share if uneven else None,
        unchanged=unchanged(arm(report), policy, trials),
        interval=chance.interval if chance and chance.runs else None,
        cost_usd=sum(costs) * trials if len(costs) == len(cases) else None,
        seconds=None if report.source else sum(case.duration_seconds for case in cases) * trials,
    )


def _lines(report: BenchRunReport, policy: GatePolicy, plan: SealedPlan) -> Iterator[str]:
    outlook, trials = plan.prediction, plan.trial_count
    yield (
        f"plan      {report.task_class}: {counted(plan.case_count, 'case')}, {counted(trials, 'trial')} each, claim "
        f"{policy.claim}, alpha {policy.alpha:g}, against {report.system}, run {report.run_id[:16]}"
    )
    yield from _reachable(policy, outlook)
    if outlook.obstacle is None and policy.claim != "no_regression":
        yield from _gains(policy, plan)
    if outlook.unchanged is not None:
        yield f"unchanged {outlook.unchanged}"
    cost = "not known" if outlook.cost_usd is None else f"{outlook.cost_usd:.4g} USD"
    if report.source is None:
        yield f"cost      {cost}, {outlook.seconds or 0.0:.3g} s one after the other, as the baseline's trials"


def _reachable(policy: GatePolicy, outlook: Prediction) -> Iterator[str]:
    if outlook.obstacle is not None:
        yield f"verdicts  can only hold or reject: {outlook.obstacle}"
        return
    this = f"; this would be candidate no. {outlook.look}" if policy.looks != "count" else ""
    last = "" if outlook.looks is None else f"; none after no. {outlook.looks} can be promoted"
    yield f"verdicts  can promote, hold or reject{this}{last}"
    if outlook.smallest_margin is not None and outlook.smallest_margin > (policy.margin or 0.0):
        least = f"so few cases exclude only a loss above {outlook.smallest_margin:.3g}"
        yield f"          a candidate that changes no case is held: {least}; {policy.margin:g} is allowed"


def _gains(policy: GatePolicy, plan: SealedPlan) -> Iterator[str]:
    from benchgate.gates.forecast import MOST_CASES
    from benchgate.gates.policy import POWER

    outlook = plan.prediction
    if outlook.power_of_target is None:
        yield "power     not known: all scores of the baseline are equal, so nobody knows how much they vary"
        return
    how = f"by formula: more than {MOST_CASES} cases take too long to simulate"
    if outlook.interval is not None:
        low, high = outlook.interval
        how = f"{outlook.runs} simulated runs, 95% interval {low:.0%} to {high:.0%}"
    what = (
        "a candidate as good as the baseline"
        if policy.claim == "not_worse"
        else f"a gain of {policy.target_effect:g}"
    )
    yield f"power     {what} is promoted in {outlook.power_of_target:.0%} of runs ({how})"
    unit = "case" if outlook.units == plan.case_count else "cluster"
    if outlook.power_if_uneven is not None:
        yield f"          or in {outlook.power_if_uneven:.0%} if half of the {unit}s gain nothing"
    if outlook.is_lower_limit:
        yield (
            "          or in more: no two trials of a case differ in the baseline, so nobody knows how far "
            "the two sides agree on a case; pin a run of --bench-trials=2 or more"
        )
    if policy.claim != "better":
        return
    if outlook.detectable is None:
        yield f"finds     no gain that the scores leave room for is found in {POWER:.0%} of runs"
        return
    least, wanted = policy.min_delta, policy.target_effect
    cases = ""
    if outlook.detectable > wanted > least:
        times = ((outlook.detectable - least) / (wanted - least)) ** 2
        cases = f"; about {math.ceil(plan.case_count * times)} cases would find {wanted:g}"
    yield f"finds     a gain of {outlook.detectable:.2g} in {POWER:.0%} of runs{cases}"
