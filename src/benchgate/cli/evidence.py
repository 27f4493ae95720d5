"""``benchgate proof``, ``significance``, ``safety`` and ``evaluate``: the gate on plain vectors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.cli.say import complain, say, show
from benchgate.cli.vectors import (
    add_label,
    add_ledger,
    add_policy,
    add_safety,
    add_samples,
    comparison_of,
    guarded,
    policy_of,
)
from benchgate.wire import clock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from benchgate.artifacts.build import Comparison
    from benchgate.artifacts.evidence_kinds import SafetyReport
    from benchgate.cli.vectors import Parsers
    from benchgate.training.checkpoints import Checkpoints
    from benchgate.wording.lines import Line


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the commands."""
    proof = commands.add_parser(
        "proof",
        help="compare two sample vectors and write the whole evidence family",
        description="Writes baseline, trained, significance, safety, evaluation and proof.json, "
        "also if the proof fails. Exits with 0 if the gate says promote and all criteria are met, with 10 if it "
        "holds, else with 1.",
    )
    add_samples(proof)
    add_safety(proof)
    add_ledger(proof)
    add_label(proof)
    proof.add_argument(
        "--min-confidence-level", type=float, metavar="X", help="smallest 1 - p that passes"
    )
    for name in ("checkpoint", "baseline-checkpoint", "lineage"):
        proof.add_argument(
            f"--{name}",
            type=Path,
            metavar="FILE",
            help=f"as --bench-{name} of pytest",
        )
    proof.add_argument(
        "--output-dir",
        type=Path,
        default=Path("proof"),
        metavar="DIR",
        help="where to write the evidence (default: proof)",
    )
    add_policy(proof)
    proof.set_defaults(execute=guarded(_proof))

    for name, execute, text in (
        (
            "significance",
            _significance,
            "test two sample vectors; exits with 0 if the test is passed",
        ),
        (
            "evaluate",
            _evaluate,
            "evaluate two sample vectors; exits with 0 if promotion is allowed",
        ),
    ):
        parser = commands.add_parser(name, help=text)
        add_samples(parser)
        add_safety(parser)
        add_ledger(parser)
        _add_report(parser)
        if name == "evaluate":
            parser.add_argument(
                "--rollback",
                action="store_true",
                help="judge what runs now (trained) against what it replaced (baseline); both may be a record.json; "
                "exits with 1 if it must be taken back, with 10 if that cannot be judged",
            )
        parser.set_defaults(execute=guarded(execute))

    safety = commands.add_parser(
        "safety",
        help="compare two vectors of safety penalties; exits with 0 if the rise is allowed",
    )
    for side in ("baseline", "trained"):
        safety.add_argument(
            f"--{side}-safety-samples",
            dest=f"{side}_samples",
            type=Path,
            required=True,
            metavar="FILE",
            help=f"safety penalties of the {side} side",
        )
    _add_report(safety)
    safety.set_defaults(execute=guarded(_safety))


def _add_report(parser: argparse.ArgumentParser) -> None:
    add_label(parser)
    parser.add_argument(
        "--output-report",
        type=Path,
        required=True,
        metavar="FILE",
        help="where to write the report",
    )
    add_policy(parser)


def _proof(given: argparse.Namespace) -> int:
    from benchgate.artifacts.proof import evidence_files
    from benchgate.verify.validate import validate_file
    from benchgate.wire.writing import make_folder, write_file

    made = comparison_of(given, _checkpoints(given))
    files = evidence_files(made)
    make_folder(given.output_dir)
    for name, data in files.items():
        write_file(given.output_dir / name, data)
    for name in files:
        validate_file(given.output_dir / name)
    show(_lines(made, is_proof=True), sys.stderr)
    say(f"proof_status={'pass' if made.proven else 'fail'}")
    return _status(made, is_met=made.proven)


def _checkpoints(given: argparse.Namespace) -> Checkpoints | None:
    from benchgate.training.checkpoints import CheckpointFiles, read_checkpoints

    return read_checkpoints(
        CheckpointFiles(
            checkpoint=given.checkpoint, baseline=given.baseline_checkpoint, lineage=given.lineage
        )
    )


