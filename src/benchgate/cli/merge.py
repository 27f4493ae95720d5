"""``benchgate merge PART... --out DIR``: one run of its shards."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.cli.bench_code import add_bench, bench_code
from benchgate.cli.say import complain
from benchgate.errors import EvalError
from benchgate.options.table import named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.runner.settings import RunSettings

OF_THE_WHOLE = named("baseline", "policy", "checkpoint", "baseline-checkpoint", "lineage", "html")
"""Options of a run that say how it is judged and shown; all others are those of the shards."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "merge",
        help="put the shards of a run together, judge and record it",
        description="Takes the folders shards/CLASS/I-of-N that --bench-shard left, all of one class. Prints the "
        "decision. Exits as benchgate run.",
    )
    parser.add_argument("parts", type=Path, nargs="+", metavar="PART")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="output folder")
    parser.add_argument(
        "--expect",
        type=_expected,
        action="append",
        default=[],
        metavar="I=SHA256",
        help="the digest that shard I printed when it ended; others are refused",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON line for the run")
    add_bench(parser)
    for option in OF_THE_WHOLE:
        option.declare(parser.add_argument)
    parser.set_defaults(execute=execute)


def _expected(text: str) -> tuple[int, str]:
    match = re.fullmatch(r"([1-9][0-9]{0,8})=([0-9a-f]{64})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r}; expected I=SHA256 as shard I printed it")
    return int(match[1]), match[2]


def execute(args: argparse.Namespace) -> int:
    """Merge and print the run; 1 if it fails, 2 for wrong use, such as a shard that is missing."""
    from benchgate.cli.run import Outs, shown, warned
    from benchgate.options.places import arguments, read_options
    from benchgate.report.publish import Publication
    from benchgate.runner.merge import merge

    try:
        settled = read_options((*OF_THE_WHOLE, *named("out")), (arguments(vars(args), Path()),))
        publication = Publication.take(settled.values)
        with bench_code(args) as out:
            publication.check()
            finished = merge(_settings(args, settled.values))
            for text in finished.warnings:
                warned(text)
            outs = Outs(line=out, block=sys.stderr) if args.json else Outs(line=None, block=out)
            return shown(finished, publication, outs, settled.thresholds)
    except (EvalError, argparse.ArgumentTypeError) as error:
        complain(error)
        return 2


def _settings(args: argparse.Namespace, values: Mapping[str, Any]) -> RunSettings:
    from benchgate.runner.settings import RunSettings

    expect = dict(args.expect)
    if len(expect) < len(args.expect):
        raise EvalError("expect: one shard is named twice")
    return RunSettings.of_options(
        values,
        parts=tuple(args.parts),
        expect=expect,
        bench_root=args.bench_root,
        baseline=args.baseline,  # the default is that of the parts
    )
