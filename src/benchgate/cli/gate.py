"""``benchgate gate A B``: the gate over two sides, whatever they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.cli.gate_logs import NOT_COUNTED, add_reading, gate_logs, is_by_side
from benchgate.cli.options import (
    add_policy,
    add_shared,
    guarded,
    one_side,
    policy_of,
    refuse,
    refuse_same,
)
from benchgate.cli.proof import exit_status
from benchgate.cli.say import complain, say, show
from benchgate.errors import ArtifactError, counted
from benchgate.interop.roles import IN_ONE_FILE
from benchgate.options.kinds import REASON
from benchgate.wire.parsing import collector_paused

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from benchgate.cli.options import Parsers
    from benchgate.gates.decide import Decided
    from benchgate.gates.decision import Blocker
    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy
    from benchgate.interop.vectors import Kind
    from benchgate.looks.accept import KnownBy

OF_LOGS = ("rows", "map", "metric", "format", "where", "errors_by", "html")
OF_NUMBERS = ("task_class", "out")
REFUSED = {
    "record": (*OF_LOGS, "baseline_id", "candidate_id", "ledger", "new_series"),
    "samples": (*OF_LOGS, *OF_NUMBERS),
    "counts": (*OF_LOGS, *OF_NUMBERS),
    "log": (),
}
"""Options that a kind of sides does not take."""

CALLED: Final = {
    "record": "a record",
    "samples": "samples",
    "counts": "a number of passes",
    "log": "a log",
}
UNPAIRED = (
    "unpaired, and the cases are taken for independent; if both sides ran the same ones, two files with a "
    "result for each case show more"
)


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "gate",
        help="decide whether B may replace A: two logs of another harness, records, files of samples, or counts",
        description="A is the baseline, what you use now; B is the candidate, what may replace it. The number of a "
        "run, its folder and its record.json are a record, numbers in JSON and the evidence of a run are samples, "
        "14/20 is a number of passes and of cases, all else, such as CSV, JSON lines, JUnit XML and folders of them, "
        "is a log of another harness. Exits with 0 if the gate says "
        "promote, with 10 if it holds, with 1 if it rejects or a side is incomplete, with 2 for wrong use.",
    )
    for name, what in (("base", "the baseline"), ("cand", "the candidate")):
        metavar = "A" if name == "base" else "B"
        parser.add_argument(name, metavar=metavar, help=f"{what}; ./1 is a file, 1 the first run")
    add_reading(parser)
    parser.add_argument(
        "--task-class",
        metavar="NAME",
        help="of a number, whose run; of logs, what was measured (default: as the log says, or log)",
    )
    for side in ("baseline", "candidate"):
        text = f"name of the {side} (default: what its log says, else its file)"
        parser.add_argument(f"--{side}-id", metavar="ID", help=text)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="of numbers, where the runs are (default: .benchgate); of logs, record it as the next run of its class "
        "below this folder (default: write nothing)",
    )
    add_shared(parser, "html")
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="count the looks at the baseline in this file; a new file begins at look 1",
    )
    parser.add_argument(
        "--new-series",
        type=REASON.read,
        metavar="REASON",
        help="with --ledger, of logs with --out too: count the looks at this baseline anew, and say why; each decision "
        "shows it",
    )
    parser.add_argument(
        "-v", "--verbose", action="count", default=0, help="show all cases, the rule and the codes"
    )
    add_policy(parser)
    parser.set_defaults(execute=guarded(_execute))


@collector_paused()  # models have no cycles, and looking for them takes a tenth of the time
def _execute(args: argparse.Namespace) -> int:
    one, first = _side(args, args.base)
    other, second = _side(args, args.cand)
    if {one, other} == {"samples", "log"}:
        one = other = "log"  # numbers by id are rows too
    if one != other:
        what = "; expected two of a kind"
        raise ValueError(f"{args.base} is {CALLED[one]}, {args.cand} {CALLED[other]}{what}")
    refuse(args, REFUSED[one], f"{one.removesuffix('s')}s")
    if one == "record" and not (args.base.isdecimal() or args.cand.isdecimal()):
        refuse(args, OF_NUMBERS, "records by path")
    if one == "counts":
        return _gate_counts(args)
    if one == "log":
        return _gate_logs(args, first, second)
    refuse_same(first, second)
    if one == "record":
        return _gate_records(args, first, second)
    return _gate_samples(args, (first, second))


def _side(args: argparse.Namespace, word: str) -> tuple[Kind, Path]:
    """Return what a word of the command line is, and the file to read."""
    from benchgate.audit.runs import record_path
    from benchgate.interop.counts import is_count
    from benchgate.interop.folder import log_files
    from benchgate.interop.vectors import kind_of

    if is_count(word):
        return "counts", Path(word)
    path = record_path(word, args.out or Path(".benchgate"), args.task_class)
    if word.isdecimal():
        return "record", path
    if not os.path.isdir(path):
        return kind_of(path), path
    record = path / "record.json"
    if record.exists():
        return "record", record
    log_files(path, args.format)  # refuses a folder in which there is no log
    return "log", path


def _gate_logs(args: argparse.Namespace, first: Path, second: Path) -> int:
    if not is_by_side(args):  # else one file may have both sides
        refuse_same(first, second, f"; {IN_ONE_FILE}")
    _refuse_inside(first, second)
    return gate_logs(args, (first, second))


def _refuse_inside(baseline: Path, candidate: Path) -> None:
    """Refuse a side that is in the folder of the other: its results would be on both."""
    why = "what is in it would be on both sides; give a folder or a file of each version"
    for inner, outer in ((baseline, candidate), (candidate, baseline)):
        if outer.resolve() in inner.resolve().parents:
            raise ValueError(f"{inner} is in {outer}: {why}")


def _gate_records(args: argparse.Namespace, first: Path, second: Path) -> int:
    from benchgate.gates.baseline import read_baseline
    from benchgate.gates.choice import BaselineChoice
    from benchgate.gates.facts import RunFacts
    from benchgate.gates.judge import FinishedRun, judge
    from benchgate.gates.policy import defaults_of
    from benchgate.looks.chain import ChainLooks, counter_of
    from benchgate.sentences.says import joined
    from benchgate.wording.block import Door, block

    before, after = read_baseline(first), read_baseline(second)
    records = []
    for side in (before, after):
        if side.record is None:
            raise ArtifactError(side.path, joined(side.problems))
        records.append(side.record)
    candidate = records[1].report
    if before.sha256 == after.sha256:  # a baseline.json is a copy of the record of its run
        raise ValueError(one_side(first, second, "record"))
    recorded = records[1].policy.model_dump(mode="json")
    policy = policy_of(args, recorded, of_file=defaults_of(candidate.source))
    chain = ChainLooks(second.absolute().parent.parent)
    run = FinishedRun(
        facts=RunFacts(policy=policy, report=candidate, baseline=before.facts),
        choice=BaselineChoice(path=first, binding=True, requested=True),
        baseline=before,
        exit_rule="gate",
    )
    judgement = judge(run, count=counter_of(chain.number, before, policy))
    for label, path, record in zip(
        ("baseline", "candidate"), (first, second), records, strict=True
    ):
        say(f"{label:9} {path}: record of {record.report.task_class}")
    show(block(judgement, Door(verbosity=args.verbose, more="-v")))
    for problem in after.problems:
        complain(f"{second}: {problem.text}")
    return 1 if after.problems else judgement.exit_status


def _gate_samples(args: argparse.Namespace, paths: Sequence[Path]) -> int:
    from benchgate.gates.policy import VECTOR_DEFAULTS
    from benchgate.interop.vectors import notes_on_files, read_side
    from benchgate.looks.accept import KnownBy
    from benchgate.looks.chain import place_of

    policy = policy_of(args, VECTOR_DEFAULTS)
    known = KnownBy(new_series=args.new_series)
    if args.ledger is not None:
        place = place_of(paths[0], args.ledger.absolute().parent)
        known = KnownBy(place=place, new_series=args.new_series)
    sides = (read_side(paths[0]), read_side(paths[1]))
    decided = _decided(args, sides, policy, known, notes_on_files(*paths))
    for label, path in zip(("baseline", "candidate"), paths, strict=True):
        say(f"{label:9} {path}: samples, more is better")
    return _shown(args, decided, (paths[0].name, paths[1].name))


def _gate_counts(args: argparse.Namespace) -> int:
    from benchgate.gates.counts import passes_of
    from benchgate.gates.policy import COUNT_DEFAULTS
    from benchgate.interop.counts import side_of_count
    from benchgate.looks.accept import KnownBy
    from benchgate.wording.lines import Line

    policy = policy_of(args, COUNT_DEFAULTS, of_file=COUNT_DEFAULTS)
    sides = (side_of_count(args.base), side_of_count(args.cand))
    known = KnownBy(name=args.baseline_id or args.base, new_series=args.new_series)
    decided = _decided(args, sides, policy, known)
    for label, side in zip(("baseline", "candidate"), sides, strict=True):
        passed, cases = passes_of(side)
        say(f"{label:9} {passed} of {counted(cases, 'case')} passed")
    show([Line("", UNPAIRED)])
    return _shown(args, decided, (args.base, args.cand))


def _decided(
    args: argparse.Namespace,
    sides: tuple[Arm, Arm],
    policy: GatePolicy,
    known: KnownBy,
    noted: tuple[Blocker, ...] = (),
) -> Decided:
    """Judge two sides, and count the look if there is a ledger."""
    from benchgate.looks.accept import judge_samples
    from benchgate.looks.ledger import LookLedger

    if args.ledger is not None:
        return judge_samples(sides, policy, LookLedger(args.ledger), known, noted=noted)
    if args.new_series is not None:
        raise ValueError(NOT_COUNTED)
    return judge_samples(sides, policy, None, noted=noted)


def _shown(args: argparse.Namespace, decided: Decided, names: tuple[str, str]) -> int:
    """Print a decision about samples, and return the exit status."""
    from benchgate.wording.block import Door, gate_lines
    from benchgate.wording.decision import DecisionView

    decision = decided.decision
    names = (args.baseline_id or names[0], args.candidate_id or names[1])
    door = Door(verbosity=args.verbose, more="-v")
    show(gate_lines(DecisionView.of_decided(decided, names), door))
    return exit_status(decision, is_met=decision.promotion_allowed)
