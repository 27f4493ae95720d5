"""``benchgate report RUN|RECORD|PROOF...``: what was decided, as a page or as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.options import add_shared, guarded
from benchgate.cli.say import say

if TYPE_CHECKING:
    import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "report",
        help="show what was decided and why: as one HTML page, or as Markdown for a pull request",
        description="RUN is the number of a run, or its folder in runs/CLASS/ or in last-selected/, RECORD its "
        "record.json, PROOF a proof.json with its files beside it. Exits with 0 whatever was decided.",
    )
    parser.add_argument("sources", nargs="+", metavar="RUN|RECORD|PROOF")
    parser.add_argument(
        "--out", type=Path, default=Path(".benchgate"), metavar="DIR", help="where a number is"
    )
    parser.add_argument("--task-class", metavar="CLASS", help="of a number, whose run it is")
    add_shared(parser, "html")
    parser.add_argument(
        "--markdown",
        action="store_true",
        help="print Markdown; also without --html",
    )
    parser.set_defaults(execute=guarded(_execute))


def _execute(args: argparse.Namespace) -> int:
    """Write the page, print the Markdown; 2 if a source cannot be read or the page not be written."""
    from benchgate.audit.runs import record_path
    from benchgate.report.html import write_page
    from benchgate.report.markdown import markdown_of

    paths = [record_path(word, args.out, args.task_class) for word in args.sources]
    if args.html is not None:
        write_page(paths, args.html)
    if args.markdown or args.html is None:
        print(markdown_of(paths), end="")
    else:
        say(f"written   {args.html}")
    return 0
