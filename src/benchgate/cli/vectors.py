"""What the evidence commands share: options for vectors, labels and thresholds, and how they are read."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from benchgate.cli.policy_help import POLICY_HELP, RANGE_HELP
from benchgate.cli.say import complain
from benchgate.wire import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.artifacts.build import Comparison
    from benchgate.gates.figures import Arm
    from benchgate.gates.policy import GatePolicy
    from benchgate.training.checkpoints import Checkpoints

Parsers = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for it

POLICY_OPTIONS: Final = {
    "claim": str,
    "margin": float,
    "tolerance": float,
    "max_newly_failing": int,
    "max_cost_increase": float,
    "max_duration_increase": float,
    "alpha": float,
    "test": str,
    "min_delta": float,
    "min_cases": int,
    "max_safety_regression": float,
    "safety": str,
    "safety_confidence": float,
    "bands": str,
    "target_effect": float,
    "power": float,
    "evidence": str,
    "band_level": float,
    "n_resamples": int,
    "seed": int,
    "missing": str,
    "looks": str,
}


def add_samples(parser: argparse.ArgumentParser) -> None:
    """Declare the options that name the two vectors."""
    for side in ("baseline", "trained"):
        parser.add_argument(
            f"--{side}-samples",
            type=Path,
            required=True,
            metavar="FILE",
            help="JSON array, JSON object {case_id: number}, CSV case,score[,trial][,cluster], or baseline.json",
        )


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Declare the file that the looks at a baseline are counted in."""
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="count how often the baseline was looked at in this file, which is made if it is not there",
    )


def add_safety(parser: argparse.ArgumentParser) -> None:
    """Declare the options for safety penalties: a vector or one mean for each side."""
    for side in ("baseline", "trained"):
        group = parser.add_mutually_exclusive_group()
        group.add_argument(
            f"--{side}-safety-samples",
            type=Path,
            metavar="FILE",
            help=f"safety penalty of each {side} score, in the same forms",
        )
        group.add_argument(
            f"--{side}-safety-penalty", type=float, metavar="X", help="or their mean"
        )


def add_label(parser: argparse.ArgumentParser) -> None:
    """Declare the labels of the comparison."""
    parser.add_argument("--run-id", required=True, metavar="ID", help="label of the comparison")
    for name, metavar, default, what in (
        ("baseline-id", "ID", "baseline", "name of the baseline"),
        ("trained-id", "ID", "candidate", "name of the candidate"),
    ):
        text = f"{what} (default: {default})"
        parser.add_argument(f"--{name}", default=default, metavar=metavar, help=text)


def add_policy(
    parser: argparse.ArgumentParser, own: Mapping[str, str] = MappingProxyType({})
) -> None:
    """
    Declare the thresholds: a gate.toml, and an option for each of its keys, which takes precedence.

    :param own: help texts by key, where a command has others.
    """
    group = parser.add_argument_group("thresholds, see the reference of the gate policy")
    group.add_argument(
        "--policy",
        type=Path,
        metavar="gate.toml",
        help="thresholds from a file, with a bench's defaults",
    )
    for key, kind in POLICY_OPTIONS.items():
        names = [f"--{key.replace('_', '-')}"]
        names += {"min_delta": ["--min-reward-delta"], "alpha": ["--max-p-value"]}.get(key, [])
        metavar, text = POLICY_HELP[key]
        text = own.get(key, text)
        group.add_argument(*names, dest=f"policy_{key}", type=kind, metavar=metavar, help=text)
    for key, text in RANGE_HELP.items():
        name, ends = f"--{key.replace('_', '-')}", ("LO", "HI")
        group.add_argument(
            name, dest=f"policy_{key}", type=float, nargs=2, metavar=ends, help=own.get(key, text)
        )


def policy_of(given: argparse.Namespace, defaults: Mapping[str, Any] | None = None) -> GatePolicy:
    """
    Return the policy: from the defaults or the file, with the options over it.

    :param defaults: by default those of vectors.
    :raises PolicyError: the file or a value is wrong.
    """
    from benchgate.gates.policy import make_policy, merged, read_policy
    from benchgate.gates.vectors import VECTOR_DEFAULTS

    options = {
        key.removeprefix("policy_"): value
        for key, value in vars(given).items()
        if key.startswith("policy_") and value is not None
    }
    if given.policy is None:
        table = VECTOR_DEFAULTS if defaults is None else defaults
        return make_policy({**table, **options}, "option")
    # What a bench's gate.toml leaves out has the defaults of a bench, as in the bench's own runs.
    told = ", ".join(f"{key}={value}" for key, value in options.items())
    source = f"{given.policy} with {told}" if told else str(given.policy)
    return make_policy(merged(read_policy(given.policy), options), source)


def arms_of(given: argparse.Namespace) -> tuple[Arm, Arm]:
    """
    Read both sides.

    :raises SampleError: a file cannot be used. :raises ValueError: penalties that do not belong to the scores.
    """
    return _arm(given, "baseline"), _arm(given, "trained")


def _arm(given: argparse.Namespace, side: str) -> Arm:
    from benchgate.artifacts.samples import arm_of, read_samples

    options: dict[str, Any] = vars(given)
    path = options.get(f"{side}_safety_samples")
    penalties = read_samples(path) if path else options.get(f"{side}_safety_penalty")
    return arm_of(read_samples(options[f"{side}_samples"]), penalties)


def comparison_of(given: argparse.Namespace, checkpoints: Checkpoints | None = None) -> Comparison:
    """
    Read the vectors, judge them, and return the comparison that the evidence files are built from.

    :param checkpoints: the checkpoints that the vectors were measured on, if they are known.
    :raises EvalError: :raises ValueError: an input or a threshold is wrong.
    """
    from benchgate.artifacts.build import Comparison
    from benchgate.gates.vectors import compare_vectors
    from benchgate.looks.accept import number_of_arms
    from benchgate.looks.ledger import LookLedger
    from benchgate.models import Suite

    policy, arms = policy_of(given), arms_of(given)
    if policy.claim != "better" and getattr(given, "min_confidence_level", None) is not None:
        raise ValueError(
            f"--min-confidence-level is about the p of claim 'better'; the claim is {policy.claim!r}"
        )
    look = number_of_arms(*arms, policy, given.ledger and LookLedger(given.ledger))
    problems = checkpoints.problems if checkpoints else ()
    made = compare_vectors(*arms, policy, look=look, checkpoint_problems=problems)
    return Comparison(
        run_id=given.run_id,
        candidate_run_id=None,
        suite=Suite(name="samples", version="unversioned"),
        generated_at=clock.stamp(),
        names=_names(given, checkpoints),
        policy=policy,
        figures=made.figures,
        decision=made.decision,
        min_confidence_level=getattr(given, "min_confidence_level", None),
    )


def _names(given: argparse.Namespace, checkpoints: Checkpoints | None) -> tuple[str, str]:
    if checkpoints is None:
        return given.baseline_id, given.trained_id
    baseline = checkpoints.baseline
    return (
        baseline.checkpoint_id if baseline else given.baseline_id,
        checkpoints.candidate.checkpoint_id,
    )


def guarded(execute: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Turn wrong input into one line on stderr and exit status 2, 1 for an unknown class; nothing was written then."""

    def run(given: argparse.Namespace) -> int:
        from benchgate.errors import EvalError, TaskClassNotFound

        try:
            return execute(given)
        except (EvalError, ValueError) as error:
            complain(error)
            return 1 if isinstance(error, TaskClassNotFound) else 2

    return run
