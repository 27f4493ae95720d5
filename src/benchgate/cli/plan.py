"""``benchgate plan CLASS``: what a run can show, before it is run, and the seal that its bar was set then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.cli.gate import add_reading, report_of_log
from benchgate.cli.say import say
from benchgate.cli.vectors import guarded
from benchgate.wire import clock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from benchgate.artifacts.sealed_plan import Prediction, SealedPlan
    from benchgate.cli.vectors import Parsers
    from benchgate.gates.figures import Arm
    from benchgate.gates.forecast import Forecast
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport

MANY = 1000
"""Looks beyond which nobody asks whether one can promote."""


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "plan",
        help="say what a run can show and cost before it is run, and seal its bar",
        description="Computes from the spread of the baseline's own trials which gain a run would find, what it "
        "takes to win and what it costs, and writes a sealed plan, which a run cites with --bench-plan=FILE.",
    )
    parser.add_argument("task_class", metavar="CLASS")
    parser.add_argument(
        "--bench-root",
        type=Path,
        default=Path("bench"),
        metavar="DIR",
        help="folder of the task classes (default: bench)",
    )
    parser.add_argument("--baseline", type=Path, metavar="PATH", help="default: the pinned one")
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="the baseline is this log of another harness, for benchgate gate --task-class=CLASS --plan=FILE",
    )
    add_reading(parser)
    parser.add_argument("--trials", type=_positive, metavar="K", help="trials of each case")
    parser.add_argument("--claim", metavar="CLAIM", help="as --bench-claim of pytest")
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="as --bench-policy of pytest; repeatable",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(".benchgate"),
        metavar="DIR",
        help="output folder, where the records of the class are (default: .benchgate)",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="the sealed plan (default: CLASS.plan.json)"
    )
    parser.set_defaults(execute=guarded(_execute))


def _positive(text: str) -> int:
    from benchgate.wire.argument_types import positive

    return int(positive(text))


def _execute(given: argparse.Namespace) -> int:
    """Print and write a plan; 2 without a baseline to plan with or over another plan, 1 if the class is unknown."""
    from benchgate.errors import ArtifactError
    from benchgate.gates.baseline import arm
    from benchgate.wire.writing import model_bytes, write_file

    report, policy, trials = (
        report_of_log(given, _options(given)) if given.log else _of_class(given)
    )
    plan = _sealed(report, policy, given.trials or trials, given.out)
    target = given.output or Path(f"{given.task_class}.plan.json")
    for line in _lines(report, arm(report), policy, plan):
        say(line)
    if target.exists():  # a run may cite it: a plan that is replaced cannot be shown any more
        raise ArtifactError(
            target, "is there already, and stays; --output=FILE gives this plan a name"
        )
    write_file(target, model_bytes(plan))
    option = "--plan" if given.log else "--bench-plan"
    say(f"written   {target}: cite it with {option}={target}")
    return 0


def _of_class(given: argparse.Namespace) -> tuple[BenchRunReport, GatePolicy, int]:
    """Return the baseline of a class, its policy and its number of trials."""
    from benchgate.errors import ArtifactError, TaskClassNotFound
    from benchgate.gates.baseline import FILE_NAME, read_baseline
    from benchgate.gates.policy import load_policy, load_run_table
    from benchgate.loader.task_class import class_folders

    known = class_folders(given.bench_root)
    name = given.task_class
    if name not in known:
        raise TaskClassNotFound(name, known, given.bench_root / name / "registration.py")
    policy = load_policy(known[name], _options(given))
    path = given.baseline or known[name] / FILE_NAME
    found = read_baseline(path)
    if found.report is None or found.problems:
        raise ArtifactError(path, f"nothing to plan with: {'; '.join(found.problems)}")
    return found.report, policy, load_run_table(known[name]).trials or 1


def _options(given: argparse.Namespace) -> dict[str, Any]:
    from benchgate.gates.policy import parse_options

    return parse_options(given.policy) | ({"claim": given.claim} if given.claim else {})


def _sealed(report: BenchRunReport, policy: GatePolicy, trials: int, out: Path) -> SealedPlan:
    from importlib.metadata import version

    from benchgate.artifacts.sealed_plan import PlannedBaseline, SealedPlan
    from benchgate.ids import system_digest
    from benchgate.wire.canonical import digest
    from benchgate.wire.model import SCHEMA_VERSION

    return SealedPlan.sealed(
        schema_version=SCHEMA_VERSION,
        report_kind="sealed_plan",
        sealed_at=clock.now(),
        benchgate=version("pytest-benchgate"),
        task_class=report.task_class,
        case_count=report.case_count,
        cases=digest(dict(report.digests.cases)),
        rubric=report.digests.scorer,
        baseline=PlannedBaseline(
            system=report.system, system_sha256=system_digest(report), run_id=report.run_id
        ),
        trial_count=trials,
        policy=policy,
        prediction=_prediction(
            report, policy, trials, _next_look(report, out / "runs" / report.task_class)
        ),
    )


def _next_look(report: BenchRunReport, runs: Path) -> int:
    from benchgate.looks.chain import ChainLooks, looked_at

    looked = looked_at(report, report, is_beside=False)
    return ChainLooks(runs if runs.is_dir() else None).number(looked._replace(results=("", "")))


def _prediction(report: BenchRunReport, policy: GatePolicy, trials: int, look: int) -> Prediction:
    from benchgate.aggregate import case_figures
    from benchgate.artifacts.sealed_plan import Prediction
    from benchgate.gates.baseline import arm
    from benchgate.gates.forecast import forecast
    from benchgate.gates.looks import judged_at

    found, cases = (
        forecast(arm(report), judged_at(policy, look), trials),
        case_figures(report.per_case),
    )
    costs = [case.cost_usd for case in cases]
    known = [cost for cost in costs if cost is not None]
    return Prediction(
        units=found.units,
        look=look,
        looks=_looks(found, policy),
        detectable=found.detectable,
        power_of_target=found.power and found.power(policy.target_effect),
        smallest_margin=found.smallest_margin,
        cost_usd=sum(known) * trials if len(known) == len(costs) else None,
        seconds=None if report.source else sum(case.duration_seconds for case in cases) * trials,
    )


def _looks(found: Forecast, policy: GatePolicy) -> int | None:
    """Return how many looks can promote, by the signs of so many cases; ``None`` if nothing limits them."""
    from benchgate.gates.looks import judged_at, sign_limit

    least = sign_limit(policy, found.units)
    if least is None or least <= judged_at(policy, MANY).alpha:
        return None
    return next(k - 1 for k in range(1, MANY + 1) if least > judged_at(policy, k).alpha)


def _lines(
    report: BenchRunReport, side: Arm, policy: GatePolicy, plan: SealedPlan
) -> Iterator[str]:
    from benchgate.errors import counted

    found, trials = plan.prediction, plan.trial_count
    yield (
        f"plan      {report.task_class}: {counted(plan.case_count, 'case')}, {counted(trials, 'trial')} each, claim "
        f"{policy.claim}, alpha {policy.alpha:g}, against {report.system}, run {report.run_id[:16]}"
    )
    yield from _reachable(policy, found)
    yield from _gains(side, policy, plan)
    cost = "not known" if found.cost_usd is None else f"{found.cost_usd:.4g} USD"
    if report.source is None:
        yield f"cost      {cost}, {found.seconds or 0.0:.3g} s one after the other, as the baseline's trials"


def _reachable(policy: GatePolicy, found: Prediction) -> Iterator[str]:
    reject = "reject if severity block, penalty, or a significant loss speaks against it"
    if found.units < policy.min_cases:
        yield f"verdicts  hold: {found.units} cases or clusters, {policy.min_cases} needed; {reject}"
    elif found.looks is not None and found.look > found.looks:
        at = f"look {found.look} at this baseline" if found.looks else f"alpha {policy.alpha:g}"
        yield f"verdicts  hold: so few cases cannot be significant at {at}; {reject}"
    elif found.smallest_margin is not None and found.smallest_margin > (policy.margin or 0.0):
        shown = f"without any change {found.smallest_margin:.3g} is shown, the margin is {policy.margin:g}"
        yield f"verdicts  hold, unless there are gains: {shown}; {reject}"
    else:
        upto = "" if found.looks is None else f" up to look {found.looks} at this baseline"
        upto += f", and this would be look {found.look}" if policy.looks == "spend" else ""
        yield f"verdicts  promote{upto}; hold; {reject}"


def _gains(side: Arm, policy: GatePolicy, plan: SealedPlan) -> Iterator[str]:
    from benchgate.gates.forecast import forecast
    from benchgate.gates.looks import judged_at

    policy = judged_at(policy, plan.prediction.look)
    found, trials = forecast(side, policy, plan.trial_count), plan.trial_count
    if found.power is None:
        return
    level = f"{policy.power:.0%}"
    yield (
        f"power     {found.power(policy.target_effect):.0%} for a gain of {policy.target_effect:g}; "
        f"{level} for one of {_number(found.detectable)}"
    )
    if found.is_lower_limit:
        yield "          at least: no two trials of a case differ in the baseline, which would show what pairs share"
    if found.wins:
        text = ", ".join(f"{gains} with {losses}" for losses, gains in enumerate(found.wins[:4]))
        yield f"wins      gains needed by losses: {text}"
    options = [(1, trials), (1, 2 * trials), (1, 4 * trials), (2, trials), (4, trials)]
    shown = [
        f"{len(side.scores) * scale} x {count}: {_number(forecast(side, policy, count, scale=scale).detectable)}"
        for scale, count in options
    ]
    yield f"sizes     cases x trials and the gain found in {level}: {', '.join(shown)}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}"
