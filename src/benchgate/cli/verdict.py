"""``benchgate verdict --task-class CLASS --target-tier TIER``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.bench_code import add_bench, bench_code
from benchgate.cli.options import guarded
from benchgate.cli.say import say
from benchgate.errors import ArtifactError, TaskClassNotFound

if TYPE_CHECKING:
    import argparse

    from benchgate.cli.options import Parsers
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
    parser.add_argument("--out", type=Path, default=Path(".benchgate"), metavar="DIR")
    add_bench(parser)
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.set_defaults(execute=guarded(_execute, (ArtifactError, TaskClassNotFound)))


def _execute(args: argparse.Namespace) -> int:
    """Print the verdict; 0 if a person may follow it, 1 if not or there is no readable record, 2 for wrong use."""
    with bench_code(args) as out:
        verdict, outcome = _verdict(args)
        if args.json:
            print(
                json.dumps({**verdict.model_dump(mode="json"), "decision": outcome}, indent=2),
                file=out,
            )
        else:
            for line in _text(verdict, outcome):
                say(line, out)
    # Nobody is to promote a class on a run that was itself held or rejected.
    return 0 if verdict.invites(outcome) or verdict.recommendation == "keep" else 1


def _verdict(args: argparse.Namespace) -> tuple[PromotionVerdict, str]:
    """Return the verdict, and the outcome of the run's own decision: one by other rules is none to promote on."""
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.audit.walk import chain_faults
    from benchgate.gates.rules import not_computed
    from benchgate.loader.imports import bench_package
    from benchgate.loader.task_class import load_task_class
    from benchgate.promotion.tiers import TIER_FILE, TierConfig
    from benchgate.promotion.verdict import PromotionGate
    from benchgate.registry import TaskClassRegistry
    from benchgate.verify.recheck_record import recheck_record

    root = args.bench_root.resolve()
    tiers = TierConfig.read(root.parent / TIER_FILE)
    with bench_package(root):
        task_class = load_task_class(root, args.task_class, TaskClassRegistry())
    path = _newest(args.out, args.task_class)
    record = RunRecord.read_file(path, "record of a run")
    folder = path.parent
    verdict = PromotionGate(tiers).evaluate(
        args.task_class,
        tiers.tier_of(args.task_class),
        record.report,
        target_tier=args.target_tier,
        min_cases=task_class.min_cases_for_promotion,
        chain_intact=not chain_faults(folder.parent) and not any(recheck_record(folder, record)),
    )
    outcome: str = record.decision.outcome
    why = not_computed(record.rules)
    if why is not None:
        outcome = f"{outcome}, {why}"
    return verdict, outcome


def _newest(out: Path, task_class: str) -> Path:
    from benchgate.audit.chain import RECORD_FILE, numbered
    from benchgate.wire.writing import artifact_errors

    runs = out / "runs" / task_class
    with artifact_errors(runs, "read"):
        newest = max(numbered(runs), default=None) if os.path.isdir(runs) else None
    if newest is None:
        raise ArtifactError(runs, "there is no record; run the class")
    return newest[1] / RECORD_FILE


def _text(verdict: PromotionVerdict, outcome: str) -> list[str]:
    from benchgate.promotion.tiers import TIER_FILE
    from benchgate.promotion.verdict import promotion_lines
    from benchgate.wording import recommendation

    current, target = verdict.current_tier, verdict.target_tier
    question = f"{current}, still" if current == target else f"{current} to {target}"
    lines = [f"{verdict.task_class}: {question}: {recommendation(verdict, outcome)}"]
    lines += [f"  {reason}" for reason in verdict.reasons]
    lines.append(f"  decision of the run: {outcome}")
    if verdict.invites(outcome) or verdict.recommendation == "demote":
        lines += [f"A person decides. To follow this, merge into {TIER_FILE}:", ""]
        lines += [f"    {line}" for line in promotion_lines(verdict).splitlines()]
    return lines
