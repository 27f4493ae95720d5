"""``benchgate pin RUN``: makes a run the baseline of its class, when a person says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.options import guarded
from benchgate.cli.say import complain, say, show
from benchgate.wire.argument_types import run_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.cli.options import Parsers
    from benchgate.wording.lines import Line


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "pin",
        help="make a run the baseline that later runs must beat; without --yes, show what would change",
        description="Compares a complete and verified run with bench/CLASS/baseline.json, and with --yes writes its "
        "record there.",
    )
    parser.add_argument(
        "run", type=run_name, metavar="RUN", help="number or folder, as benchgate runs lists them"
    )
    parser.add_argument(
        "--task-class", metavar="CLASS", help="needed if several classes have a run of this number"
    )
    parser.add_argument("--out", type=Path, default=Path(".benchgate"), metavar="DIR")
    parser.add_argument("--bench-root", type=Path, default=Path("bench"), metavar="DIR")
    parser.add_argument("--yes", action="store_true", help="write baseline.json")
    parser.set_defaults(execute=guarded(_execute))


def _execute(given: argparse.Namespace) -> int:
    """Show or pin; 1 if the run must not be pinned or its class is unknown."""
    from benchgate.artifacts.reading import read_artifact
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.audit.chain import RECORD_FILE
    from benchgate.audit.runs import chosen, class_runs
    from benchgate.errors import TaskClassNotFound, brief
    from benchgate.gates.baseline import FILE_NAME
    from benchgate.loader.task_class import class_folders
    from benchgate.verify.pinnable import objections

    run = chosen(given.out, class_runs(given.out, given.task_class), given.run)
    name, known = run.folder.parent.name, class_folders(given.bench_root)
    if name not in known:
        raise TaskClassNotFound(name, known, given.bench_root / name / "registration.py")
    found = list(objections(given.out, run, known[name]))
    for line in brief(found).splitlines():
        complain(line)
    if found or run.record is None:
        return 1
    target = known[name] / FILE_NAME
    show(_changes(target, read_artifact(target, RunRecord), run.record))
    _write(run.folder / RECORD_FILE, target, confirmed=given.yes)
    return 0


def _changes(target: Path, before: RunRecord | None, after: RunRecord) -> Iterator[Line]:
    from benchgate.gates.run_diff import changes
    from benchgate.wording.block import change_lines
    from benchgate.wording.lines import Line

    if before is not None:
        yield from _figures("pinned", before)
    elif target.exists():
        yield Line("pinned", f"{target} is no record that can be read")
    else:
        yield Line("pinned", "no baseline is pinned yet")
    yield from _figures("new", after)
    if before is None:
        return
    yield from change_lines(changes(before.report, after.report))
    old, new = before.report.digests, after.report.digests
    for part in ("rubric", "scorer", "taxonomy", "policy"):
        then, now = getattr(old, part), getattr(new, part)
        if then != now:
            yield Line(None, f"{part} changed: {then[:12]}, now {now[:12]}")


def _figures(title: str, record: RunRecord) -> Iterator[Line]:
    from benchgate.wording.lines import Line

    report, bound = record.report, record.report.score_lower_bound_95
    at_least = "" if bound is None else f" (95 % lower bound {bound:.3f})"
    said = record.decision.outcome if record.decision else "not evaluated"
    yield Line(
        title,
        f"{report.system}: passed {report.passed_count} of {report.case_count}, "
        f"mean score {report.mean_score:.3f}{at_least}",
    )
    yield Line(
        "", f"{record.finished_at:%Y-%m-%d %H:%M} UTC, run {report.run_id[:16]}, gate {said}"
    )


def _write(record: Path, target: Path, *, confirmed: bool) -> None:
    from benchgate.wire.files import read_bytes
    from benchgate.wire.parsing import MAX_JSON_BYTES
    from benchgate.wire.writing import write_file

    data = read_bytes(record, limit=MAX_JSON_BYTES)
    if target.exists() and read_bytes(target, limit=MAX_JSON_BYTES) == data:
        say(f"unchanged {target} is this record already")
    elif confirmed:
        write_file(target, data)
        say(f"written   {target}")
    else:
        say(f"{target} is not written; with --yes it is")