def _lines(made: Comparison, *, is_proof: bool = False) -> Iterator[Line]:
    """Yield what a session prints of its gate, and the criteria of a proof that are not met."""
    from benchgate.gates.reason_codes import PREFIX
    from benchgate.wording.block import gate_lines, side_lines
    from benchgate.wording.decision import DecisionView
    from benchgate.wording.lines import Line

    decision, figures = made.decision, made.figures
    mismatched = f"{PREFIX}case_mismatch" in decision.reason_codes
    before, after = figures.baseline.case_ids, figures.candidate.case_ids
    if mismatched and before and after and {*before} != {*after}:
        step = (
            "run the missing cases, or count each as the worst: --missing worst --score-range LO HI"
        )
        decision = decision.model_copy(update={"next_step": step})
    yield from side_lines(made.names, figures)
    yield Line("", "")
    yield from gate_lines(DecisionView.of(decision, made.policy, made.names, figures))
    if is_proof and not mismatched:
        for remark in made.criteria_failed():
            yield Line("criterion", f"{remark.code}: {remark.message}", "bad")


def _status(made: Comparison, *, is_met: bool) -> int:
    from benchgate.gates.exit_status import HELD
    from benchgate.gates.reason_codes import PREFIX

    is_error = f"{PREFIX}checkpoint_mismatch" in made.decision.reason_codes
    return HELD if made.decision.outcome == "hold" and not is_error else int(not is_met)


def _significance(given: argparse.Namespace) -> int:
    from benchgate.artifacts.build import significance_report
    from benchgate.wire.writing import model_bytes, write_file

    made = comparison_of(given)
    write_file(given.output_report, model_bytes(significance_report(made)))
    figures = made.figures.significance
    show(_lines(made), sys.stderr)
    say(f"significance_status={'pass' if figures.passed else 'fail'}")
    return 0 if figures.passed else 1


def _evaluate(given: argparse.Namespace) -> int:
    from benchgate.artifacts.build import evaluation_report
    from benchgate.wire.writing import model_bytes, write_file

    if given.rollback:
        from benchgate.cli.rollback import judge_rollback

        return judge_rollback(given)
    made = comparison_of(given)
    write_file(given.output_report, model_bytes(evaluation_report(made)))
    show(_lines(made), sys.stderr)
    say(f"evaluation_status={made.decision.outcome}")
    return _status(made, is_met=made.decision.promotion_allowed)


def _safety(given: argparse.Namespace) -> int:
    from benchgate.wire.writing import model_bytes, write_file

    report = _safety_report(given)
    write_file(given.output_report, model_bytes(report))
    for code, text in zip(report.reason_codes, report.diagnostics, strict=False):
        complain(f"{code}: {text}")
    say(f"safety_status={'pass' if report.promotion_allowed else 'fail'}")
    return 0 if report.promotion_allowed else 1


def _safety_report(given: argparse.Namespace) -> SafetyReport:
    """Compare two vectors of penalties alone, without scores."""
    from benchgate.artifacts.build import safety_report
    from benchgate.artifacts.samples import arm_of, read_samples
    from benchgate.gates.decide import safety_objections
    from benchgate.gates.decision import Remark
    from benchgate.gates.missing import mismatch
    from benchgate.gates.reason_codes import PREFIX
    from benchgate.gates.safety import safety

    policy = policy_of(given)
    if given.policy_missing == "worst":
        msg = "--missing=worst counts scores; what a missing penalty was is not known"
        raise ValueError(msg)
    vectors = [read_samples(path) for path in (given.baseline_samples, given.trained_samples)]
    before, after = (arm_of(vector, vector) for vector in vectors)
    differing = mismatch(before, after)
    figures = safety(before, after, policy)
    objections = (
        [("case_mismatch", f"the sides have different cases; {differing}")]
        if differing
        else safety_objections(figures, policy, after.labels)
    )
    return safety_report(
        run_id=given.run_id,
        generated_at=clock.stamp(),
        sample_count=len(vectors[1].values),
        figures=figures,
        max_safety_regression=policy.max_safety_regression,
        objections=tuple(Remark(code=PREFIX + code, message=text) for code, text in objections),
    )
