"""``benchgate merge PART... --out DIR``: one run of its shards."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.bench_code import add_bench, bench_code
from benchgate.cli.options import add_shared
from benchgate.cli.say import complain
from benchgate.errors import EvalError
from benchgate.wire.arguments import threshold_places

if TYPE_CHECKING:
    from benchgate.runner.settings import RunSettings

OF_THE_WHOLE = ("baseline", "policy", "checkpoint", "baseline-checkpoint", "lineage", "html")
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
    add_shared(parser, *OF_THE_WHOLE)
    parser.set_defaults(execute=execute)


def _expected(text: str) -> tuple[int, str]:
    match = re.fullmatch(r"([1-9][0-9]{0,8})=([0-9a-f]{64})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r}; expected I=SHA256 as shard I printed it")
    return int(match[1]), match[2]


def execute(args: argparse.Namespace) -> int:
    """Merge and print the run; 1 if it fails, 2 for wrong use, such as a shard that is missing."""
    from benchgate.cli.run import Outs, shown, warned
    from benchgate.report.publish import Publication
    from benchgate.runner.merge import merge

    publication = Publication.take({"html": args.html})
    try:
        with bench_code(args) as out:
            publication.check()
            finished = merge(_settings(args))
            for text in finished.warnings:
                warned(text)
            outs = Outs(line=out, block=sys.stderr) if args.json else Outs(line=None, block=out)
            return shown(finished, publication, outs, threshold_places(args.policy, {}))
    except EvalError as error:
        complain(error)
        return 2


def _settings(args: argparse.Namespace) -> RunSettings:
    from benchgate.runner.settings import RunSettings

    names = [name.replace("-", "_") for name in OF_THE_WHOLE]
    values = {name: getattr(args, name) for name in names}
    expect = dict(args.expect)
    if len(expect) < len(args.expect):
        raise EvalError("expect: one shard is named twice")
    return RunSettings.of_options(
        values, parts=tuple(args.parts), expect=expect, out=args.out, bench_root=args.bench_root
    )
