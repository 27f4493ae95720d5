"""``benchgate compare RUN [RUN]``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.say import complain, say, show
from benchgate.cli.vectors import guarded
from benchgate.errors import counted

if TYPE_CHECKING:
    import argparse

    from benchgate.cli.vectors import Parsers
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "compare",
        help="compare two recorded runs case by case, then gate the second against the first",
        description="A RUN is a record.json, a baseline.json of a bench, or the folder of a run. Exits with 0 if the "
        "gate says promote, with 10 if it holds. With --aa and one RUN, compares trials of that run with each other: "
        "every promotion is then a false one; exits with 0 if their share is at most alpha.",
    )
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="the earlier run, then the later one"
    )
    parser.add_argument(
        "--aa", action="store_true", help="compare one run's trials with each other"
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=200,
        metavar="N",
        help="number of comparisons with --aa (default: 200)",
    )
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a threshold over those that the second run was judged by, as in min_delta=0.02; repeatable",
    )
    parser.add_argument(
        "--claim",
        metavar="CLAIM",
        help="what a promotion states: better, not_worse or no_regression (default: that of the second run)",
    )
    parser.set_defaults(execute=guarded(_execute))


def _execute(given: argparse.Namespace) -> int:
    wanted = 1 if given.aa else 2
    if len(given.runs) != wanted or given.draws < 1:
        complain(f"expected {wanted} runs and at least 1 draw; see --help")
        return 2
    if given.aa:
        return _compare_with_itself(given)
    before, after = (_read(path) for path in given.runs)
    return _compare(before, after, _policy(given, given.runs[1]))


def _read(path: Path) -> Baseline:
    from benchgate.errors import ArtifactError
    from benchgate.gates.baseline import read_baseline

    found = read_baseline(_record(path))
    if found.report is None:
        raise ArtifactError(path, "; ".join(found.problems))
    return found


def _record(path: Path) -> Path:
    return path / "record.json" if os.path.isdir(path) else path


def _policy(given: argparse.Namespace, path: Path) -> GatePolicy:
    """Return the policy that a run was recorded under, as changed by the options."""
    from benchgate.gates.baseline import read_policy_of
    from benchgate.gates.policy import make_policy, merged, parse_options

    recorded = read_policy_of(_record(path)).model_dump(mode="json")
    options = parse_options(given.policy) | ({"claim": given.claim} if given.claim else {})
    return make_policy(merged(recorded, options), "policy option")


def _compare(before: Baseline, after: Baseline, policy: GatePolicy) -> int:
    from benchgate.gates.baseline import BaselineChoice
    from benchgate.gates.judge import judge
    from benchgate.looks.chain import ChainLooks, looked_at
    from benchgate.wording import summary
    from benchgate.wording.block import block

    if before.report is None or after.report is None:  # _read has refused it
        return 2
    counted_in = ChainLooks(after.path.absolute().parent.parent)

    def count(before: BenchRunReport, after: BenchRunReport) -> int:
        return counted_in.number(looked_at(before, after, is_beside=False))

    judgement = judge(
        after.report,
        policy=policy,
        choice=BaselineChoice(path=before.path, binding=True, requested=True),
        baseline=before,
        exit_rule="gate",
        count=count,
    )
    show(block(judgement))
    say("")
    for line in summary(judgement):
        say(line)
    for problem in after.problems:
        complain(f"{after.path}: {problem}")
    promoted = judgement.decision is not None and judgement.decision.promotion_allowed
    if after.problems or judgement.faults:
        return 1
    return 0 if promoted else judgement.exit_status


def _compare_with_itself(given: argparse.Namespace) -> int:
    from benchgate.gates.run_diff import against_itself

    run = _read(given.runs[0])
    report = run.report
    if report is None:  # _read has refused it
        return 2
    for problem in run.problems:
        complain(f"{run.path}: {problem}")
    policy = _policy(given, given.runs[0])
    found = against_itself(report, policy, draws=given.draws)
    share = found.promoted / found.draws
    cases = counted(report.case_count, "case")
    themselves = "itself" if report.case_count == 1 else "themselves"
    say(
        f"{counted(found.draws, 'comparison')} of {cases} with {themselves}, {report.trial_count} trials each"
    )
    say(
        f"false promotions   {found.promoted} ({share:.1%}), nominal at most {policy.alpha / 2:.1%}"
    )
    say(f"false regressions  {found.rejected} ({found.rejected / found.draws:.1%})")
    return 0 if share <= policy.alpha and not run.problems else 1
