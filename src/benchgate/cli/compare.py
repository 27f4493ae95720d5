"""``benchgate compare RUN [RUN]``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.say import complain, say, show
from benchgate.cli.vectors import guarded

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
        "gate says promote, with 10 if it holds.",
    )
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="the earlier run, then the later one"
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
    if len(given.runs) != 2:
        complain("expected 2 runs; see --help")
        return 2
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
