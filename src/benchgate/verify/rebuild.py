"""Recomputes the evidence files of a comparison from the two arms and the policy in their folder."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.artifacts.build import Comparison
from benchgate.artifacts.evidence_kinds import ArmReport, SignificanceReport
from benchgate.artifacts.reading import read_artifact
from benchgate.gates.decide import decide
from benchgate.gates.decision import GateInput
from benchgate.gates.figures import Arm, Figures
from benchgate.gates.looks import judged_at, number_of
from benchgate.gates.reason_codes import PREFIX, Blocker
from benchgate.gates.vectors import weigh_arms
from benchgate.models import Suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.gates.policy import GatePolicy


GATE: Final = "gate:"
OF_THE_RUN: Final = (
    "incomplete_run",
    "too_many_unscored",
    "baseline_missing",
    "baseline_mismatch",
    "plan_mismatch",
    "checkpoint_mismatch",
    "block_severity_failure_mode",
    GATE,
)
"""Reasons that follow from a run and not from its two arms, so that they cannot be recomputed from these."""


class Family(NamedTuple):
    """What evidence files are computed from: policy, look, figures, and what kept the arms from being compared."""

    policy: GatePolicy
    look: int | None
    figures: Figures
    blockers: tuple[Blocker, ...]


def family_in(folder: Path) -> Family | None:
    """
    Compare the arms in a folder under the policy in it.

    :returns: ``None`` unless all three files can be read.
    """
    before = read_artifact(folder / "baseline.json", ArmReport)
    after = read_artifact(folder / "trained.json", ArmReport)
    head = read_artifact(folder / "significance.json", SignificanceReport)
    if before is None or after is None or head is None:
        return None
    look = number_of(head.look)
    judged = judged_at(head.policy, look)
    return Family(
        head.policy, look, *weigh_arms(arm_of_report(before), arm_of_report(after), judged)
    )


def arm_of_report(report: ArmReport) -> Arm:
    """Return the arm that a ``baseline.json`` or ``trained.json`` describes, as it was measured."""
    samples = report.measured
    ids = tuple(sample.case_id for sample in samples if sample.case_id is not None)
    trials = tuple(sample.trials for sample in samples if sample.trials is not None)
    facts = tuple(sample.facts for sample in samples if sample.facts is not None)
    penalties = tuple(sample.safety_penalty for sample in samples)
    return Arm(
        scores=tuple(sample.score for sample in samples),
        case_ids=ids if len(ids) == len(samples) else None,
        penalties=penalties if any(penalty is not None for penalty in penalties) else None,
        trials=trials if len(trials) == len(samples) else None,
        clusters=tuple(sample.cluster for sample in samples),
        facts=facts if len(facts) == len(samples) else None,
    )


def of_the_run(codes: Sequence[str]) -> list[str]:
    """Return those reason codes, without their prefix, that follow from a run and not from its two arms."""
    plain = [code.removeprefix(PREFIX) for code in codes]
    return [code for code in plain if code.startswith(OF_THE_RUN)]


def rebuilt(family: Family, given: Sequence[str], **labels: Any) -> Comparison:
    """
    Decide again, and return the comparison that the evidence files must have been built from.

    :param given: reason codes of the file. Only those of the run are taken from it, all others are recomputed.
    :param labels: names, ids and dates of the comparison, which cannot be recomputed.
    """
    taken = [(code, "") for code in of_the_run(given)]
    decision = decide(
        GateInput(
            policy=family.policy,
            figures=family.figures,
            look=family.look,
            blockers=(*family.blockers, *(pair for pair in taken if not pair[0].startswith(GATE))),
            further=tuple((c.removeprefix(GATE), "") for c, _ in taken if c.startswith(GATE)),
        )
    )
    unnamed = {
        "run_id": "",
        "candidate_run_id": None,
        "suite": Suite(name="", version=""),
        "generated_at": datetime.fromtimestamp(0, UTC),
        "names": ("", ""),
    }
    return Comparison(
        **{**unnamed, **labels},
        policy=family.policy,
        figures=family.figures,
        decision=decision,
    )
