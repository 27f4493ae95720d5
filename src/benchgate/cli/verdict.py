"""``benchgate verdict --task-class CLASS --target-tier TIER``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.bench_code import add_bench, bench_code

if TYPE_CHECKING:
    import argparse

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.cli.vectors import Parsers
    from benchgate.promotion.verdict import PromotionVerdict

TIER_NAMES = ("bronze", "silver", "gold", "platinum")


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "verdict",
        help="say whether a recorded run is evidence enough for a trust tier",
        description="Changes nothing: a person promotes, by editing the file of tiers. With the current tier as "
        "target it says whether the class still deserves it.",
    )
    parser.add_argument("--task-class", required=True, metavar="CLASS")
    parser.add_argument("--target-tier", required=True, choices=TIER_NAMES, metavar="TIER")
    parser.add_argument(
        "--report", type=Path, metavar="RECORD", help="a record.json (default: the newest in --out)"
    )
    parser.add_argument("--out", type=Path, default=Path(".benchgate"), metavar="DIR")
    add_bench(parser)
    parser.add_argument("--tiers", type=Path, metavar="FILE", help="default: docs/trust-tiers.toml")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.set_defaults(execute=execute)


def execute(given: argparse.Namespace) -> int:
    """Print the verdict; 0 if the evidence suffices, 1 if not or there is no readable record, 2 for wrong use."""
    from benchgate.errors import ArtifactError, EvalError, TaskClassNotFound

    try:
        with bench_code(given) as out:
            verdict = _verdict(given)
            print(verdict.model_dump_json(indent=2) if given.json else _text(verdict), file=out)
    except (ArtifactError, TaskClassNotFound) as error:
        print(error, file=sys.stderr)
        return 1
    except EvalError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if verdict.sufficient else 1


def _verdict(given: argparse.Namespace) -> PromotionVerdict:
    from benchgate.promotion.tiers import TIER_FILE, TierConfig
    from benchgate.promotion.verdict import PromotionGate

    tiers = TierConfig.read(given.tiers or given.bench_root.resolve().parent / TIER_FILE)
    asked = _min_cases(given)
    path = given.report or _newest(given.out, given.task_class)
    record = _record(path)
    return PromotionGate(tiers).evaluate(
        given.task_class,
        tiers.tier_of(given.task_class),
        record.report,
        target_tier=given.target_tier,
        min_cases=asked,
        chain_intact=_chain_intact(path, record),
    )


def _min_cases(given: argparse.Namespace) -> dict[str, int]:
    from benchgate.loader.imports import bench_package
    from benchgate.loader.task_class import load_task_class
    from benchgate.registry import TaskClassRegistry

    root = given.bench_root.resolve()
    with bench_package(root):
        found = load_task_class(root, given.task_class, TaskClassRegistry())
    return dict(found.min_cases_for_promotion)


def _newest(out: Path, task_class: str) -> Path:
    from benchgate.audit.chain import RECORD_FILE, numbered
    from benchgate.errors import ArtifactError

    runs = out / "runs" / task_class
    try:
        found = numbered(runs) if runs.is_dir() else []
    except OSError as error:
        raise ArtifactError(runs, f"cannot be read: {error.strerror}") from error
    if not found:
        raise ArtifactError(runs, "there is no record; run the class, or name one with --report")
    return found[-1][1] / RECORD_FILE


def _record(path: Path) -> RunRecord:
    from benchgate.artifacts.run_kinds import RunRecord

    return RunRecord.read_file(path, "record of a run")


def _chain_intact(path: Path, record: RunRecord) -> bool:
    """Whether the record is in its place in a valid chain and agrees with its recomputation."""
    from benchgate.audit.chain import numbered
    from benchgate.audit.walk import chain_faults
    from benchgate.verify.recheck_record import recheck_record

    folder = path.resolve().parent
    here = (record.seq, folder) in numbered(folder.parent)
    return here and not chain_faults(folder.parent) and not any(recheck_record(folder, record))


def _text(verdict: PromotionVerdict) -> str:
    from benchgate.promotion.tiers import TIER_FILE
    from benchgate.promotion.verdict import promotion_lines

    current, target = verdict.current_tier, verdict.target_tier
    question = f"{current}, still" if current == target else f"{current} to {target}"
    lines = [f"{verdict.task_class}: {question}: {verdict.recommendation}"]
    lines += [f"  {reason}" for reason in verdict.reasons]
    if verdict.recommendation in {"promote", "demote"}:
        lines += [f"A person decides. To follow this, merge into {TIER_FILE}:", ""]
        lines += [f"    {line}" for line in promotion_lines(verdict).splitlines()]
    return "\n".join(lines)
