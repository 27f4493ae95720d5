"""What ``benchgate proof`` and the names of its parts compute, write and print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.cli.say import complain, say, show
from benchgate.cli.vectors import policy_of
from benchgate.wire import clock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from benchgate.artifacts.build import Comparison
    from benchgate.artifacts.evidence_kinds import SafetyReport
    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.vectors import Judged
    from benchgate.training.checkpoints import Checkpoints
    from benchgate.wording.lines import Line


def _proof(given: argparse.Namespace) -> int:
    from benchgate.artifacts.proof import evidence_files
    from benchgate.training.checkpoints import CheckpointFiles, read_checkpoints
    from benchgate.verify.validate import validate_file
    from benchgate.wire.writing import make_folder, write_file

    checkpoints = CheckpointFiles(
        checkpoint=given.checkpoint, baseline=given.baseline_checkpoint, lineage=given.lineage
    )
    made = _comparison(given, read_checkpoints(checkpoints))
    files = evidence_files(made)
    folder = given.out or Path("proof")
    make_folder(folder)
    for name, data in files.items():
        write_file(folder / name, data)
    for name in files:
        validate_file(folder / name)
    show(_lines(made, is_proof=True), sys.stderr)
    say(f"proof_status={'pass' if made.proven else 'fail'}")
    return _status(made, is_met=made.proven)


def _significance(given: argparse.Namespace) -> int:
    from benchgate.artifacts.build import significance_report
    from benchgate.wire.writing import model_bytes, write_file

    made = _comparison(given)
    write_file(given.out, model_bytes(significance_report(made)))
    passed = made.figures.significance.passed
    show(_lines(made), sys.stderr)
    say(f"significance_status={'pass' if passed else 'fail'}")
    return 0 if passed else 1


def _evaluate(given: argparse.Namespace) -> int:
    from benchgate.artifacts.build import evaluation_report
    from benchgate.wire.writing import model_bytes, write_file

    made = _comparison(given)
    write_file(given.out, model_bytes(evaluation_report(made)))
    show(_lines(made), sys.stderr)
    say(f"evaluation_status={made.decision.outcome}")
    return _status(made, is_met=made.decision.promotion_allowed)


def _safety(given: argparse.Namespace) -> int:
    from benchgate.wire.writing import model_bytes, write_file

    report = _safety_report(given)
    write_file(given.out, model_bytes(report))
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


def judge_samples(
    policy: GatePolicy, ledger: Path | None, sides: Iterable[Arm], problems: tuple[str, ...] = ()
) -> Judged:
    """
    Judge two vectors, and count the look in a ledger if there is one.

    :param problems: why the vectors are not evidence about the checkpoints that were named.
    """
    from benchgate.gates.vectors import compare_vectors
    from benchgate.looks.accept import number_of_arms
    from benchgate.looks.ledger import LookLedger

    before, after = sides
    look = number_of_arms(before, after, policy, LookLedger(ledger) if ledger else None)
    return compare_vectors(before, after, policy, look=look, checkpoint_problems=problems)


def _arms(given: argparse.Namespace) -> Iterator[Arm]:
    """
    Read both sides.

    :raises SampleError: a file cannot be used. :raises ValueError: penalties that do not belong to the scores.
    """
    from benchgate.interop.vectors import arm_of, read_vector

    options = vars(given)
    for side in ("baseline", "trained"):
        path = options[f"{side}_safety_samples"]
        penalties = read_vector(path) if path else options[f"{side}_safety_penalty"]
        yield arm_of(read_vector(options[f"{side}_samples"]), penalties)


def _comparison(given: argparse.Namespace, checkpoints: Checkpoints | None = None) -> Comparison:
    """
    Read the vectors, judge them, and return the comparison that the evidence files are built from.

    :param checkpoints: the checkpoints that the vectors were measured on, if they are known.
    :raises EvalError: :raises ValueError: an input or a threshold is wrong.
    """
    from benchgate.artifacts.build import Comparison
    from benchgate.gates.policy import VECTOR_DEFAULTS
    from benchgate.models import Suite

    policy = policy_of(given, VECTOR_DEFAULTS)
    if policy.claim != "better" and given.min_confidence_level is not None:
        raise ValueError(
            f"--min-confidence-level is about the p of claim 'better'; the claim is {policy.claim!r}"
        )
    problems = checkpoints.problems if checkpoints else ()
    made = judge_samples(policy, given.ledger, _arms(given), problems)
    return Comparison(
        run_id=given.run_id,
        candidate_run_id=None,
        suite=Suite(name="samples", version="unversioned"),
        generated_at=clock.stamp(),
        names=_names(given, checkpoints),
        policy=policy,
        figures=made.figures,
        decision=made.decision,
        min_confidence_level=given.min_confidence_level,
    )


def _names(given: argparse.Namespace, checkpoints: Checkpoints | None) -> tuple[str, str]:
    if checkpoints is None:
        return given.baseline_id, given.trained_id
    baseline = checkpoints.baseline
    return (
        baseline.candidate.checkpoint_id if baseline else given.baseline_id,
        checkpoints.candidate.checkpoint_id,
    )


def vector_lines(names: tuple[str, str], policy: GatePolicy, made: Judged) -> Iterator[Line]:
    """Yield what a session prints of its gate."""
    from benchgate.gates.reason_codes import PREFIX
    from benchgate.wording.block import gate_lines, side_lines
    from benchgate.wording.decision import DecisionView
    from benchgate.wording.lines import Line

    decision, figures = made.decision, made.figures
    before, after = figures.baseline.case_ids, figures.candidate.case_ids
    mismatched = f"{PREFIX}case_mismatch" in decision.reason_codes
    if mismatched and before and after and {*before} != {*after}:
        keys = "--policy missing=worst --policy 'score_range=[LO, HI]'"
        step = f"run the missing cases, or count each as the worst: {keys}"
        decision = decision.model_copy(update={"next_step": step})
    yield from side_lines(names, figures)
    yield Line("", "")
    yield from gate_lines(DecisionView.of(decision, policy, names, figures))


def _lines(made: Comparison, *, is_proof: bool = False) -> Iterator[Line]:
    """Yield the lines of the gate, and the criteria of a proof that are not met."""
    from benchgate.gates.reason_codes import PREFIX
    from benchgate.gates.vectors import Judged
    from benchgate.wording.lines import Line

    yield from vector_lines(made.names, made.policy, Judged(made.figures, made.decision))
    if is_proof and f"{PREFIX}case_mismatch" not in made.decision.reason_codes:
        for remark in made.criteria_failed():
            yield Line("criterion", f"{remark.code}: {remark.message}", "bad")


def _status(made: Comparison, *, is_met: bool) -> int:
    from benchgate.gates.exit_status import HELD
    from benchgate.gates.reason_codes import PREFIX

    is_error = f"{PREFIX}checkpoint_mismatch" in made.decision.reason_codes
    return HELD if made.decision.outcome == "hold" and not is_error else int(not is_met)


def _safety_report(given: argparse.Namespace) -> SafetyReport:
    """Compare two vectors of penalties alone, without scores."""
    from benchgate.artifacts.build import safety_report
    from benchgate.gates.decide import safety_objections
    from benchgate.gates.decision import Remark
    from benchgate.gates.missing import mismatch
    from benchgate.gates.policy import VECTOR_DEFAULTS
    from benchgate.gates.reason_codes import PREFIX
    from benchgate.gates.safety import safety
    from benchgate.interop.vectors import arm_of, read_vector

    policy = policy_of(given, VECTOR_DEFAULTS)
    if policy.missing == "worst":
        msg = "--policy missing=worst counts scores; what a missing penalty was is not known"
        raise ValueError(msg)
    paths = (given.baseline_safety_samples, given.trained_safety_samples)
    vectors = [read_vector(path) for path in paths]
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
