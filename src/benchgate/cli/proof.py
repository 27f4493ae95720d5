"""``benchgate proof``: the gate on plain vectors, and its whole evidence or one report of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.proof_parts import COMMANDS
from benchgate.cli.vectors import add_ledger, add_policy, guarded

if TYPE_CHECKING:
    import argparse

    from benchgate.cli.vectors import Parsers

SCORES = ("baseline_samples", "trained_samples")
HARM = ("baseline_safety_samples", "trained_safety_samples")
OF_PROOF = ("min_confidence_level", "checkpoint", "baseline_checkpoint", "lineage")
OF_SCORES = (*SCORES, "baseline_safety_penalty", "trained_safety_penalty", "ledger")
NEEDED = {"proof": SCORES, "safety": (*HARM, "out")}
REFUSED = {"proof": (), "safety": (*OF_PROOF, *OF_SCORES)}
"""Options that a name of the command needs, and that it does not take; those of the others are alike."""


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command, and the names of its parts."""
    parser = commands.add_parser(
        "proof",
        aliases=[name for name in COMMANDS if name != "proof"],
        help="compare two sample vectors and write the evidence: all of it, or the report of that name",
        description="proof writes baseline, trained, significance, safety, evaluation and proof.json into a folder, "
        "also if the proof fails; significance, safety and evaluate write their report into a file. Exits with 0 if "
        "the gate says promote and all criteria are met, with 10 if it holds, else with 1; significance and safety "
        "with 0 if the test is passed and the rise is allowed.",
    )
    for side in ("baseline", "trained"):
        forms = "JSON array, JSON object {case_id: number}, CSV case,score[,trial][,cluster], or baseline.json"
        parser.add_argument(f"--{side}-samples", type=Path, metavar="FILE", help=forms)
        group = parser.add_mutually_exclusive_group()
        text = (
            f"safety penalty of each {side} score, in the same forms; safety compares these alone"
        )
        group.add_argument(f"--{side}-safety-samples", type=Path, metavar="FILE", help=text)
        group.add_argument(
            f"--{side}-safety-penalty", type=float, metavar="X", help="or their mean"
        )
    add_ledger(parser)
    parser.add_argument("--run-id", required=True, metavar="ID", help="label of the comparison")
    for side, default in (("baseline", "baseline"), ("trained", "candidate")):
        text = f"name of the {default} (default: {default})"
        parser.add_argument(f"--{side}-id", default=default, metavar="ID", help=text)
    parser.add_argument(
        "--min-confidence-level", type=float, metavar="X", help="smallest 1 - p that passes"
    )
    for name in ("checkpoint", "baseline-checkpoint", "lineage"):
        parser.add_argument(
            f"--{name}", type=Path, metavar="FILE", help=f"as --bench-{name} of pytest"
        )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="PATH",
        help="where to write: a folder (default: proof), or the file of the report",
    )
    add_policy(parser)
    parser.set_defaults(execute=guarded(_execute))


def _execute(given: argparse.Namespace) -> int:
    for names, is_needed in (
        (NEEDED.get(given.command, (*SCORES, "out")), True),
        (REFUSED.get(given.command, OF_PROOF), False),
    ):
        for name in names:
            if (getattr(given, name) is None) is is_needed:
                verb = "needs" if is_needed else "does not take"
                raise ValueError(f"{given.command} {verb} --{name.replace('_', '-')}")
    return COMMANDS[given.command](given)
