"""``benchgate report RUN|RECORD|PROOF...``: what was decided, as a page or as Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.cli.options import add_root, add_shared, guarded
from benchgate.cli.say import complain, say
from benchgate.errors import EvalError, printable
from benchgate.options.kinds import whole

if TYPE_CHECKING:
    import argparse

ENTRY: Final = """
[[label]]
case = "{0}"
output = "{1}"
{2}
passed = ""  # true or false; or instead of it a score from 0.0 to 1.0
by = ""
at = {3:%Y-%m-%dT%H:%M:%SZ}
"""


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
        "--labels",
        type=whole(2).read,
        metavar="N",
        help="print N outputs to be labelled, half of them from the baseline",
    )
    add_root(parser)
    parser.set_defaults(execute=guarded(_execute))


def _execute(args: argparse.Namespace) -> int:
    """Write the page, or print the Markdown; 2 if a source cannot be read or the page not be written."""
    from benchgate.audit.runs import record_path
    from benchgate.report.html import write_page
    from benchgate.report.markdown import markdown_of

    if args.labels:
        return _sheet(args)
    paths = [record_path(word, args.out, args.task_class) for word in args.sources]
    if args.html is not None:
        write_page(paths, args.html)
        say(f"written   {args.html}")
    else:
        print(markdown_of(paths), end="")
    return 0


def _sheet(args: argparse.Namespace) -> int:
    """Print outputs without a label, half of a run and half of its baseline, and not which are whose."""
    from benchgate.artifacts.trial_kinds import TrialFile
    from benchgate.audit.runs import chosen, class_runs
    from benchgate.cassettes.manifest import FOLDER, MANIFEST
    from benchgate.gates.labels import read_labels
    from benchgate.loader.task_class import class_folder
    from benchgate.wire import canonical, clock

    run = chosen(args.out, class_runs(args.out, args.task_class), args.sources[0]).folder
    class_path = class_folder(args.bench_root, run.parent.name)
    pinned = class_path / FOLDER / "pinned"
    found: dict[tuple[str, str], tuple[bool, object]] = {}
    for path in (*run.glob("cases/*.json"), *pinned.glob("*.json")):
        if path.name != MANIFEST and path.name.count(".") == 1:
            file = TrialFile.read_file(path, "file of a trial")
            side = path.parent == pinned or "-baseline" in path.name
            if file.result.observed and file.result.score:
                key = file.case_id, file.result.observed.output
                found.setdefault(key, (side, file.output))
    new = found.keys() - {(one.case, one.output) for one in read_labels(class_path)}
    if not new:
        raise EvalError(f"{run}: it has no output that was observed, or each has a label")
    wanted = (args.labels - args.labels // 2, args.labels // 2)
    room = [*wanted]
    # Of one run always the same: nobody draws until the observer agrees.
    for key in sorted(new, key=lambda key: canonical.digest([run.name, *key])):
        side, output = found[key]
        room[side] -= 1
        if room[side] >= 0:
            lines = json.dumps(output, indent=1, ensure_ascii=False).splitlines()
            text = "\n".join(f"# {printable(line)}" for line in lines)
            print(ENTRY.format(*key, text, clock.now()), end="")
    _say_short("the run", wanted[0], room[0])
    _say_short("its baseline", wanted[1], room[1])
    return 0


def _say_short(side: str, wanted: int, left: int) -> None:
    """Say why a sheet has fewer outputs of a side than its half."""
    if left > 0:
        why = "it has no more that were observed and have no label"
        complain(f"{side} gave {wanted - left} outputs of {wanted}: {why}")
