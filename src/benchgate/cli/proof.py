"""``benchgate proof``: the gate on plain vectors, and its whole evidence or one report of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.cli.options import (
    add_policy,
    add_shared,
    guarded,
    policy_of,
    refuse,
    refuse_same,
)
from benchgate.cli.say import complain, say, show
from benchgate.wire import clock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from benchgate.artifacts.build import Evidence
    from benchgate.cli.options import Parsers
    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy
    from benchgate.training.checkpoints import Checkpoints
    from benchgate.wire.model import WireModel
    from benchgate.wording.lines import Line

SCORES = ("baseline_samples", "trained_samples")
HARM = ("baseline_safety_samples", "trained_safety_samples")
OF_PROOF = ("min_confidence_level", "checkpoint", "baseline_checkpoint", "lineage")
NEEDED = {"proof": SCORES, "safety": (*HARM, "out")}
REFUSED = {"proof": (), "safety": (*OF_PROOF, *SCORES)}
"""Options that a name of the command needs, and that it does not take; those of the others are alike."""

OF_HARM = ("safety", "max_safety_regression", "safety_confidence", "penalty_range")
"""Thresholds of the penalties, which alone count where no scores are compared."""


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
        text = f"harm of each {side} score, in the same forms; safety compares these alone"
        parser.add_argument(f"--{side}-safety-samples", type=Path, metavar="FILE", help=text)
    parser.add_argument("--run-id", required=True, metavar="ID", help="label of the comparison")
    for side, default in (("baseline", "baseline"), ("trained", "candidate")):
        text = f"name of the {default} (default: {default})"
        parser.add_argument(f"--{side}-id", default=default, metavar="ID", help=text)
    parser.add_argument(
        "--min-confidence-level", type=float, metavar="X", help="smallest 1 - p that passes"
    )
    add_shared(parser, "checkpoint", "baseline-checkpoint", "lineage")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="PATH",
        help="where to write: a folder (default: proof), or the file of the report",
    )
    add_policy(parser)
    parser.set_defaults(execute=guarded(_execute))


def _execute(args: argparse.Namespace) -> int:
    for name in NEEDED.get(args.command, (*SCORES, "out")):
        if getattr(args, name) is None:
            raise ValueError(f"{args.command} needs --{name.replace('_', '-')}")
    refuse(args, REFUSED.get(args.command, OF_PROOF), args.command)
    for first, second in (SCORES, HARM):
        baseline = getattr(args, first)
        candidate = getattr(args, second)
        if baseline and candidate:
            refuse_same(baseline, candidate)
    return COMMANDS[args.command](args)


def _proof(args: argparse.Namespace) -> int:
    from benchgate.artifacts.proof import evidence_files
    from benchgate.gates.decision import PREFIX
    from benchgate.training.checkpoints import CheckpointFiles, read_checkpoints
    from benchgate.verify.validate import validate_file
    from benchgate.wire.writing import make_folder, write_file
    from benchgate.wording.lines import Line

    checkpoints = CheckpointFiles(
        checkpoint=args.checkpoint, baseline=args.baseline_checkpoint, lineage=args.lineage
    )
    evidence = _evidence(args, read_checkpoints(checkpoints))
    files = evidence_files(evidence)
    folder = args.out or Path("proof")
    make_folder(folder)
    for name, data in files.items():
        write_file(folder / name, data)
    for name in files:
        validate_file(folder / name)
    lines = [*_gate_lines(evidence)]
    if f"{PREFIX}case_mismatch" not in evidence.decision.reason_codes:
        failed = evidence.criteria_failed()
        lines += (Line("criterion", f"{one.code}: {one.text}", "bad") for one in failed)
    show(lines, sys.stderr)
    say(f"proof_status={'pass' if evidence.proven else 'fail'}")
    return exit_status(evidence.decision, is_met=evidence.proven)


def _significance(args: argparse.Namespace) -> int:
    from benchgate.artifacts.build import significance_report

    evidence = _reported(args, significance_report)
    passed = evidence.figures.significance.passed
    say(f"significance_status={'pass' if passed else 'fail'}")
    return 0 if passed else 1


def _evaluate(args: argparse.Namespace) -> int:
    from benchgate.artifacts.build import evaluation_report

    decision = _reported(args, evaluation_report).decision
    say(f"evaluation_status={decision.outcome}")
    return exit_status(decision, is_met=decision.promotion_allowed)


def _reported(args: argparse.Namespace, report: Callable[[Evidence], WireModel]) -> Evidence:
    """Judge the vectors, write one report, and print the lines of the gate."""
    from benchgate.wire.writing import model_bytes, write_file

    evidence = _evidence(args)
    write_file(args.out, model_bytes(report(evidence)))
    show(_gate_lines(evidence), sys.stderr)
    return evidence


def _safety(args: argparse.Namespace) -> int:
    from benchgate.artifacts.build import safety_of
    from benchgate.wire.writing import model_bytes, write_file

    report = safety_of(_evidence(args))
    write_file(args.out, model_bytes(report))
    for code, text in zip(report.reason_codes, report.diagnostics, strict=False):
        complain(f"{code}: {text}")
    say(f"safety_status={'pass' if report.promotion_allowed else 'fail'}")
    return 0 if report.promotion_allowed else 1


COMMANDS: Final[Mapping[str, Callable[[argparse.Namespace], int]]] = {
    "proof": _proof,
    "significance": _significance,
    "evaluate": _evaluate,
    "safety": _safety,
}


def exit_status(decision: CheckpointPromotionDecision, *, is_met: bool) -> int:
    """Return 0 if all is met that was asked for, 10 if the gate holds for lack of evidence, else 1."""
    from benchgate.gates.decision import PREFIX
    from benchgate.gates.exit_status import HELD

    is_error = f"{PREFIX}checkpoint_mismatch" in decision.reason_codes
    return HELD if decision.outcome == "hold" and not is_error else int(not is_met)


def _evidence(args: argparse.Namespace, checkpoints: Checkpoints | None = None) -> Evidence:
    """
    Read the vectors, judge them, and return what the evidence files are built from.

    :param checkpoints: the checkpoints that the vectors were measured on, if they are known.
    :raises EvalError: :raises ValueError: an input or a threshold is wrong.
    """
    from benchgate.artifacts.build import Evidence
    from benchgate.gates.decide import decide
    from benchgate.gates.facts import VectorFacts
    from benchgate.interop.vectors import notes_on_files, read_side
    from benchgate.models import Suite

    policy, options = _policy(args), vars(args)
    sides: list[Arm] = []
    files: list[Path] = []
    for side in ("baseline", "trained"):
        harm = options[f"{side}_safety_samples"]
        scores = options[f"{side}_samples"] or harm  # safety compares the penalties alone
        files.append(scores)
        sides.append(read_side(scores, harm))
    names = args.baseline_id, args.trained_id
    if checkpoints is not None:
        baseline = checkpoints.baseline
        before = baseline.candidate.checkpoint_id if baseline else args.baseline_id
        names = before, checkpoints.candidate.checkpoint_id
    problems = checkpoints.problems if checkpoints else ()
    facts = VectorFacts(
        policy=policy,
        sides=(sides[0], sides[1]),
        checkpoint_problems=problems,
        noted=notes_on_files(*files),
    )
    return Evidence(
        run_id=args.run_id,
        candidate_run_id=None,
        suite=Suite(name="samples", version="unversioned"),
        generated_at=clock.stamp(),
        names=names,
        decided=decide(facts),
        min_confidence_level=args.min_confidence_level,
    )


def _policy(args: argparse.Namespace) -> GatePolicy:
    from benchgate.gates.policy import VECTOR_DEFAULTS, make_policy

    policy = policy_of(args, VECTOR_DEFAULTS)
    if args.command == "safety":
        if policy.missing == "worst":
            why = "--policy missing=worst counts scores; how much harm a missing case does is not known"
            raise ValueError(why)
        return make_policy({**VECTOR_DEFAULTS, **{key: getattr(policy, key) for key in OF_HARM}})
    if policy.looks != "count":
        why = f"looks = {policy.looks!r} needs a count, and {args.command} counts no looks"
        raise ValueError(f"{why}: compare with benchgate gate A B --ledger FILE")
    if policy.claim != "better" and args.min_confidence_level is not None:
        why = "--min-confidence-level is about the p of claim 'better'; the claim is"
        raise ValueError(f"{why} {policy.claim!r}")
    return policy


def _gate_lines(of: Evidence) -> Iterator[Line]:
    """Return what a session prints of its gate."""
    from benchgate.wording.block import Door, gate_lines
    from benchgate.wording.decision import DecisionView

    return gate_lines(DecisionView.of_decided(of.decided, of.names), Door())
